// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// The loader is what runs in a Pod of a trial: it makes one attempt and says what it measured. As a probe it says what
// a database's node and volume are like, and as an observer what the server in its Pod uses. In a privileged Pod it changes and
// restores settings of the node.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/loader"
	"github.com/benchrun-dev/benchrun/internal/loader/datacopy"
	"github.com/benchrun-dev/benchrun/internal/loader/host"
	"github.com/benchrun-dev/benchrun/internal/loader/observer"
	"github.com/benchrun-dev/benchrun/internal/loader/probe"
	"github.com/benchrun-dev/benchrun/internal/loader/process"
	"github.com/benchrun-dev/benchrun/internal/loader/progress"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/version"
)

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		cancel(errors.New("SIGTERM"))
	}()
	if err := rootCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, progress.Indented(err.Error()))
		os.Exit(1)
	}
}

func rootCommand() *cobra.Command {
	root := runCommand("loader")
	root.SilenceUsage, root.SilenceErrors = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(runCommand("run"), probeCommand(), observeCommand(), installCommand(), noopCommand(), versionCommand(),
		hostCommand(), diskCommand(), restoreCommand())
	return root
}

// command is one without arguments, unless its Args say otherwise.
func command(use, short string, run func(cmd *cobra.Command) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd) },
	}
}

func require(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
}

func runCommand(name string) *cobra.Command {
	var terminationLog string
	cmd := command(name, "Make one attempt at a trial, as the environment says", func(cmd *cobra.Command) error {
		if err := process.Contain(); err != nil {
			return err
		}
		in := loader.FromEnvironment(os.Getenv, version.Version())
		in.Output, in.TerminationLog = os.Stdout, terminationLog
		return loader.Run(cmd.Context(), in)
	})
	terminationLogFlag(cmd, &terminationLog)
	return cmd
}

func probeCommand() *cobra.Command {
	var data, terminationLog string
	var await result.HostSettings
	cmd := command("probe", "Say what the node and the data directory are like", func(cmd *cobra.Command) error {
		node := &host.Host{Root: "/", Disk: probe.Disk("/", data)}
		if err := node.Await(cmd.Context(), await); err != nil {
			return fmt.Errorf("waiting until the node is tuned: %w", err)
		}
		return terminateWith(cmd, terminationLog, probe.Read(cmd.Context(), "/", data))
	})
	cmd.Flags().StringVar(&data, "data", "", "the database's data directory")
	hostFlags(cmd, &await) // which it waits for
	terminationLogFlag(cmd, &terminationLog)
	require(cmd, "data")
	return cmd
}

func noopCommand() *cobra.Command {
	var seed, seconds int64
	const short = "Measure the loader itself: a workload, as JSON, against a sink in place of a server"
	cmd := command("noop WORKLOAD", short, func(cmd *cobra.Command) error {
		report, err := loader.Noop(cmd.Context(), cmd.Flags().Arg(0), seed, time.Duration(seconds)*time.Second)
		if err != nil {
			return err
		}
		return json.NewEncoder(cmd.OutOrStdout()).Encode(report)
	})
	cmd.Args = cobra.ExactArgs(1)
	cmd.Flags().Int64Var(&seed, "seed", 42, "the seed of the data")
	cmd.Flags().Int64Var(&seconds, "seconds", 0, "when to stop; 0 is when all rows are sent")
	return cmd
}

func installCommand() *cobra.Command {
	const short = "Copy this program to a file, for a container that has it not"
	cmd := command("install FILE", short, func(cmd *cobra.Command) error {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("finding this program: %w", err)
		}
		program, err := os.ReadFile(self)
		if err != nil {
			return fmt.Errorf("reading this program: %w", err)
		}
		//nolint:gosec // another user executes it
		if err := os.WriteFile(cmd.Flags().Arg(0), program, 0o755); err != nil {
			return fmt.Errorf("copying this program: %w", err)
		}
		return nil
	})
	cmd.Args = cobra.ExactArgs(1)
	return cmd
}

func versionCommand() *cobra.Command {
	return command("version", "Print the version", func(cmd *cobra.Command) error {
		cmd.Println(version.Version())
		return nil
	})
}

// terminate prints the message that a container leaves, and writes it to where the kubelet reads it.
func terminate(cmd *cobra.Command, terminationLog string, message []byte) error {
	cmd.Println(string(message))
	if err := os.WriteFile(terminationLog, message, 0o600); err != nil {
		return fmt.Errorf("writing the termination message: %w", err)
	}
	return nil
}

func terminateWith(cmd *cobra.Command, terminationLog string, report any) error {
	text, err := json.Marshal(report)
	if err != nil {
		return fmt.Errorf("encoding the termination message: %w", err)
	}
	return terminate(cmd, terminationLog, text)
}

func terminationLogFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "termination-log", "/dev/termination-log", "the file for the container's termination message")
}

func observeCommand() *cobra.Command {
	o := &observer.Observer{Proc: "/proc"}
	var server string
	const short = "Say what the server in the same Pod uses, to a client that knows its password"
	cmd := command("observe", short, func(cmd *cobra.Command) error {
		e, err := engine.ByName(server)
		if err != nil {
			return err
		}
		o.Processes, o.Several = e.Image.Processes, e.Image.SeveralProcesses()
		return o.Run(cmd.Context())
	})
	flags := cmd.Flags()
	flags.StringVar(&server, "engine", "", "the engine of the server")
	flags.StringVar(&o.Data, "data", "", "the database's data directory")
	flags.StringVar(&o.Copy, "copy", "", "the folder for a copy of the data, which a client may ask for")
	flags.StringVar(&o.PasswordFile, "password-file", "", "the file with the server's password")
	flags.IntVar(&o.Port, "port", 0, "where to listen")
	require(cmd, "engine", "data", "password-file", "port")
	return cmd
}

func restoreCommand() *cobra.Command {
	var data, from string
	const short = "Fill the data directory with a copy of prepared data, if there is one"
	cmd := command("restore", short, func(cmd *cobra.Command) error {
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
	})
	cmd.Flags().StringVar(&data, "data", "", "the database's data directory")
	cmd.Flags().StringVar(&from, "copy", "", "the folder of the copy")
	require(cmd, "data", "copy")
	return cmd
}

// hostCommand runs in privileged Pods. It leaves a report, also about a value that the node does not take.
func hostCommand() *cobra.Command {
	h := &host.Host{Root: "/"}
	var settings result.HostSettings
	var set bool
	var terminationLog string
	cmd := command("host", "Read or change kernel settings of the node, in a privileged container", func(cmd *cobra.Command) error {
		var report result.HostReport
		var err error
		if report.Settings, err = h.Apply(settings, set); err != nil {
			report.Problem = result.Truncate(err.Error(), 1024)
		}
		return terminateWith(cmd, terminationLog, report)
	})
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

func diskCommand() *cobra.Command {
	var data, terminationLog string
	cmd := command("disk", "Say which disk is below the data directory", func(cmd *cobra.Command) error {
		return terminate(cmd, terminationLog, []byte(probe.Disk("/", data)))
	})
	cmd.Flags().StringVar(&data, "data", "", "the database's data directory")
	terminationLogFlag(cmd, &terminationLog)
	require(cmd, "data")
	return cmd
}
