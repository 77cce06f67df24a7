// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package schema holds the workload's schema on the server for one attempt: by a lock, so that no other attempt uses it; by a row
// for each Pod, so that none starts twice and several can meet; and it removes what was made on a server that is not the run's.
package schema

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/sleep"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// Keeper holds the workload's schema for one attempt, by a lock of the server that goes with its connection. The holder of the
// lock is the only one to use the schema, whatever became of the Pods and nodes of others.
type Keeper struct {
	holding
	id result.Identity
	// borrowed is the schema of a server that is not the run's.
	borrowed bool
	// created: this process made the schema, which may not be noted in it yet. used: it may hold what Benchrun has made. dropped: a
	// program has dropped it, with what Benchrun had noted, and it was made again.
	created, used, dropped bool
}

// Acquire takes the server's schema for this attempt, within the given time, and makes it if it is not there. An earlier attempt
// of the same run that still holds it, because its node is cut off, is thrown out; another run is waited for. A schema that
// holds what is not Benchrun's is left alone. With an error, a keeper that is not nil is for Remove alone: something was made
// before the error.
func Acquire(
	ctx context.Context, db *sql.DB, d *client.Dialect, server *result.Server, id result.Identity, atMost time.Duration,
) (*Keeper, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	k := &Keeper{holding: holding{conn: conn, dialect: d, schema: server.Schema}, id: id, borrowed: server.Borrowed}
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return k.exec(ctx, d.Sessions.MayIdle) },
		func(ctx context.Context) error { return k.lock(ctx, atMost) },
		k.expel,
		k.adopt,
		k.register,
	} {
		if err := step(ctx); err != nil {
			k.Close()
			if !k.used {
				k = nil
			}
			return k, err
		}
	}
	return k, nil
}

func lockName(schema string) string { return "benchrun." + schema }

func (k *Keeper) lock(ctx context.Context, atMost time.Duration) error {
	deadline := time.Now().Add(atMost)
	for {
		if taken, err := k.take(ctx, time.Second); taken || err != nil {
			return err
		}
		if err := k.throwOutPredecessor(ctx); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return failure.Newf(result.CauseSchemaTaken, "the schema %s has been in use by another run for %s: "+
				"wait for that run, or name another schema", k.schema, atMost)
		}
	}
}

// take the schema's lock, which another session has for longer than that if the answer is false.
func (h *holding) take(ctx context.Context, within time.Duration) (bool, error) {
	const every = 20 * time.Millisecond
	for deadline := time.Now().Add(within); ; {
		var taken sql.NullBool
		if err := h.conn.QueryRowContext(ctx, h.dialect.Locks.Take, lockName(h.schema)).Scan(&taken); err != nil {
			return false, fmt.Errorf("locking the schema %s: %w", h.schema, err)
		}
		if taken.Bool || time.Now().After(deadline) {
			return taken.Bool, nil
		}
		if err := sleep.For(ctx, every); err != nil {
			return false, err
		}
	}
}

// throwOutPredecessor ends the connection that holds the lock, if it is that of an attempt of this run which the operator
// has given up: otherwise this one would not have been started.
func (k *Keeper) throwOutPredecessor(ctx context.Context) error {
	//nolint:gosec // names and expressions of our own
	query := "SELECT connection_id, trial, attempt, pod_uid FROM " + k.inSchema(attemptsTable) +
		" WHERE run_uid = ? AND connection_id = " + k.dialect.Locks.Holder
	var connection int64
	var trial, attempt int
	var pod string
	row := k.conn.QueryRowContext(ctx, query, k.id.RunUID, lockName(k.schema))
	if err := row.Scan(&connection, &trial, &attempt, &pod); err != nil {
		// No such row, or not even such a table yet: the lock is another owner's, who is waited for. A connection that is broken
		// shows at the next try to get the lock.
		return ctx.Err()
	}
	if trial == k.id.Trial && attempt >= k.id.Attempt {
		return startedTwice(trial, attempt, pod)
	}
	return k.kill(ctx, connection)
}

func startedTwice(trial, attempt int, pod string) error {
	return failure.Newf(result.CauseStartedTwice, "trial %d, attempt %d was started before, by the Pod with UID %s",
		trial, attempt, pod)
}

// expel ends what else of this user is connected to the schema: sessions of an attempt that was cut off, whose open
// transactions would hold their tables for hours.
func (k *Keeper) expel(ctx context.Context) error {
	sessions, err := workload.Column[int64](ctx, k.conn, k.dialect.Sessions.Others, k.schema)
	if err != nil {
		return fmt.Errorf("looking for sessions of earlier attempts: %w", err)
	}
	for _, id := range sessions {
		if err := k.kill(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (k *Keeper) kill(ctx context.Context, connection int64) error {
	_, err := k.conn.ExecContext(ctx, k.dialect.Sessions.End(connection))
	if err != nil && !k.dialect.Errors.NoSuchSession(err) {
		return fmt.Errorf("ending the session of an earlier attempt: %w", err)
	}
	return nil
}

// Close gives the schema back: with its connection goes the lock.
func (k *Keeper) Close() {
	// The pool closes a connection that is said to be bad.
	_ = k.conn.Raw(func(any) error { return driver.ErrBadConn })
}

// Schema is its name.
func (k *Keeper) Schema() string { return k.schema }

// Dropped says whether a program has dropped the schema, or Benchrun's tables in it. It was made again. A keeper that is nil, of
// a Pod that follows, does not know.
func (k *Keeper) Dropped() bool { return k != nil && k.dropped }

// Holds is an error unless the schema was this attempt's all the time.
func (k *Keeper) Holds(ctx context.Context) error {
	var held sql.NullBool
	query := "SELECT " + k.dialect.Locks.Holder + " = " + k.dialect.Sessions.Own
	if err := k.conn.QueryRowContext(ctx, query, lockName(k.schema)).Scan(&held); err != nil {
		return failure.Newf(result.CauseConnectionLost, "checking that this attempt still holds the lock of the schema: %w", err)
	}
	if !held.Bool {
		return failure.Newf(result.CauseConnectionLost, "the lock of the schema %s was lost", k.schema)
	}
	return nil
}
