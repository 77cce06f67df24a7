// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// podIndex of the only Pod of an attempt.
const podIndex = 0

var attemptsTable = []string{
	"CREATE DATABASE IF NOT EXISTS " + systemSchema,
	"CREATE TABLE IF NOT EXISTS " + systemSchema + `.attempts (
		run_uid VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
		trial INT NOT NULL,
		attempt INT NOT NULL,
		pod_index INT NOT NULL,
		pod_uid VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
		PRIMARY KEY (run_uid, trial, attempt, pod_index)
	) ENGINE=InnoDB`,
}

const (
	insertAttempt = "INSERT INTO " + systemSchema + ".attempts" +
		" (run_uid, trial, attempt, pod_index, pod_uid) VALUES (?, ?, ?, ?, ?)"
	selectAttempt = "SELECT pod_uid FROM " + systemSchema + ".attempts" +
		" WHERE run_uid = ? AND trial = ? AND attempt = ? AND pod_index = ?"
)

// claim registers this start of the attempt under a primary key, so that there is one: a Pod that is started again on a
// dead node's behalf, or by a confused kubelet, ends itself here before it touches a table.
func claim(ctx context.Context, db *sql.DB, id result.Identity) error {
	for _, statement := range attemptsTable {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("making the table of attempts: %w", err)
		}
	}
	_, err := db.ExecContext(ctx, insertAttempt, id.RunUID, id.Trial, id.Attempt, podIndex, id.PodUID)
	if err == nil {
		return nil
	}
	const duplicateKey = 1062
	if server, ok := errors.AsType[*mysql.MySQLError](err); !ok || server.Number != duplicateKey {
		return fmt.Errorf("registering the attempt: %w", err)
	}
	var other string
	if err := db.QueryRowContext(ctx, selectAttempt, id.RunUID, id.Trial, id.Attempt, podIndex).Scan(&other); err != nil {
		return fmt.Errorf("reading who started the attempt: %w", err)
	}
	return failedf(result.FailureStartedTwice, "trial %d, attempt %d was started before, by the Pod with UID %s",
		id.Trial, id.Attempt, other)
}
