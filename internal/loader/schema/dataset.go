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

// The table of datasets, in the workload's schema, says what a trial left for the next one. It has one row at most, and goes
// with the workload's tables.
const (
	createDatasets = "CREATE TABLE benchrun_datasets "
	selectDataset  = "SELECT digest FROM benchrun_datasets"
	insertDataset  = "INSERT INTO benchrun_datasets (digest) VALUES (?)"
	dropDatasets   = "DROP TABLE IF EXISTS benchrun_datasets"
)

// HasDataset says whether the schema holds the dataset.
func HasDataset(ctx context.Context, db *sql.DB, d *dialect.Dialect, dataset string) (bool, error) {
	var digest string
	err := db.QueryRowContext(ctx, selectDataset).Scan(&digest)
	switch {
	case isNotThere(d, err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading the table of datasets: %w", err)
	}
	return digest == result.Digest([]byte(dataset)), nil
}

// RecordDataset says that the schema, which was cleared before, holds the whole dataset.
func RecordDataset(ctx context.Context, db *sql.DB, d *dialect.Dialect, dataset string) error {
	if _, err := db.ExecContext(ctx, createDatasets+d.Tables.Datasets); err != nil {
		return fmt.Errorf("making the table of datasets: %w", err)
	}
	if _, err := db.ExecContext(ctx, insertDataset, result.Digest([]byte(dataset))); err != nil {
		return fmt.Errorf("recording a dataset: %w", err)
	}
	return nil
}

// ForgetDataset says that the schema's dataset is about to change. It is a change of the schema, which a server that is killed
// afterwards has not lost, whatever its settings.
func ForgetDataset(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, dropDatasets); err != nil {
		return fmt.Errorf("forgetting a dataset: %w", err)
	}
	return nil
}
