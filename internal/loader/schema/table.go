// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// attemptsTable is in the workload's schema. It says which attempts have used the schema.
const attemptsTable = "benchrun_attempts"

// register makes the table of attempts, and this Pod the one that leads its attempt.
func (k *Keeper) register(ctx context.Context) error {
	err := k.exec(ctx, "CREATE TABLE IF NOT EXISTS "+k.inSchema(attemptsTable)+` (
		run_uid VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
		trial INT NOT NULL,
		attempt INT NOT NULL,
		pod_index INT NOT NULL,
		pod_uid VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
		connection_id BIGINT NOT NULL,
		making BOOLEAN NOT NULL DEFAULT FALSE,
		arrived INT NOT NULL DEFAULT 0,
		released INT NOT NULL DEFAULT 0,
		release_at DATETIME(6),
		part LONGBLOB,
		PRIMARY KEY (run_uid, trial, attempt, pod_index)
	) ENGINE=InnoDB`)
	if err != nil {
		return err
	}
	// What the attempts before were making is noted.
	if err := k.exec(ctx, "UPDATE "+k.inSchema(attemptsTable)+" SET making = FALSE WHERE run_uid = ?", k.id.RunUID); err != nil {
		return err
	}
	return register(ctx, k.conn, k.schema, k.id)
}

// register this Pod's start of the attempt under a primary key, so that there is one: a Pod that is started again on a dead
// node's behalf, or by a confused kubelet, ends itself here before it touches a table.
func register(ctx context.Context, db querier, schema string, id result.Identity) error {
	table := "`" + schema + "`." + attemptsTable
	// The schema's name has letters, digits and underscores only: see validate.
	insert := "INSERT INTO " + table + " (run_uid, trial, attempt, pod_index, pod_uid, connection_id)" +
		" VALUES (?, ?, ?, ?, ?, CONNECTION_ID())"
	_, err := db.ExecContext(ctx, insert, id.RunUID, id.Trial, id.Attempt, id.Pod, id.PodUID)
	if err == nil {
		return nil
	}
	const duplicateKey = 1062
	if server, ok := errors.AsType[*mysql.MySQLError](err); !ok || server.Number != duplicateKey {
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
