// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// objectsTable is in the workload's schema. It names what Benchrun has made there, and the schema itself if Benchrun made that:
// nothing else is ever dropped.
const objectsTable = "benchrun_objects"

// bookkeeping are Benchrun's tables beside the workload's.
var bookkeeping = []object{{Kind: kindTable, Name: objectsTable}, {Kind: kindTable, Name: attemptsTable}}

const (
	kindSchema = "SCHEMA"
	kindTable  = "TABLE"
)

type object = client.Object

type holding struct {
	conn    *sql.Conn
	dialect *client.Dialect
	schema  string
}

func (h *holding) exec(ctx context.Context, statement string, args ...any) error {
	if _, err := h.conn.ExecContext(ctx, statement, args...); err != nil {
		return fmt.Errorf("executing %s: %w", strings.Join(strings.Fields(statement), " "), err)
	}
	return nil
}

func (h *holding) inSchema(name string) string { return h.dialect.InSchema(h.schema, name) }

func (h *holding) objects(ctx context.Context) ([]object, error) {
	schemas := &h.dialect.Schemas
	all, err := h.list(ctx, schemas.Objects, slices.Repeat([]any{h.schema}, schemas.ObjectsParameters)...)
	if err != nil {
		return nil, fmt.Errorf("looking at what is in the schema %s: %w", h.schema, err)
	}
	return all, nil
}

// made are the objects that Benchrun has noted. Known says whether it has used the schema.
func (h *holding) made(ctx context.Context) (all []object, known bool, err error) {
	all, err = h.list(ctx, "SELECT kind, name FROM "+h.inSchema(objectsTable))
	if isNotThere(h.dialect, err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading what Benchrun has made in the schema %s: %w", h.schema, err)
	}
	return all, true, nil
}

func (h *holding) list(ctx context.Context, query string, args ...any) (all []object, err error) {
	err = workload.EachRow(ctx, h.conn, func(row *sql.Rows) error {
		var o object
		err := row.Scan(&o.Kind, &o.Name)
		all = append(all, o)
		return err
	}, query, args...)
	return all, err
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
	slices.SortFunc(all, func(a, b object) int { return cmp.Compare(a.Name, b.Name) })
	return all, known, nil
}

func without(all, others []object) []object {
	return slices.DeleteFunc(all, func(o object) bool { return slices.Contains(others, o) })
}

func (h *holding) note(ctx context.Context, objects ...object) error {
	if len(objects) == 0 {
		return nil
	}
	var args []any
	for _, o := range objects {
		args = append(args, o.Kind, o.Name)
	}
	rows := "INTO " + h.inSchema(objectsTable) + " (kind, name) VALUES (?, ?)" + strings.Repeat(", (?, ?)", len(objects)-1)
	return h.exec(ctx, "INSERT "+fmt.Sprintf(h.dialect.Tables.InsertNew, rows), args...)
}

// Clear drops what was made.
func (h *holding) Clear(ctx context.Context) error {
	made, _, err := h.made(ctx)
	if err != nil {
		return err
	}
	made = slices.DeleteFunc(made, func(o object) bool { return o.Kind == kindSchema })
	for _, statement := range append(h.dialect.Schemas.DropAll(h.inSchema, made),
		"DELETE FROM "+h.inSchema(objectsTable)+" WHERE kind <> '"+kindSchema+"'") {
		if err := h.exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func listed(objects []object) string {
	const most = 5
	var names []string
	for _, o := range objects[:min(len(objects), most)] {
		names = append(names, strings.ToLower(o.Kind)+" "+o.Name)
	}
	if more := len(objects) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// Remove gives the schema back, and removes what Benchrun made in it; and the schema, if Benchrun made it and nothing else is
// left. It takes a connection of its own, because the keeper's may be closed, and the lock again: a process that has taken it
// meanwhile has taken the schema with all that is in it.
func (k *Keeper) Remove(ctx context.Context, db *sql.DB) (err error) {
	k.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	h := holding{conn: conn, dialect: k.dialect, schema: k.schema}
	const lockWithin = 5 * time.Second // a server notices soon that a connection was closed
	locked, err := h.take(ctx, lockWithin)
	if err != nil {
		return err
	}
	if !locked {
		return errors.New("another session has locked it")
	}
	if err := k.noteUnfinished(ctx, &h); err != nil {
		return err
	}
	return h.remove(ctx, k.created)
}

// noteUnfinished notes what was made until Making was interrupted.
func (k *Keeper) noteUnfinished(ctx context.Context, h *holding) error {
	making, err := h.making(ctx, k.id)
	if err != nil || !making {
		return err
	}
	foreign, _, err := h.foreign(ctx)
	if err != nil {
		return err
	}
	return h.note(ctx, foreign...)
}

// remove what is noted; and the schema, if that is noted, or was created and perhaps not noted any more.
func (h *holding) remove(ctx context.Context, created bool) error {
	made, known, err := h.made(ctx)
	if err != nil || !known && !created {
		return err
	}
	if known {
		if err := h.Clear(ctx); err != nil {
			return err
		}
	}
	others, _, err := h.foreign(ctx)
	if err != nil {
		return err
	}
	ours := created || slices.Contains(made, object{Kind: kindSchema, Name: h.schema})
	if ours && len(others) == 0 {
		return h.exec(ctx, fmt.Sprintf(h.dialect.Schemas.Drop, h.dialect.QuotedName(h.schema)))
	}
	for _, o := range bookkeeping {
		if err := h.exec(ctx, "DROP TABLE IF EXISTS "+h.inSchema(o.Name)); err != nil {
			return err
		}
	}
	if ours {
		return fmt.Errorf("it holds objects that Benchrun did not create: %s", listed(others))
	}
	return nil
}
