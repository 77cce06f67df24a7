// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"context"
	"database/sql"
	"strings"
)

// Remove removes what was made: the schema if Benchrun created it, otherwise its tables. The connection is not the keeper's,
// which may be closed.
func (k *Keeper) Remove(ctx context.Context, db *sql.DB) error {
	if k.mine {
		_, err := db.ExecContext(ctx, "DROP DATABASE IF EXISTS `"+k.schema+"`")
		return err
	}
	return dropTables(ctx, db, k.schema)
}

// dropTables empties a schema that was empty when Benchrun took it. Tables may refer to each other.
func dropTables(ctx context.Context, db *sql.DB, schema string) error {
	session, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer session.Close() //nolint:errcheck // nothing is left to be done with it
	const query = "SELECT table_name FROM information_schema.tables WHERE table_schema = ? AND table_type = 'BASE TABLE'"
	rows, err := session.QueryContext(ctx, query, schema)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		tables = append(tables, "`"+schema+"`.`"+strings.ReplaceAll(name, "`", "``")+"`")
	}
	if err := rows.Err(); err != nil || len(tables) == 0 {
		return err
	}
	if _, err := session.ExecContext(ctx, "SET foreign_key_checks = 0"); err != nil {
		return err
	}
	_, err = session.ExecContext(ctx, "DROP TABLE IF EXISTS "+strings.Join(tables, ", "))
	return err
}
