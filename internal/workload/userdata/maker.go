// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/sqltext"
)

// maker executes the statements of a schema over one connection.
type maker struct {
	conn   *sql.Conn
	schema string
}

// state of a session that says what its statements are about, and how the server reads them.
type state struct{ schema, mode, charset string }

func (m *maker) state(ctx context.Context) (state, error) {
	var s state
	const query = "SELECT COALESCE(DATABASE(), ''), @@SESSION.sql_mode, @@SESSION.character_set_client"
	if err := m.conn.QueryRowContext(ctx, query).Scan(&s.schema, &s.mode, &s.charset); err != nil {
		return s, fmt.Errorf("reading the session's state: %w", err)
	}
	return s, nil
}

// otherwise are modes in which a server reads quotation marks, backslashes or names in another way than package sqltext does.
// Some stand for several.
var otherwise = []string{"ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "ANSI", "DB2", "MAXDB", "MSSQL", "ORACLE", "POSTGRESQL"}

// charsets have characters of which a byte may look like a backslash or a quotation mark.
var charsets = []string{"big5", "cp932", "gb18030", "gbk", "sjis"}

// begin has the server read statements as they were checked.
func (m *maker) begin(ctx context.Context) error {
	s, err := m.state(ctx)
	if err != nil {
		return err
	}
	m.schema = s.schema
	modes := slices.DeleteFunc(strings.Split(s.mode, ","), func(mode string) bool { return slices.Contains(otherwise, mode) })
	if _, err := m.conn.ExecContext(ctx, "SET SESSION sql_mode = ?", strings.Join(modes, ",")); err != nil {
		return fmt.Errorf("setting sql_mode: %w", err)
	}
	return nil
}

// absent checks that no other schema of the server has one of these names: what stands before a dot would be that schema.
func (m *maker) absent(ctx context.Context, qualifiers []string) (err error) {
	rows, err := m.conn.QueryContext(ctx, "SELECT schema_name FROM information_schema.schemata")
	if err != nil {
		return fmt.Errorf("reading the names of the server's schemas: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return fmt.Errorf("reading the names of the server's schemas: %w", err)
		}
		same := func(qualifier string) bool { return strings.EqualFold(qualifier, name) }
		if name != m.schema && slices.ContainsFunc(qualifiers, same) {
			return workload.Refused{Reason: fmt.Sprintf("schemaFrom has names that begin with %s. as a table or an alias, but the server "+
				"has a schema %s: use another alias. No statement was sent", name, name)}
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading the names of the server's schemas: %w", err)
	}
	return nil
}

// execute executes the statements, and commits what the last ones have not.
func (m *maker) execute(ctx context.Context, statements []sqltext.Statement) error {
	for i := range statements {
		s := &statements[i]
		if s.Unsent {
			continue
		}
		if _, err := m.conn.ExecContext(ctx, s.Text); err != nil {
			shown := strings.Join(strings.Fields(result.Truncate(s.Text, shownStatement)), " ")
			return fmt.Errorf("statement %d of schemaFrom, line %d, %s: %w", i+1, s.Line, shown, err)
		}
		if err := m.unchanged(ctx); err != nil {
			return fmt.Errorf("statement %d of schemaFrom, line %d: %w", i+1, s.Line, err)
		}
	}
	if _, err := m.conn.ExecContext(ctx, "COMMIT"); err != nil {
		return fmt.Errorf("committing after schemaFrom: %w", err)
	}
	return nil
}

// unchanged checks that the next statement is about what it was checked for.
func (m *maker) unchanged(ctx context.Context) error {
	s, err := m.state(ctx)
	if err != nil {
		return err
	}
	for mode := range strings.SplitSeq(s.mode, ",") {
		if slices.Contains(otherwise, mode) {
			return workload.Refused{Reason: fmt.Sprintf("sql_mode %s changes how the statements after it are read: leave it out", mode)}
		}
	}
	switch {
	case s.schema != m.schema:
		return workload.Refused{Reason: fmt.Sprintf("the current schema is %q and no longer %s", s.schema, m.schema)}
	case slices.Contains(charsets, s.charset):
		return workload.Refused{Reason: fmt.Sprintf("character_set_client %s changes how the statements after it are read: "+
			"dump with --default-character-set=utf8mb4", s.charset)}
	}
	return nil
}
