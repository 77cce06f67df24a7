// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"strings"
)

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

// QuotedNames are identifiers in SQL, separated by commas.
func QuotedNames(names []string) string {
	var all []string
	for _, name := range names {
		all = append(all, QuotedName(name))
	}
	return strings.Join(all, ", ")
}
