// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/benchrun-dev/benchrun/internal/loader/host"
	"github.com/benchrun-dev/benchrun/internal/loader/probe"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// hostCommand has the subcommands that run in privileged Pods. Each leaves a report, also about a value that the node does not
// take.
func hostCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "host", Short: "Read or change kernel settings of the node, in a privileged container", Args: cobra.NoArgs,
	}
	cmd.AddCommand(
		hostStep("read", "Read the settings that are named by any value", (*host.Host).Read),
		hostStep("set", "Change settings, and read them back", (*host.Host).Set),
		hostStep("drop-page-cache", "Write dirty pages back, and drop the page cache",
			func(h *host.Host, _ result.HostSettings) (result.HostSettings, error) {
				return result.HostSettings{}, h.DropPageCache()
			}),
	)
	return cmd
}

func hostStep(name, short string, do func(*host.Host, result.HostSettings) (result.HostSettings, error)) *cobra.Command {
	h := &host.Host{Root: "/"}
	var (
		requested      result.HostSettings
		terminationLog string
	)
	cmd := &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var report result.HostReport
			var err error
			if report.Settings, err = do(h, requested); err != nil {
				report.Problem = err.Error()
			}
			text, err := result.EncodeHostReport(report)
			if err != nil {
				return err
			}
			cmd.Println(string(text))
			if err := os.WriteFile(terminationLog, text, 0o600); err != nil {
				return fmt.Errorf("writing the report about the node: %w", err)
			}
			return nil
		},
	}
	hostFlags(cmd, &requested)
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
			disk := probe.Disk("/", data)
			cmd.Println(disk)
			if err := os.WriteFile(terminationLog, []byte(disk), 0o600); err != nil {
				return fmt.Errorf("writing the name of the disk: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&data, "data", "", "the database's data directory")
	terminationLogFlag(cmd, &terminationLog)
	if err := cmd.MarkFlagRequired("data"); err != nil {
		panic(err)
	}
	return cmd
}
