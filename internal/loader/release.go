// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/conn"
)

// releaseAtMost bounds the clean-up: a Pod that is told to stop has 30 seconds.
const releaseAtMost = 15 * time.Second

// release removes what the attempt has made on a server that is not the run's own, whatever became of the attempt: it
// connects anew, because interrupting has closed every connection. The warning is empty if nothing is left.
func (a *attempt) release() (warning string) {
	if a.keeper == nil {
		return ""
	}
	// An error would say that the connection is closed already; with it goes the lock.
	defer a.keeper.conn.Close() //nolint:errcheck // see above
	if !a.cfg.Server.Borrowed {
		return ""
	}
	a.progress.enter("release")
	ctx, cancel := context.WithTimeout(context.Background(), releaseAtMost)
	defer cancel()
	if err := a.removeSchema(ctx); err != nil {
		return fmt.Sprintf("the schema %s may still be on the server, because removing it failed: %s", a.keeper.schema, sentence(err))
	}
	return ""
}

func (a *attempt) removeSchema(ctx context.Context) error {
	anew, err := conn.New(a.cfg.Server)
	if err != nil {
		return err
	}
	defer anew.End()
	connector, err := anew.Connector("")
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close() //nolint:errcheck // its connections are ended by then
	schema := "`" + a.keeper.schema + "`"
	if a.keeper.mine {
		_, err := db.ExecContext(ctx, "DROP DATABASE IF EXISTS "+schema)
		return err
	}
	return dropTables(ctx, db, a.keeper.schema)
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
