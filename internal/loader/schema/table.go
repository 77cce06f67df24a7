// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/dialect"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// attemptsTable is in the workload's schema. It says which attempts have used the schema.
const attemptsTable = "benchrun_attempts"

// register makes the table of attempts, and this Pod the one that leads its attempt.
func (k *Keeper) register(ctx context.Context) error {
	err := k.exec(ctx, "CREATE TABLE IF NOT EXISTS "+k.inSchema(attemptsTable)+" "+k.dialect.Tables.Attempts)
	if err != nil {
		return err
	}
	// What the attempts before were making is noted.
	if err := k.exec(ctx, "UPDATE "+k.inSchema(attemptsTable)+" SET making = FALSE WHERE run_uid = ?", k.id.RunUID); err != nil {
		return err
	}
	return register(ctx, k.conn, k.dialect, k.schema, k.id)
}

// register this Pod's start of the attempt under a primary key, so that there is one: a Pod that is started again on a dead
// node's behalf, or by a confused kubelet, ends itself here before it touches a table.
func register(ctx context.Context, db querier, d *dialect.Dialect, schema string, id result.Identity) error {
	table := d.InSchema(schema, attemptsTable)
	insert := "INSERT INTO " + table + " (run_uid, trial, attempt, pod_index, pod_uid, connection_id)" +
		" VALUES (?, ?, ?, ?, ?, " + d.Sessions.Own + ")"
	_, err := db.ExecContext(ctx, insert, id.RunUID, id.Trial, id.Attempt, id.Pod, id.PodUID)
	if err == nil {
		return nil
	}
	if !d.Errors.DuplicateKey(err) {
		return fmt.Errorf("registering the attempt: %w", err)
	}
	var other string
	query := "SELECT pod_uid FROM " + table + " WHERE run_uid = ? AND trial = ? AND attempt = ? AND pod_index = ?"
	if err := db.QueryRowContext(ctx, query, id.RunUID, id.Trial, id.Attempt, id.Pod).Scan(&other); err != nil {
		return fmt.Errorf("reading who started the attempt: %w", err)
	}
	return startedTwice(id.Trial, id.Attempt, other)
}

// querier is a connection or a pool of them.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
