// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command deadtime reads a run's results.json and says how much time passed between trials: from the end that one loader
// stamped to the start that the next one stamped. The clocks are those of the loaders' nodes: on kind, one machine's.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "deadtime:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	var results struct {
		Attempts []*result.Record `json:"attempts"`
	}
	if err := json.NewDecoder(in).Decode(&results); err != nil {
		return fmt.Errorf("reading results.json: %w", err)
	}
	if len(results.Attempts) < 2 {
		return errors.New("there is nothing between fewer than two trials")
	}
	var dead []time.Duration
	for i, next := range results.Attempts[1:] {
		last := results.Attempts[i]
		if last.Summary == nil || next.Summary == nil {
			continue
		}
		dead = append(dead, next.Summary.Identity.Started.Sub(last.Summary.Identity.Ended))
	}
	slices.Sort(dead)
	_, err := fmt.Fprintf(out, "dead time between %d trials: median %.2f s (%.2f–%.2f s)\n",
		len(results.Attempts), median(dead).Seconds(), dead[0].Seconds(), dead[len(dead)-1].Seconds())
	return err
}

// median of sorted durations; the lower of two in the middle.
func median(sorted []time.Duration) time.Duration { return sorted[(len(sorted)-1)/2] }
