// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"time"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/loader/schema"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// leader is the role of the first of several Pods: it prepares, verifies and writes the document for all, and loads as they do.
type leader struct {
	owner
	meeting schema.Leader
}

func (l *leader) run(ctx context.Context) error {
	if err := l.prepare(ctx); err != nil {
		return err
	}
	x := l.load.extras(l)
	return l.through(ctx, x.stage, []phase{{"gather", l.meeting.Gather}, {"quiesce", l.quiesce}}, x.warmUp,
		[]phase{measuring(l.load, l), {"collect", l.collect}}, x.after, []phase{{"verify", l.verify}}, x.cleanUp)
}

// together implements window: no Pod goes on before all are done.
func (l *leader) together(ctx context.Context, do func(context.Context) error) error {
	if _, err := l.meeting.Start(ctx); err != nil {
		return err
	}
	if err := do(ctx); err != nil {
		return err
	}
	return l.meeting.Gather(ctx)
}

func (l *leader) begin(ctx context.Context) (time.Time, error) {
	if err := l.countBefore(ctx); err != nil {
		return time.Time{}, err
	}
	return l.meeting.Start(ctx)
}

// end implements window: the other Pods may still be loading, so that the counters are read in collect.
func (*leader) end(context.Context) error { return nil }

func (l *leader) collect(ctx context.Context) error {
	encoded, err := l.meeting.Collect(ctx)
	if err != nil {
		return err
	}
	if err := l.countAfter(ctx); err != nil {
		return err
	}
	own, err := l.load.part()
	if err != nil {
		return err
	}
	l.pods = []result.PodFacts{own.Facts}
	var others []*record.Part
	for i, data := range encoded {
		p, err := record.Decode(data, l.identity.Loader)
		if err != nil {
			return failure.New(result.CauseInternal, err)
		}
		if p.Facts.Pod != i+1 {
			return failure.Newf(result.CauseInternal, "pod %d delivered its measurements as Pod %d", p.Facts.Pod, i+1)
		}
		others = append(others, p)
		l.pods = append(l.pods, p.Facts)
	}
	l.client = result.ClientFacts{} // the sum of all Pods, of their limits too
	for _, p := range l.pods {
		l.client.Consumed(&p.Client)
		l.client.CPULimitMillis += p.Client.CPULimitMillis
		l.client.CPUs = max(l.client.CPUs, p.Client.CPUs)
	}
	return l.load.merge(others)
}

// follower is the role of a Pod that only loads: the first one prepares, verifies and writes the document.
type follower struct {
	*attempt
	load    load
	meeting schema.Follower
}

func (f *follower) run(ctx context.Context) error {
	x := f.load.extras(f)
	return f.through(ctx, []phase{{"connect", f.connect}}, x.share, x.warmUp, []phase{measuring(f.load, f), {"deliver", f.deliver}})
}

func (f *follower) connect(ctx context.Context) error {
	if err := f.wait(ctx); err != nil {
		return err
	}
	return f.meeting.Join(ctx)
}

func (f *follower) together(ctx context.Context, do func(context.Context) error) error {
	if _, err := f.meeting.Start(ctx); err != nil {
		return err
	}
	return do(ctx)
}

func (f *follower) begin(ctx context.Context) (time.Time, error) { return f.meeting.Start(ctx) }

// end implements window: the first Pod reads the counters.
func (*follower) end(context.Context) error { return nil }

func (f *follower) deliver(ctx context.Context) error {
	p, err := f.load.part()
	if err != nil {
		return err
	}
	encoded, err := p.Encode()
	if err != nil {
		return err
	}
	return f.meeting.Deliver(ctx, encoded)
}

// release implements role: the first Pod holds the schema.
func (*follower) release() []finding.Finding { return nil }

func (*follower) document() (*result.Document, error) { return nil, nil }
