// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// objectsTable is in the workload's schema. It names what Benchrun has made there, and the schema itself if Benchrun made that:
// nothing else is ever dropped.
const objectsTable = "benchrun_objects"

// bookkeeping are Benchrun's tables beside the workload's.
var bookkeeping = []object{{kindTable, objectsTable}, {kindTable, attemptsTable}}

const (
	kindSchema = "SCHEMA"
	kindTable  = "TABLE"
)

// object is what a schema holds: a table, view, sequence, routine or event. Its kind is as DROP names it.
type object struct{ kind, name string }

func (o object) String() string { return strings.ToLower(o.kind) + " " + o.name }

// holding is the schema as a connection sees it.
type holding struct {
	conn   *sql.Conn
	schema string
}

func (h *holding) exec(ctx context.Context, statement string, args ...any) error {
	if _, err := h.conn.ExecContext(ctx, statement, args...); err != nil {
		return fmt.Errorf("executing %s: %w", strings.Join(strings.Fields(statement), " "), err)
	}
	return nil
}

// inSchema is the quoted name of something in the schema.
func (h *holding) inSchema(name string) string {
	return "`" + h.schema + "`.`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// objects are those in the schema, without bookkeeping.
func (h *holding) objects(ctx context.Context) ([]object, error) {
	const query = "SELECT IF(table_type IN ('VIEW', 'SEQUENCE'), table_type, 'TABLE'), table_name" +
		" FROM information_schema.tables WHERE table_schema = ? AND table_type <> 'TEMPORARY'" +
		" UNION ALL SELECT routine_type, routine_name FROM information_schema.routines" +
		" WHERE routine_schema = ? AND routine_type <> 'PACKAGE BODY'" +
		" UNION ALL SELECT 'EVENT', event_name FROM information_schema.events WHERE event_schema = ?"
	all, err := h.list(ctx, query, h.schema, h.schema, h.schema)
	if err != nil {
		return nil, fmt.Errorf("looking at what is in the schema %s: %w", h.schema, err)
	}
	return all, nil
}

// made are the objects that Benchrun has noted. Known says whether it has used the schema.
func (h *holding) made(ctx context.Context) (all []object, known bool, err error) {
	all, err = h.list(ctx, "SELECT kind, name FROM "+h.inSchema(objectsTable))
	if isNotThere(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading what Benchrun has made in the schema %s: %w", h.schema, err)
	}
	return all, true, nil
}

func (h *holding) list(ctx context.Context, query string, args ...any) (all []object, err error) {
	rows, err := h.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	for rows.Next() {
		var o object
		if err := rows.Scan(&o.kind, &o.name); err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, rows.Err()
}

// foreign are the objects in the schema that Benchrun has not made, sorted. Known says whether it has used the schema.
func (h *holding) foreign(ctx context.Context) (all []object, known bool, err error) {
	made, known, err := h.made(ctx)
	if err != nil {
		return nil, false, err
	}
	if all, err = h.objects(ctx); err != nil {
		return nil, false, err
	}
	if known {
		made = append(made, bookkeeping...)
	}
	all = without(all, made)
	slices.SortFunc(all, func(a, b object) int { return cmp.Compare(a.name, b.name) })
	return all, known, nil
}

func without(all, others []object) []object {
	return slices.DeleteFunc(all, func(o object) bool { return slices.Contains(others, o) })
}

// note notes objects as Benchrun's.
func (h *holding) note(ctx context.Context, objects ...object) error {
	if len(objects) == 0 {
		return nil
	}
	var args []any
	for _, o := range objects {
		args = append(args, o.kind, o.name)
	}
	return h.exec(ctx, "INSERT IGNORE INTO "+h.inSchema(objectsTable)+" (kind, name) VALUES (?, ?)"+
		strings.Repeat(", (?, ?)", len(objects)-1), args...)
}

// drop drops what Benchrun has made, but for the schema and bookkeeping. Tables may refer to each other.
func (h *holding) drop(ctx context.Context) error {
	made, _, err := h.made(ctx)
	if err != nil {
		return err
	}
	statements := []string{"SET foreign_key_checks = 0"}
	for _, o := range made {
		if o.kind != kindSchema {
			statements = append(statements, "DROP "+o.kind+" IF EXISTS "+h.inSchema(o.name))
		}
	}
	statements = append(statements, "DELETE FROM "+h.inSchema(objectsTable)+" WHERE kind <> '"+kindSchema+"'",
		"SET foreign_key_checks = DEFAULT")
	for _, statement := range statements {
		if err := h.exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// shownObjects is how many of them a message names.
const shownObjects = 5

func listed(objects []object) string {
	var names []string
	for _, o := range objects[:min(len(objects), shownObjects)] {
		names = append(names, o.String())
	}
	if more := len(objects) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
