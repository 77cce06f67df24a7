// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// The table of datasets, in the workload's schema, says what a trial left for the next one. It has one row at most.
const (
	createDatasets = `CREATE TABLE IF NOT EXISTS benchrun_datasets (
		digest CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY
	) ENGINE=InnoDB`
	selectDataset = "SELECT digest FROM benchrun_datasets"
	deleteDataset = "DELETE FROM benchrun_datasets"
	insertDataset = "INSERT INTO benchrun_datasets (digest) VALUES (?)"
)

// HasDataset says whether the schema holds the dataset. If it holds another one, that is forgotten: it is about to be
// replaced.
func HasDataset(ctx context.Context, db *sql.DB, dataset string) (bool, error) {
	if _, err := db.ExecContext(ctx, createDatasets); err != nil {
		return false, fmt.Errorf("making the table of datasets: %w", err)
	}
	var digest string
	err := db.QueryRowContext(ctx, selectDataset).Scan(&digest)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading the table of datasets: %w", err)
	case digest == result.Digest([]byte(dataset)):
		return true, nil
	}
	if _, err := db.ExecContext(ctx, deleteDataset); err != nil {
		return false, fmt.Errorf("forgetting a dataset: %w", err)
	}
	return false, nil
}

// RecordDataset says that the schema holds the whole dataset.
func RecordDataset(ctx context.Context, db *sql.DB, dataset string) error {
	if _, err := db.ExecContext(ctx, insertDataset, result.Digest([]byte(dataset))); err != nil {
		return fmt.Errorf("recording a dataset: %w", err)
	}
	return nil
}
