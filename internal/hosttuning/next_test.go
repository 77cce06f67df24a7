// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttuning

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
)

var (
	now    = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	one    = result.HostSettings{Swappiness: "1"}
	sixty  = result.HostSettings{Swappiness: "60"}
	needed = Observed{Needed: true}
)

// record of node a, with changes.
func record(changes ...func(*Record)) *Record {
	r := &Record{Version: recordVersion, Node: "a", Requested: one}
	for _, change := range changes {
		change(r)
	}
	return r
}

func read(r *Record)     { r.Before = &sixty }
func set(r *Record)      { r.Before, r.After = &sixty, &one }
func release(r *Record)  { r.Release = true }
func failed(r *Record)   { r.Failed = "refused" }
func restored(r *Record) { r.Restored, r.Tried = true, now }

func jobs(list map[Step]Outcome) func(Step) Outcome {
	return func(step Step) Outcome { return list[step] }
}

func ended(s result.HostSettings) Outcome {
	return Outcome{Exists: true, Ended: true, Report: &result.HostReport{Settings: s}}
}

// Nothing is changed before it is known what to restore, nothing is restored while something may still change it, and a node is
// forgotten only when it is restored or gone.
func TestNext(t *testing.T) {
	running := Outcome{Exists: true}
	broken := Outcome{Exists: true, Ended: true, Failure: "no Pod"}
	refused := Outcome{Exists: true, Ended: true, Report: &result.HostReport{Problem: "requested 1, effective 2"}}
	write := func(r *Record) Decision { return Decision{Write: r} }
	soon := Decision{After: time.Second}
	for name, tc := range map[string]struct {
		record *Record
		seen   Observed
		jobs   map[Step]Outcome
		want   Decision
	}{
		"new":               {record(), needed, nil, Decision{Start: StepRead}},
		"reading":           {record(), needed, map[Step]Outcome{StepRead: running}, soon},
		"read":              {record(), needed, map[Step]Outcome{StepRead: ended(sixty)}, write(record(read))},
		"cannot be read":    {record(), needed, map[Step]Outcome{StepRead: broken}, write(record(func(r *Record) { r.Failed = "the Job that should do it failed: no Pod" }))},
		"before is written": {record(read), needed, map[Step]Outcome{StepRead: ended(sixty)}, Decision{Start: StepSet}},
		"setting":           {record(read), needed, map[Step]Outcome{StepSet: running}, soon},
		"set":               {record(read), needed, map[Step]Outcome{StepSet: ended(one)}, write(record(set))},
		"not effective": {record(read), needed, map[Step]Outcome{StepSet: refused}, write(record(read, func(r *Record) {
			r.Failed, r.NotEffective = "requested 1, effective 2", true
		}))},
		"tuned":  {record(set), needed, nil, Decision{}},
		"failed": {record(read, failed), needed, nil, Decision{}},
		"drop":   {record(set, func(r *Record) { r.Drop = "t1" }), needed, nil, Decision{Start: StepDrop}},
		"drop again": {
			record(set, func(r *Record) { r.Drop, r.Dropped = "t2", "t1" }), needed,
			map[Step]Outcome{StepDrop: ended(one)},
			write(record(set, func(r *Record) { r.Drop, r.Dropped = "t2", "t2" })),
		},
		"dropped": {record(set, func(r *Record) { r.Drop, r.Dropped = "t1", "t1" }), needed, nil, Decision{}},

		"gone before it was read": {
			record(), Observed{Gone: true}, map[Step]Outcome{StepRead: running}, write(record(release, restored)),
		},
		"gone before it was set": {record(read), Observed{Gone: true}, nil, write(record(read, release))},
		"gone while it is set":   {record(read, release), Observed{Gone: true}, map[Step]Outcome{StepSet: running}, soon},
		"not needed":             {record(set), Observed{}, nil, write(record(set, release))},
		"released":               {record(set, release), needed, nil, Decision{Start: StepRestore}},
		"failed, released":       {record(read, failed, release), needed, nil, Decision{Start: StepRestore}},
		"restoring":              {record(set, release), needed, map[Step]Outcome{StepRestore: running}, soon},
		"restored":               {record(set, release), needed, map[Step]Outcome{StepRestore: ended(sixty)}, write(record(set, release, restored))},
		"not restored": {record(set, release), needed, map[Step]Outcome{StepRestore: broken}, write(record(set, release, func(r *Record) {
			r.Attempts, r.Unrestored, r.Tried = 1, "the Job that should do it failed: no Pod", now
		}))},
		"restored to something else": {record(set, release), needed, map[Step]Outcome{StepRestore: ended(one)}, write(record(set, release, func(r *Record) {
			r.Attempts, r.Tried = 1, now
			r.Unrestored = "read back {Swappiness:1 IOScheduler: TransparentHugePages:}, not {Swappiness:60 IOScheduler: TransparentHugePages:}"
		}))},
		"too early for another try": {
			record(set, release, func(r *Record) { r.Attempts, r.Tried = 2, now.Add(-4*time.Second) }), needed, nil, Decision{After: 6 * time.Second},
		},
		"another try": {
			record(set, release, func(r *Record) { r.Attempts, r.Tried = 2, now.Add(-10*time.Second) }), needed, nil, Decision{Start: StepRestore},
		},
		"hours later": {
			record(set, release, func(r *Record) { r.Attempts, r.Tried = 99, now.Add(-4*time.Minute) }), needed, nil, Decision{After: time.Minute},
		},
		"the cache alone": {
			record(set, func(r *Record) { r.Requested = result.HostSettings{} }),
			Observed{},
			nil,
			write(record(set, release, restored, func(r *Record) { r.Requested = result.HostSettings{} })),
		},
		"the node is gone": {
			record(set, release),
			Observed{NodeGone: true},
			nil,
			write(record(set, release, func(r *Record) { r.Gone, r.Tried, r.Unrestored = true, now, "node a no longer exists" })),
		},
		"the node came back":      {record(set, release, func(r *Record) { r.Gone = true }), needed, nil, Decision{Start: StepRestore}},
		"the run takes note":      {record(set, release, restored), needed, nil, Decision{After: 5 * time.Minute}},
		"the run takes no note":   {record(set, release, func(r *Record) { r.Restored, r.Tried = true, now.Add(-5*time.Minute) }), needed, nil, Decision{Forget: true}},
		"nobody is there to note": {record(set, release, restored), Observed{Gone: true}, nil, Decision{Forget: true}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.seen.Job = jobs(tc.jobs)
			if diff := cmp.Diff(tc.want, Next(tc.record, tc.seen, now)); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

// A node counts as not restored after three attempts, or when it is gone; never when it is restored.
func TestSettled(t *testing.T) {
	for name, tc := range map[string]struct {
		record                      *Record
		tuned, settled, notRestored bool
	}{
		"new":              {record(read), false, false, false},
		"tuned":            {record(set), true, false, false},
		"being restored":   {record(set, release), false, false, false},
		"two attempts":     {record(set, release, func(r *Record) { r.Attempts = 2 }), false, false, false},
		"three attempts":   {record(set, release, func(r *Record) { r.Attempts = 3 }), false, true, true},
		"restored at last": {record(set, release, restored, func(r *Record) { r.Attempts = 9 }), false, true, false},
		"gone":             {record(set, release, func(r *Record) { r.Gone = true }), false, true, true},
		"failed":           {record(set, failed), false, false, false},
	} {
		if r := tc.record; r.Tuned() != tc.tuned || r.Settled() != tc.settled || r.NotRestored() != tc.notRestored {
			t.Errorf("%s: tuned %t, settled %t, not restored %t", name, r.Tuned(), r.Settled(), r.NotRestored())
		}
	}
}
