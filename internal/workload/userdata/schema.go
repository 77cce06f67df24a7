// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/sqltext"
)

// Schema is SQL of the user's that makes the workload's tables in place of Benchrun's own statements.
type Schema struct {
	path string
	// Input is known when the schema is made.
	Input result.Input
}

// NewSchema is nil if the configuration has none.
func NewSchema(w *result.Workload) *Schema {
	if w.SchemaFile == "" {
		return nil
	}
	return &Schema{path: w.SchemaFile}
}

// shownStatement is how much of a statement an error shows.
const shownStatement = 200

// Make reads the SQL, checks that it stays within the schema that db is connected to, and only then executes it. An engine, if
// there is one, is for the tables that do not say theirs.
func (s *Schema) Make(ctx context.Context, db *sql.DB, engine string) error {
	text, err := os.ReadFile(s.path)
	if err != nil {
		return workload.Refused{Reason: "reading schemaFrom: " + err.Error()}
	}
	s.Input = result.InputOf(filepath.Base(s.path), text)
	if reason := notUTF8(text); reason != "" {
		return workload.Refused{Reason: "schemaFrom " + reason}
	}
	return onOwnConnection(ctx, db, func(conn *sql.Conn) error {
		m := &maker{conn: conn}
		if err := m.begin(ctx); err != nil {
			return err
		}
		statements, qualifiers, err := sqltext.Read(string(text), sqltext.Bounds{Schema: m.schema, Engine: engine})
		if err != nil {
			return workload.Refused{Reason: fmt.Sprintf("schemaFrom, %v. No statement was sent", err)}
		}
		if err := m.absent(ctx, qualifiers); err != nil {
			return err
		}
		if engine != "" {
			set := "SET default_storage_engine = " + engine //nolint:gosec // letters, digits and underscores: see checkEngine
			if _, err := conn.ExecContext(ctx, set); err != nil {
				return fmt.Errorf("executing %s: %w", set, err)
			}
		}
		return m.execute(ctx, statements)
	})
}

// onOwnConnection closes the connection afterwards, because what it was told is not for other statements.
func onOwnConnection(ctx context.Context, db *sql.DB, do func(*sql.Conn) error) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer func() {
		// The pool closes a connection that is said to be bad.
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		if closed := conn.Close(); !errors.Is(closed, sql.ErrConnDone) {
			err = errors.Join(err, closed)
		}
	}()
	return do(conn)
}

// Wanted is a table that is going to be loaded, and which of its columns; none are all that it has.
type Wanted struct {
	Table   string
	Columns []string
}

// Find finds the columns of tables that the user's SQL should have made, in the order in which they are wanted. What is
// missing is an error that names all of it.
func Find(ctx context.Context, db *sql.DB, tables ...Wanted) ([][]Column, error) {
	all := make([][]Column, len(tables))
	var missing []string
	for i, w := range tables {
		columns, err := columnsOf(ctx, db, w.Table)
		if err != nil {
			return nil, err
		}
		if len(columns) == 0 {
			missing = append(missing, "there is no table "+w.Table)
			continue
		}
		if len(w.Columns) == 0 {
			for _, c := range columns {
				if !c.derived {
					all[i] = append(all[i], c)
				}
			}
			continue
		}
		var not []string
		if all[i], not = named(columns, w.Columns); len(not) > 0 {
			missing = append(missing, fmt.Sprintf("table %s has no column %s", w.Table, strings.Join(not, ", ")))
		}
	}
	if len(missing) > 0 {
		return nil, workload.Refused{Reason: "these tables to be loaded do not exist: " + strings.Join(missing, "; ")}
	}
	return all, nil
}
