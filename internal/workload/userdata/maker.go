// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/sqltext"
)

type maker struct {
	conn   *sql.Conn
	schema string
}

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
func (m *maker) absent(ctx context.Context, qualifiers []string) error {
	names, err := workload.Column[string](ctx, m.conn, "SELECT schema_name FROM information_schema.schemata")
	if err != nil {
		return fmt.Errorf("reading the names of the server's schemas: %w", err)
	}
	for _, name := range names {
		same := func(qualifier string) bool { return strings.EqualFold(qualifier, name) }
		if name != m.schema && slices.ContainsFunc(qualifiers, same) {
			return workload.Refused{Reason: fmt.Sprintf("schemaFrom has names that begin with %s. as a table or an alias, but the "+
				"server has a schema %s: use another alias. No statement was sent", name, name)}
		}
	}
	return nil
}

func (m *maker) execute(ctx context.Context, statements []sqltext.Statement) error {
	for i := range statements {
		s := &statements[i]
		if s.Unsent {
			continue
		}
		if _, err := m.conn.ExecContext(ctx, s.Text); err != nil {
			const most = 200
			shown := strings.Join(strings.Fields(result.Truncate(s.Text, most)), " ")
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

// encodings are what files begin with that are no UTF-8, the longer ones first.
var encodings = []struct{ prefix, name, way string }{
	{"\x00\x00\xfe\xff", "UTF-32", "iconv -f UTF-32 -t UTF-8"},
	{"\xff\xfe\x00\x00", "UTF-32", "iconv -f UTF-32 -t UTF-8"},
	{"\xff\xfe", "UTF-16", "iconv -f UTF-16 -t UTF-8"},
	{"\xfe\xff", "UTF-16", "iconv -f UTF-16 -t UTF-8"},
	{"\x1f\x8b", "compressed by gzip", "gunzip"},
	{"\xfd7zXZ\x00", "compressed by xz", "unxz"},
	{"\x28\xb5\x2f\xfd", "compressed by zstd", "unzstd"},
	{"PK\x03\x04", "a ZIP archive or a spreadsheet", "unzip, or an export as CSV"},
}

// longestPrefix is how much of a file notUTF8 needs.
const longestPrefix = 6

// notUTF8 says what a file is that begins like this, if that is no text in UTF-8.
func notUTF8(begin []byte) string {
	for _, e := range encodings {
		if bytes.HasPrefix(begin, []byte(e.prefix)) {
			return fmt.Sprintf("is %s, and must be text in UTF-8: convert it with %s", e.name, e.way)
		}
	}
	return ""
}

// Quoting is how text becomes a literal of SQL.
type Quoting struct {
	// verbatim backslashes stand for themselves: the server's sql_mode has NO_BACKSLASH_ESCAPES.
	verbatim bool
}

// QuotingOf is what the server's sessions need.
func QuotingOf(ctx context.Context, db *sql.DB) (Quoting, error) {
	var mode string
	if err := db.QueryRowContext(ctx, "SELECT @@SESSION.sql_mode").Scan(&mode); err != nil {
		return Quoting{}, fmt.Errorf("reading sql_mode: %w", err)
	}
	return Quoting{verbatim: strings.Contains(mode, "NO_BACKSLASH_ESCAPES")}, nil
}

// appendRow appends a row in parentheses: each field as a string, which the server makes a value of the column's type, or as
// NULL. It does not allocate if dst has room.
func (q Quoting) appendRow(dst []byte, fields [][]byte) []byte {
	dst = append(dst, '(')
	for i, field := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		if field == nil {
			dst = append(dst, "NULL"...)
			continue
		}
		dst = append(dst, '\'')
		dst = q.appendText(dst, field)
		dst = append(dst, '\'')
	}
	return append(dst, ')')
}

// appendText doubles what means something within quotation marks. Connections are UTF-8, in which these characters are never
// a part of others.
func (q Quoting) appendText(dst, text []byte) []byte {
	if bytes.IndexByte(text, '\'') < 0 && (q.verbatim || bytes.IndexByte(text, '\\') < 0) {
		return append(dst, text...)
	}
	for _, c := range text {
		if c == '\'' || c == '\\' && !q.verbatim {
			dst = append(dst, c)
		}
		dst = append(dst, c)
	}
	return dst
}

// QuotedName is an identifier in SQL.
func QuotedName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// QuotedNames are identifiers in SQL.
func QuotedNames(names []string) []string {
	var all []string
	for _, name := range names {
		all = append(all, QuotedName(name))
	}
	return all
}

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

// Make reads the SQL, checks that it stays within the schema that db is connected to, and only then executes it. An engine, if
// there is one, is for the tables that do not say theirs.
func (s *Schema) Make(ctx context.Context, db *sql.DB, engine string) (err error) {
	text, err := os.ReadFile(s.path)
	if err != nil {
		return workload.Refused{Reason: "reading schemaFrom: " + err.Error()}
	}
	s.Input = result.InputOf(filepath.Base(s.path), text)
	if reason := notUTF8(text); reason != "" {
		return workload.Refused{Reason: "schemaFrom " + reason}
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer func() {
		// What it was told is not for other statements: the pool closes a connection that is said to be bad.
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		if closed := conn.Close(); !errors.Is(closed, sql.ErrConnDone) {
			err = errors.Join(err, closed)
		}
	}()
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
	if engine != "" { // it has letters, digits and underscores: see insert.CheckEngine
		if err := workload.Execute(ctx, conn, "SET default_storage_engine = "+engine); err != nil {
			return err
		}
	}
	return m.execute(ctx, statements)
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
			all[i] = slices.DeleteFunc(columns, func(c Column) bool { return c.derived })
			continue
		}
		var not []string
		for _, name := range w.Columns {
			if at := slices.IndexFunc(columns, func(c Column) bool { return strings.EqualFold(c.Name, name) }); at >= 0 {
				all[i] = append(all[i], columns[at])
			} else {
				not = append(not, name)
			}
		}
		if len(not) > 0 {
			missing = append(missing, fmt.Sprintf("table %s has no column %s", w.Table, strings.Join(not, ", ")))
		}
	}
	if len(missing) > 0 {
		return nil, workload.Refused{Reason: "these tables to be loaded do not exist: " + strings.Join(missing, "; ")}
	}
	return all, nil
}
