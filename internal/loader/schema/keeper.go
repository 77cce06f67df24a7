// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package schema holds the workload's schema on the server for one attempt: by a lock, so that no other attempt uses it; by a row
// for each Pod, so that none starts twice and several can meet; and it removes what was made on a server that is not the run's.
package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// idleSeconds is how long a server lets the keeper's connection be idle: longer than any attempt takes.
const idleSeconds = 30 * 24 * 3600

// Keeper holds the workload's schema for one attempt, by a lock of the server that goes with its connection. Whoever has
// the lock is the only one to use the schema, whatever became of the Pods and nodes of others.
type Keeper struct {
	conn   *sql.Conn
	schema string
	id     result.Identity
	// mine says whether the schema was created by Benchrun, by this attempt or by one before.
	mine bool
}

// Acquire takes the schema for this attempt, within the given time, and makes it if it is not there. An earlier attempt of
// the same run that still holds it, because its node is cut off, is thrown out; another run is waited for. A schema that
// holds what is not Benchrun's is left alone.
func Acquire(ctx context.Context, db *sql.DB, schema string, id result.Identity, atMost time.Duration) (*Keeper, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	k := &Keeper{conn: conn, schema: schema, id: id}
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return k.exec(ctx, "SET SESSION wait_timeout = ?", idleSeconds) },
		func(ctx context.Context) error { return k.lock(ctx, atMost) },
		k.expel,
		k.adopt,
		k.register,
	} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return k, nil
}

func (k *Keeper) exec(ctx context.Context, statement string, args ...any) error {
	if _, err := k.conn.ExecContext(ctx, statement, args...); err != nil {
		return fmt.Errorf("executing %s: %w", strings.Join(strings.Fields(statement), " "), err)
	}
	return nil
}

func (k *Keeper) lockName() string { return lockName(k.schema) }

func lockName(schema string) string { return "benchrun." + schema }

// lock waits for the schema's lock.
func (k *Keeper) lock(ctx context.Context, atMost time.Duration) error {
	deadline := time.Now().Add(atMost)
	for {
		var taken sql.NullBool
		if err := k.conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, 1)", k.lockName()).Scan(&taken); err != nil {
			return fmt.Errorf("locking the schema %s: %w", k.schema, err)
		}
		if taken.Bool {
			return nil
		}
		if err := k.throwOutPredecessor(ctx); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return failure.Newf(result.CauseSchemaTaken, "the schema %s is in use by another run, and was for %s: "+
				"wait for that run, or name another schema", k.schema, atMost)
		}
	}
}

// throwOutPredecessor ends the connection that holds the lock, if it is that of an attempt of this run which the operator
// has given up: otherwise this one would not have been started.
func (k *Keeper) throwOutPredecessor(ctx context.Context) error {
	const query = "SELECT connection_id, trial, attempt, pod_uid FROM `%s`." + attemptsTable +
		" WHERE run_uid = ? AND connection_id = IS_USED_LOCK(?)"
	var connection int64
	var trial, attempt int
	var pod string
	row := k.conn.QueryRowContext(ctx, fmt.Sprintf(query, k.schema), k.id.RunUID, k.lockName())
	if err := row.Scan(&connection, &trial, &attempt, &pod); err != nil {
		// No such row, or not even such a table yet: somebody else's, who is waited for. A connection that is broken shows at
		// the next try to get the lock.
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
	sessions, err := k.sessions(ctx)
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

// sessions are the connections of this user's to the schema, without this one.
func (k *Keeper) sessions(ctx context.Context) (ids []int64, err error) {
	const query = "SELECT id FROM information_schema.processlist" +
		" WHERE db = ? AND user = SUBSTRING_INDEX(USER(), '@', 1) AND id <> CONNECTION_ID()"
	rows, err := k.conn.QueryContext(ctx, query, k.schema)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

func (k *Keeper) kill(ctx context.Context, connection int64) error {
	const noSuchThread = 1094
	_, err := k.conn.ExecContext(ctx, fmt.Sprintf("KILL %d", connection))
	if server, ok := errors.AsType[*mysql.MySQLError](err); ok && server.Number == noSuchThread {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ending the session of an earlier attempt: %w", err)
	}
	return nil
}

// adopt makes the schema, or finds that it is Benchrun's, or empty.
func (k *Keeper) adopt(ctx context.Context) error {
	const existsQuery = "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?"
	var exists, tables, attempts int
	if err := k.conn.QueryRowContext(ctx, existsQuery, k.schema).Scan(&exists); err != nil {
		return fmt.Errorf("looking for the schema %s: %w", k.schema, err)
	}
	const tablesQuery = "SELECT COUNT(*), COALESCE(SUM(table_name = '" + attemptsTable + "'), 0)" +
		" FROM information_schema.tables WHERE table_schema = ?"
	if err := k.conn.QueryRowContext(ctx, tablesQuery, k.schema).Scan(&tables, &attempts); err != nil {
		return fmt.Errorf("looking at the tables of the schema %s: %w", k.schema, err)
	}
	switch {
	case exists == 0:
		k.mine = true
		if err := k.exec(ctx, "CREATE DATABASE `"+k.schema+"`"); err != nil {
			return err
		}
	case attempts > 0:
		// Somebody may have dropped the rows: without one the schema is not known to be Benchrun's.
		const query = "SELECT COALESCE(MAX(made_schema), 0) FROM `%s`." + attemptsTable
		if err := k.conn.QueryRowContext(ctx, fmt.Sprintf(query, k.schema)).Scan(&k.mine); err != nil {
			return fmt.Errorf("reading who made the schema %s: %w", k.schema, err)
		}
	case tables > 0:
		return failure.Newf(result.CauseSchemaTaken, "the schema %s is there already, with %d tables that are not Benchrun's: "+
			"name a schema that does not exist, or is empty", k.schema, tables)
	}
	return nil
}

// Close gives the schema back: with its connection goes the lock.
func (k *Keeper) Close() error { return k.conn.Close() }

// Schema is its name.
func (k *Keeper) Schema() string { return k.schema }

// Holds is an error unless the schema was this attempt's all the time.
func (k *Keeper) Holds(ctx context.Context) error {
	var held sql.NullBool
	if err := k.conn.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?) = CONNECTION_ID()", k.lockName()).Scan(&held); err != nil {
		return failure.New(result.CauseConnectionLost, fmt.Errorf("asking whether the schema is still ours: %w", err))
	}
	if !held.Bool {
		return failure.Newf(result.CauseConnectionLost, "the lock of the schema %s was lost", k.schema)
	}
	return nil
}
