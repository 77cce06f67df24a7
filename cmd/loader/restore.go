// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchrun-dev/benchrun/internal/loader/datacopy"
)

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
