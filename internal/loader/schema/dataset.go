// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// The table of datasets, in the workload's schema, says what a trial left for the next one. It has one row at most, and goes
// with the workload's tables.
const (
	createDatasets = `CREATE TABLE benchrun_datasets (
		digest CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY
	) ENGINE=InnoDB`
	selectDataset = "SELECT digest FROM benchrun_datasets"
	insertDataset = "INSERT INTO benchrun_datasets (digest) VALUES (?)"
)

// HasDataset says whether the schema holds the dataset.
func HasDataset(ctx context.Context, db *sql.DB, dataset string) (bool, error) {
	var digest string
	err := db.QueryRowContext(ctx, selectDataset).Scan(&digest)
	switch {
	case isNotThere(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading the table of datasets: %w", err)
	}
	return digest == result.Digest([]byte(dataset)), nil
}

// RecordDataset says that the schema, which was cleared before, holds the whole dataset.
func RecordDataset(ctx context.Context, db *sql.DB, dataset string) error {
	if _, err := db.ExecContext(ctx, createDatasets); err != nil {
		return fmt.Errorf("making the table of datasets: %w", err)
	}
	if _, err := db.ExecContext(ctx, insertDataset, result.Digest([]byte(dataset))); err != nil {
		return fmt.Errorf("recording a dataset: %w", err)
	}
	return nil
}
