// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
)

// The table of datasets says what a trial left for the next one. A database instance that is new has none.
const (
	createDatasets = "CREATE TABLE IF NOT EXISTS " + systemSchema + `.datasets (
		schema_name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
		digest CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL
	) ENGINE=InnoDB`
	selectDataset = "SELECT digest FROM " + systemSchema + ".datasets WHERE schema_name = ?"
	deleteDataset = "DELETE FROM " + systemSchema + ".datasets WHERE schema_name = ?"
	insertDataset = "INSERT INTO " + systemSchema + ".datasets (schema_name, digest) VALUES (?, ?)"
)

// hasDataset says whether the schema holds the dataset. If it holds another one, that is forgotten: it is about to be
// replaced.
func hasDataset(ctx context.Context, db *sql.DB, schema, dataset string) (bool, error) {
	if _, err := db.ExecContext(ctx, createDatasets); err != nil {
		return false, fmt.Errorf("making the table of datasets: %w", err)
	}
	var digest string
	err := db.QueryRowContext(ctx, selectDataset, schema).Scan(&digest)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading the table of datasets: %w", err)
	case digest == digestOf(dataset):
		return true, nil
	}
	if _, err := db.ExecContext(ctx, deleteDataset, schema); err != nil {
		return false, fmt.Errorf("forgetting a dataset: %w", err)
	}
	return false, nil
}

// recordDataset says that the schema holds the whole dataset.
func recordDataset(ctx context.Context, db *sql.DB, schema, dataset string) error {
	if _, err := db.ExecContext(ctx, insertDataset, schema, digestOf(dataset)); err != nil {
		return fmt.Errorf("recording a dataset: %w", err)
	}
	return nil
}

func digestOf(dataset string) string {
	sum := sha256.Sum256([]byte(dataset))
	return hex.EncodeToString(sum[:])
}
