// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/result"
)

const (
	// barrierEvery is how often a Pod looks whether the others are there.
	barrierEvery = 50 * time.Millisecond
	// barrierLead is how long before the start all Pods are told when it is.
	barrierLead = 500 * time.Millisecond
	// barrierLate is how late a Pod may learn that: more than that, and they have not started together.
	barrierLate = 100 * time.Millisecond
)

// barrier is where the Pods of an attempt meet, as often as they must start together: in the table of attempts, on the
// server that all of them load. The first Pod leads: it waits for the others and then says, by the server's clock, when to
// start. Each Pod asks the server how long that is from now, and waits so long by its own monotonic clock: how far their
// clocks differ does not matter. An only Pod has none.
type barrier struct {
	db     *sql.DB
	schema string
	id     result.Identity
	pods   int
	// atMost is how long the others are waited for.
	atMost time.Duration
	// meetings that are behind this Pod.
	meetings int
}

func (b *barrier) leads() bool { return b.id.Pod == 0 }

// at is a statement about the row of one Pod of this attempt, or of all; the placeholders of its condition come last.
func (b *barrier) at(statement, condition string) string {
	return fmt.Sprintf(statement, "`"+b.schema+"`."+attemptsTable) +
		" WHERE run_uid = ? AND trial = ? AND attempt = ? AND " + condition
}

// args are the arguments of such a statement.
func (b *barrier) args(before []any, last any) []any {
	return append(before, b.id.RunUID, b.id.Trial, b.id.Attempt, last)
}

// join waits until the leading Pod has taken the schema, and registers this one.
func (b *barrier) join(ctx context.Context) error {
	arrived, err := b.poll(ctx, b.atMost, func() (bool, error) {
		_, err := b.leader(ctx)
		if isNotThere(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("waiting for Pod 0: %w", err)
	}
	if !arrived {
		return failedf(result.CauseBarrierTimeout, "Pod 0 of the %d loader Pods, which prepares, was not there within %s",
			b.pods, b.atMost)
	}
	return register(ctx, b.db, b.schema, b.id, false)
}

// isNotThere says whether the leading Pod's row is missing: it has not made it yet, or has taken the schema away.
func isNotThere(err error) bool {
	const noSuchSchema, noSuchTable = 1049, 1146
	server, ok := errors.AsType[*mysql.MySQLError](err)
	return errors.Is(err, sql.ErrNoRows) || ok && (server.Number == noSuchSchema || server.Number == noSuchTable)
}

// lead is what the leading Pod's row says.
type lead struct {
	// released is the last meeting that has a start, remaining the time until then when the answer was under way.
	released  int
	remaining time.Duration
	// alive says whether the Pod still holds the schema.
	alive bool
}

func (b *barrier) leader(ctx context.Context) (lead, error) {
	var l lead
	var micros sql.NullInt64
	var alive sql.NullBool
	// The condition is the last one, so that the lock's name comes first.
	query := b.at("SELECT released, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), release_at), connection_id = IS_USED_LOCK(?)"+
		" FROM %s", "pod_index = ?")
	row := b.db.QueryRowContext(ctx, query, b.args([]any{lockName(b.schema)}, 0)...)
	if err := row.Scan(&l.released, &micros, &alive); err != nil {
		return l, fmt.Errorf("looking for the start: %w", err)
	}
	l.remaining, l.alive = time.Duration(micros.Int64)*time.Microsecond, alive.Bool
	return l, nil
}

// gather waits until every other Pod has arrived at the next meeting. Only the leading Pod does.
func (b *barrier) gather(ctx context.Context) error {
	var missing []string
	all, err := b.poll(ctx, b.atMost, func() (bool, error) {
		var err error
		missing, err = b.missing(ctx, "arrived >= "+strconv.Itoa(b.meetings+1))
		return len(missing) == 0, err
	})
	if err != nil || all {
		return err
	}
	return failedf(result.CauseBarrierTimeout, "%d of the %d loader Pods were there within %s, missing: Pod %s",
		b.pods-len(missing), b.pods, b.atMost, strings.Join(missing, ", "))
}

// missing are the other Pods for whose rows the condition does not hold, or that have none.
func (b *barrier) missing(ctx context.Context, condition string) (missing []string, err error) {
	query := b.at("SELECT pod_index FROM %s", "pod_index > ? AND "+condition)
	rows, err := b.db.QueryContext(ctx, query, b.args(nil, 0)...)
	if err != nil {
		return nil, fmt.Errorf("looking for the other Pods: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	there := make([]bool, b.pods)
	for rows.Next() {
		var pod int
		if err := rows.Scan(&pod); err != nil {
			return nil, fmt.Errorf("looking for the other Pods: %w", err)
		}
		if pod < b.pods {
			there[pod] = true
		}
	}
	for pod := 1; pod < b.pods; pod++ {
		if !there[pod] {
			missing = append(missing, strconv.Itoa(pod))
		}
	}
	return missing, rows.Err()
}

// start returns when all Pods start, with the moment at which they were to.
func (b *barrier) start(ctx context.Context) (time.Time, error) {
	b.meetings++
	statement, condition := "UPDATE %s SET arrived = ?", "pod_index = ?"
	if b.leads() {
		statement = fmt.Sprintf("UPDATE %%s SET released = ?, release_at = UTC_TIMESTAMP(6) + INTERVAL %d MICROSECOND",
			barrierLead.Microseconds())
	}
	if _, err := b.db.ExecContext(ctx, b.at(statement, condition), b.args([]any{b.meetings}, b.id.Pod)...); err != nil {
		return time.Time{}, fmt.Errorf("meeting the other Pods: %w", err)
	}
	var moment time.Time
	_, err := b.poll(ctx, 0, func() (bool, error) {
		asked := time.Now()
		l, err := b.leader(ctx)
		switch {
		case isNotThere(err), err == nil && !l.alive:
			// What became of it, it says itself, or its node does.
			return false, failedf(result.CauseInterrupted, "Pod 0, which leads, has ended")
		case err != nil:
			return false, err
		case l.released < b.meetings:
			return false, nil
		case l.remaining < -barrierLate:
			return false, failedf(result.CauseStartedLate, "Pod %d learned of the start %s after it, %s are allowed",
				b.id.Pod, -l.remaining, barrierLate)
		}
		// The server read its clock somewhere between question and answer.
		moment = asked.Add(time.Since(asked)/2 + l.remaining)
		return true, nil
	})
	if err != nil {
		return time.Time{}, err
	}
	return moment, pause(ctx, time.Until(moment))
}

// poll asks until the answer is yes, which takes atMost; 0 is as long as ctx allows.
func (b *barrier) poll(ctx context.Context, atMost time.Duration, ask func() (bool, error)) (yes bool, err error) {
	began := time.Now()
	for {
		if yes, err := ask(); yes || err != nil {
			return yes, err
		}
		if atMost > 0 && time.Since(began) > atMost {
			return false, nil
		}
		if err := pause(ctx, barrierEvery); err != nil {
			return false, err
		}
	}
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// deliver hands what this Pod measured to the leading one.
func (b *barrier) deliver(ctx context.Context, part []byte) error {
	done, err := b.db.ExecContext(ctx, b.at("UPDATE %s SET part = ?", "pod_index = ?"), b.args([]any{part}, b.id.Pod)...)
	if err != nil {
		return fmt.Errorf("delivering what was measured: %w", err)
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return failedf(result.CauseConnectionLost, "delivering what was measured: %d Pods were waiting for it", n)
	}
	return nil
}

// collect waits for what the other Pods deliver, and returns it in their order. It takes as long as they do: the Job's
// deadline ends it.
func (b *barrier) collect(ctx context.Context) (parts [][]byte, err error) {
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
