// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/sleep"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

const (
	// barrierEvery is how often a Pod looks whether the others are there.
	barrierEvery = 50 * time.Millisecond
	// barrierLead is how long before the start all Pods are told when it is.
	barrierLead = 500 * time.Millisecond
	// barrierLate is how late a Pod may learn that: more than that, and they have not started together.
	barrierLate = 100 * time.Millisecond
)

// Meeting is where the Pods of an attempt meet, as often as they must start together: in the table of attempts, on the
// server that all of them load. The first Pod leads: it waits for the others and then says, by the server's clock, when to
// start. Each Pod asks the server how long that is from now, and waits so long by its own monotonic clock: how far their
// clocks differ does not matter.
type Meeting struct {
	db      *sql.DB
	dialect *client.Dialect
	schema  string
	id      result.Identity
	pods    int
	// atMost is how long the others are waited for.
	atMost time.Duration
	// meetings that are behind this Pod.
	meetings int
}

// at is a statement about the row of one Pod of this attempt, or of all; the placeholders of its condition come last.
func (b *Meeting) at(statement, condition string) string {
	return fmt.Sprintf(statement, b.dialect.InSchema(b.schema, attemptsTable)) +
		" WHERE run_uid = ? AND trial = ? AND attempt = ? AND " + condition
}

// args are the arguments of such a statement.
func (b *Meeting) args(before []any, last any) []any {
	return append(before, b.id.RunUID, b.id.Trial, b.id.Attempt, last)
}

// isNotThere says whether the leading Pod's row is missing: it has not made it yet, or has taken the schema away.
func isNotThere(d *client.Dialect, err error) bool {
	return errors.Is(err, sql.ErrNoRows) || d.Errors.NoSuchTable(err)
}

// lead is what the leading Pod's row says.
type lead struct {
	// released is the last meeting that has a start, remaining the time until then when the answer was under way.
	released  int
	remaining time.Duration
	alive     bool
}

func (b *Meeting) leader(ctx context.Context) (lead, error) {
	var l lead
	var micros sql.NullInt64
	var alive sql.NullBool
	// The condition is the last one, so that the lock's name comes first.
	query := b.at("SELECT released, "+b.dialect.Clock.MicrosUntil("release_at")+", connection_id = "+b.dialect.Locks.Holder+
		" FROM %s", "pod_index = ?")
	row := b.db.QueryRowContext(ctx, query, b.args([]any{lockName(b.schema)}, 0)...)
	if err := row.Scan(&l.released, &micros, &alive); err != nil {
		return l, fmt.Errorf("looking for the start: %w", err)
	}
	l.remaining, l.alive = time.Duration(micros.Int64)*time.Microsecond, alive.Bool
	return l, nil
}

// start notes this Pod's next meeting with a statement, and returns when all Pods start, with the moment at which they were to.
func (b *Meeting) start(ctx context.Context, statement string) (time.Time, error) {
	b.meetings++
	if _, err := b.db.ExecContext(ctx, b.at(statement, "pod_index = ?"), b.args([]any{b.meetings}, b.id.Pod)...); err != nil {
		return time.Time{}, fmt.Errorf("meeting the other Pods: %w", err)
	}
	var start time.Time
	_, err := b.poll(ctx, 0, func() (bool, error) {
		sent := time.Now()
		l, err := b.leader(ctx)
		switch {
		case isNotThere(b.dialect, err), err == nil && !l.alive:
			// What became of it, it says itself, or its node does.
			return false, failure.Newf(result.CauseInterrupted, "Pod 0, which leads, has ended")
		case err != nil:
			return false, err
		case l.released < b.meetings:
			return false, nil
		case l.remaining < -barrierLate:
			return false, failure.Newf(result.CauseStartedLate, "Pod %d learned of the start %s late; at most %s is allowed",
				b.id.Pod, -l.remaining, barrierLate)
		}
		// The server read its clock somewhere between question and answer.
		start = sent.Add(time.Since(sent)/2 + l.remaining)
		return true, nil
	})
	if err != nil {
		return time.Time{}, err
	}
	return start, sleep.Until(ctx, start)
}

// poll asks until the answer is yes, which takes atMost; 0 is as long as ctx allows.
func (b *Meeting) poll(ctx context.Context, atMost time.Duration, ask func() (bool, error)) (yes bool, err error) {
	began := time.Now()
	for {
		if yes, err := ask(); yes || err != nil {
			return yes, err
		}
		if atMost > 0 && time.Since(began) > atMost {
			return false, nil
		}
		if err := sleep.For(ctx, barrierEvery); err != nil {
			return false, err
		}
	}
}

// NewMeeting is that of so many Pods, which wait for each other at most so long.
func NewMeeting(db *sql.DB, d *client.Dialect, schema string, id result.Identity, pods int, atMost time.Duration) Meeting {
	return Meeting{db: db, dialect: d, schema: schema, id: id, pods: pods, atMost: atMost}
}

// Follower is one of several Pods at their meetings that is not the first.
type Follower struct{ Meeting }

// Join waits until the leading Pod has taken the schema, and registers this one.
func (b *Follower) Join(ctx context.Context) error {
	arrived, err := b.poll(ctx, b.atMost, func() (bool, error) {
		_, err := b.leader(ctx)
		if isNotThere(b.dialect, err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("waiting for Pod 0: %w", err)
	}
	if !arrived {
		return failure.Newf(result.CauseBarrierTimeout,
			"Pod 0 of the %d loader Pods, which prepares the tables, did not arrive within %s", b.pods, b.atMost)
	}
	return register(ctx, b.db, b.dialect, b.schema, b.id)
}

// Start says that this Pod has arrived, and returns when all start, with the moment.
func (b *Follower) Start(ctx context.Context) (time.Time, error) {
	return b.start(ctx, "UPDATE %s SET arrived = ?")
}

// Deliver hands what this Pod measured to the leading one.
func (b *Follower) Deliver(ctx context.Context, part []byte) error {
	done, err := b.db.ExecContext(ctx, b.at("UPDATE %s SET part = ?", "pod_index = ?"), b.args([]any{part}, b.id.Pod)...)
	if err != nil {
		return fmt.Errorf("delivering what was measured: %w", err)
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return failure.Newf(result.CauseConnectionLost, "delivering what was measured: %d Pods were waiting for it", n)
	}
	return nil
}

// Leader is the first of several Pods at their meetings. It has a Keeper, which has registered it.
type Leader struct{ Meeting }

// Gather waits until every other Pod has arrived at the next meeting.
func (b *Leader) Gather(ctx context.Context) error {
	var missing []string
	all, err := b.poll(ctx, b.atMost, func() (all bool, err error) {
		missing, err = b.missing(ctx, "arrived >= "+strconv.Itoa(b.meetings+1))
		return len(missing) == 0, err
	})
	if err != nil || all {
		return err
	}
	return failure.Newf(result.CauseBarrierTimeout, "%d of the %d loader Pods arrived within %s; missing: Pod %s",
		b.pods-len(missing), b.pods, b.atMost, strings.Join(missing, ", "))
}

// missing are the other Pods for whose rows the condition does not hold, or that have none.
func (b *Leader) missing(ctx context.Context, condition string) (missing []string, err error) {
	query := b.at("SELECT pod_index FROM %s", "pod_index > ? AND "+condition)
	there, err := workload.Column[int](ctx, b.db, query, b.args(nil, 0)...)
	if err != nil {
		return nil, fmt.Errorf("looking for the other Pods: %w", err)
	}
	for pod := 1; pod < b.pods; pod++ {
		if !slices.Contains(there, pod) {
			missing = append(missing, strconv.Itoa(pod))
		}
	}
	return missing, nil
}

// Start tells all Pods when to start, and returns then, with the moment.
func (b *Leader) Start(ctx context.Context) (time.Time, error) {
	return b.start(ctx, "UPDATE %s SET released = ?, release_at = "+b.dialect.Clock.After(barrierLead))
}

// Collect waits for what the other Pods deliver, and returns it in their order. It takes as long as they do: the Job's
// deadline ends it.
func (b *Leader) Collect(ctx context.Context) (parts [][]byte, err error) {
	_, err = b.poll(ctx, 0, func() (bool, error) {
		missing, err := b.missing(ctx, "part IS NOT NULL")
		return len(missing) == 0, err
	})
	for pod := 1; pod < b.pods && err == nil; pod++ {
		var part []byte
		row := b.db.QueryRowContext(ctx, b.at("SELECT part FROM %s", "pod_index = ?"), b.args(nil, pod)...)
		err = row.Scan(&part)
		parts = append(parts, part)
	}
	if err != nil {
		return nil, fmt.Errorf("collecting what the other Pods measured: %w", err)
	}
	return parts, nil
}
