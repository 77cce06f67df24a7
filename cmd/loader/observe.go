// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/loader/datacopy"
	"github.com/benchrun-dev/benchrun/internal/loader/host"
	"github.com/benchrun-dev/benchrun/internal/loader/observer"
	"github.com/benchrun-dev/benchrun/internal/loader/probe"
	"github.com/benchrun-dev/benchrun/internal/result"
)

func observeCommand() *cobra.Command {
	o := &observer.Observer{Proc: "/proc"}
	var server string
	cmd := &cobra.Command{
		Use:   "observe",
		Short: "Say what the server in the same Pod uses, to a client that knows its password",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := engine.ByName(server)
			if err != nil {
				return err
			}
			o.Processes = e.Image.Processes
			return o.Run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&server, "engine", "", "the engine of the server")
	flags.StringVar(&o.Data, "data", "", "the database's data directory")
	flags.StringVar(&o.Copy, "copy", "", "the folder for a copy of the data, which a client may ask for")
	flags.StringVar(&o.PasswordFile, "password-file", "", "the file with the server's password")
	flags.IntVar(&o.Port, "port", 0, "where to listen")
	for _, name := range []string{"engine", "data", "password-file", "port"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return cmd
}

// restoreCommand has a server begin with a copy of prepared data.
func restoreCommand() *cobra.Command {
	var data, from string
	cmd := &cobra.Command{
		Use:   "restore",
		Short: "Fill the data directory with a copy of prepared data, if there is one",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			copied, found, err := datacopy.Restore(cmd.Context(), from, data)
			switch {
			case err != nil:
				return fmt.Errorf("beginning with the copy of the data: %w", err)
			case !found:
				cmd.Println("there is no copy yet")
			default:
				cmd.Printf("%d bytes in %s\n", copied.Bytes, (time.Duration(copied.Micros) * time.Microsecond).Round(time.Millisecond))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&data, "data", "", "the database's data directory")
	cmd.Flags().StringVar(&from, "copy", "", "the folder of the copy")
	for _, name := range []string{"data", "copy"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return cmd
}

// hostCommand runs in privileged Pods. It leaves a report, also about a value that the node does not take.
func hostCommand() *cobra.Command {
	h := &host.Host{Root: "/"}
	var (
		settings       result.HostSettings
		set            bool
		terminationLog string
	)
	cmd := &cobra.Command{
		Use: "host", Short: "Read or change kernel settings of the node, in a privileged container", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var report result.HostReport
			var err error
			if report.Settings, err = h.Apply(settings, set); err != nil {
				report.Problem = result.Truncate(err.Error(), 1024)
			}
			text, err := json.Marshal(report)
			if err != nil {
				return fmt.Errorf("encoding the report about the node: %w", err)
			}
			return terminate(cmd, terminationLog, text)
		},
	}
	hostFlags(cmd, &settings)
	cmd.Flags().BoolVar(&set, "set", false, "change the settings, and read them back; otherwise those with any value are read")
	cmd.Flags().StringVar(&h.Disk, "disk", "", "the disk whose I/O scheduler is meant, as in /sys/block")
	terminationLogFlag(cmd, &terminationLog)
	return cmd
}

func hostFlags(cmd *cobra.Command, s *result.HostSettings) {
	flags := cmd.Flags()
	flags.StringVar(&s.Swappiness, "swappiness", "", "vm.swappiness")
	flags.StringVar(&s.IOScheduler, "io-scheduler", "", "the I/O scheduler of the disk")
	flags.StringVar(&s.TransparentHugePages, "transparent-huge-pages", "", "transparent_hugepage/enabled")
}

// diskCommand says which disk is below the data, for those that change its settings.
func diskCommand() *cobra.Command {
	var data, terminationLog string
	cmd := &cobra.Command{
		Use:   "disk",
		Short: "Say which disk is below the data directory",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return terminate(cmd, terminationLog, []byte(probe.Disk("/", data)))
		},
	}
	cmd.Flags().StringVar(&data, "data", "", "the database's data directory")
	terminationLogFlag(cmd, &terminationLog)
	if err := cmd.MarkFlagRequired("data"); err != nil {
		panic(err)
	}
	return cmd
}
