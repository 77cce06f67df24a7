// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/loader/observer"
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
