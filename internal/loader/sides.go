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

// Sides are attempts of one loader at several servers: each goes through its phases by itself, at the same time as the others,
// and is measured in its turns. The first error is that of all.

// maxSides is how many there may be.
const maxSides = 16

// measureSides makes the attempt of each side, and the document of all.
func measureSides(ctx context.Context, in *Input, cfg *result.Config, out *progress.Progress) (*result.Document, error) {
	in.Identity.Trial, in.Identity.Attempt = cfg.Trial, cfg.Attempt
	if err := validateSides(cfg); err != nil {
		return nil, failure.New(result.CauseConfiguration, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	list := cfg.Sides
	doc := &result.Document{
		Version: result.DocumentVersion, Config: *cfg, Sides: make([]result.SideDocument, len(list.Each)),
		Metrics: []result.Metric{}, Checks: []result.Check{},
	}
	turns := alternate.Sides(ctx, len(list.Each), list.Seed, time.Duration(list.SliceMilliseconds)*time.Millisecond)
	var names []string
	for i := range list.Each {
		names = append(names, list.Each[i].Variant)
	}
	progress := out.Sides(names...)
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() {
			one, err := measureSide(ctx, in, cfg, i, turns[i], progress[i])
			if err != nil {
				cancel(fmt.Errorf("variant %s: %w", name, err))
				return
			}
			doc.Sides[i] = result.SideDocument{Variant: name, Document: *one}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	for i := range doc.Sides {
		doc.Totals.Add(&doc.Sides[i].Totals)
		doc.Totals.Micros += doc.Sides[i].Totals.Micros
	}
	return doc, nil
}

// measureSide makes the attempt of a side.
func measureSide(
	ctx context.Context, in *Input, cfg *result.Config, i int, turns *alternate.Side, out *progress.Progress,
) (doc *result.Document, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = failure.Panic(p)
		}
	}()
	own, side := *in, cfg.Side(i)
	text, err := json.Marshal(&side)
	if err != nil {
		return nil, failure.New(result.CauseConfiguration, err)
	}
	own.Config = string(text)
	a, w, err := newAttempt(&own, out)
	if err != nil {
		return nil, failure.New(result.CauseConfiguration, err)
	}
	a.turns, a.sides = turns, len(cfg.Sides.Each)
	return a.measure(ctx, w)
}

// validateSides finds what cannot be measured in sides. What is wrong with one of them is found with it.
func validateSides(cfg *result.Config) error {
	switch s := cfg.Sides; {
	case len(s.Each) < 2 || len(s.Each) > maxSides:
		return fmt.Errorf("sides: there are %d but must be 2 to %d", len(s.Each), maxSides)
	case s.SliceMilliseconds < 1:
		return fmt.Errorf("sliceMilliseconds is %d but must be at least 1", s.SliceMilliseconds)
	case cfg.Pods > 1:
		return errors.New("sides are measured by one Pod")
	}
	return nil
}
