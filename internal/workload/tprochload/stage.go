// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tprochload

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/tproch"
)

// stage makes a file for each table.
type stage struct {
	data *tproch.Data
	dir  string
	// sums are the files' hexadecimal SHA-256.
	sums [tableCount]string
}

func (s *stage) path(t tproch.Table) string {
	return filepath.Join(s.dir, strings.ToLower(t.String())+".tbl")
}

func (s *stage) open(t tproch.Table) (io.ReadCloser, error) {
	file, err := os.Open(s.path(t))
	if err != nil {
		return nil, workload.Refused{Reason: "opening the staged file: " + err.Error()}
	}
	return file, nil
}

// run makes the files.
func (s *stage) run(ctx context.Context) error {
	for _, t := range tproch.Tables() {
		if err := s.write(ctx, t); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return workload.Refused{Reason: fmt.Sprintf("staging %s on the scratch volume: %v", t, err)}
		}
	}
	return nil
}

func (s *stage) write(ctx context.Context, t tproch.Table) (err error) {
	file, err := os.Create(s.path(t))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	if err := copyUntil(ctx, io.MultiWriter(file, sum), s.data.Reader(t, 0, s.data.Units(t))); err != nil {
		return err
	}
	s.sums[t] = hex.EncodeToString(sum.Sum(nil))
	// What is still to be written would be written while the load is measured.
	return file.Sync()
}

// copyUntil copies until the context ends.
func copyUntil(ctx context.Context, dst io.Writer, src io.Reader) error {
	buf := make([]byte, 256<<10)
	for ctx.Err() == nil {
		n, err := src.Read(buf)
		if n > 0 {
			if _, err := dst.Write(buf[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("making rows: %w", err)
		}
	}
	return ctx.Err()
}
