// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tprochload

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/tproch"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// bulk is a server that takes all files, and the recorders of several clients.
type bulk struct {
	workloadtest.Silence
	mu sync.Mutex
	// begun and loaded are the tables in the order of their first statement and of the end of their last.
	begun, loaded []string
	text          map[string]string
	// missing has tables that were begun before one that they refer to was loaded.
	missing []string
	refuse  string
	clock   time.Duration
	sent    int64
}

func (b *bulk) Load(clause string, data io.Reader) (int64, int64, error) {
	table := strings.Fields(clause)[2]
	b.mu.Lock()
	b.begun = append(b.begun, table)
	for _, t := range tproch.Tables() {
		for _, parent := range t.Parents() {
			if t.String() == table && !slices.Contains(b.loaded, parent.String()) {
				b.missing = append(b.missing, table+" before "+parent.String())
			}
		}
	}
	b.mu.Unlock()
	text, err := io.ReadAll(data)
	if err != nil {
		return 0, 0, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if table == b.refuse {
		return 0, 0, errors.New("refused")
	}
	b.loaded = append(b.loaded, table)
	b.text[table] += string(text)
	return int64(strings.Count(string(text), "\n")), 0, nil
}

func (b *bulk) Now() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock += time.Millisecond
	return b.clock
}

func (b *bulk) Sent(_ time.Duration, rows, _ int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent += rows
}

// measure lets so many clients load. The first error ends the others, as the loader has it.
func (b *bulk) measure(t *testing.T, w workload.Workload, clients int) error {
	t.Helper()
	b.text = map[string]string{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	errs := make(chan error, clients)
	var working sync.WaitGroup
	for i := range clients {
		working.Go(func() {
			if _, err := w.Measure(ctx, &workload.Client{Index: i, Session: b, Recorder: b}); err != nil {
				errs <- err
				cancel()
			}
		})
	}
	working.Wait()
	close(errs)
	return <-errs
}

func names(tables []tproch.Table) []string {
	var all []string
	for _, t := range tables {
		all = append(all, t.String())
	}
	return all
}
