// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/alternate"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/progress"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Sides are attempts of one loader at several servers: each goes through its phases by itself, at the same time as the others, and
// is measured in its turns. The first error is that of all.

// measureSides makes the attempt of each side, and the document of all.
func measureSides(ctx context.Context, in *Input, cfg *result.Config, out *progress.Progress) (*result.Document, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	list := cfg.Sides
	doc := &result.Document{Version: result.DocumentVersion, Config: *cfg, Sides: make([]result.SideDocument, len(list.Each))}
	turns := alternate.Sides(ctx, len(list.Each), list.Seed, time.Duration(list.SliceMilliseconds)*time.Millisecond)
	var all sync.WaitGroup
	for i := range list.Each {
		all.Go(func() {
			one, err := measureSide(ctx, in, cfg, i, turns[i], out)
			if err != nil {
				cancel(fmt.Errorf("variant %s: %w", list.Each[i].Variant, err))
				return
			}
			doc.Sides[i] = result.SideDocument{Variant: list.Each[i].Variant, Document: *one}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return doc, nil
}

// measureSide makes the attempt of a side.
func measureSide(
	ctx context.Context, in *Input, cfg *result.Config, i int, turns turnTaker, out *progress.Progress,
) (doc *result.Document, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = failure.Panic(p)
		}
	}()
	text, err := json.Marshal(cfg.Side(i))
	if err != nil {
		return nil, fmt.Errorf("encoding a side's configuration: %w", err)
	}
	own := *in
	own.Config = string(text)
	return attemptOf(ctx, &own, turns, out)
}

// checkSides finds what cannot be measured in sides.
func checkSides(cfg *result.Config) error {
	switch s := cfg.Sides; {
	case len(s.Each) < 2:
		return errors.New("sides: at least 2 take turns")
	case s.SliceMilliseconds < 1:
		return fmt.Errorf("sliceMilliseconds is %d but must be at least 1", s.SliceMilliseconds)
	case cfg.Pods > 1 || cfg.Turns != nil:
		return errors.New("sides are measured by one Pod")
	}
	return nil
}
