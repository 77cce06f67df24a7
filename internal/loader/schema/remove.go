// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// removeLockSeconds is how long Remove waits for the schema's lock: a server notices soon that a connection was closed.
const removeLockSeconds = 5

// Remove gives the schema back, and removes what Benchrun made in it; and the schema, if Benchrun made it and nothing else is
// left. It takes a connection of its own, because the keeper's may be closed, and the lock again: whoever has taken it meanwhile
// has taken the schema with all that is in it.
func (k *Keeper) Remove(ctx context.Context, db *sql.DB) (err error) {
	k.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	h := holding{conn: conn, dialect: k.dialect, schema: k.schema}
	var locked sql.NullBool
	if err := conn.QueryRowContext(ctx, k.dialect.Locks.Take, lockName(k.schema), removeLockSeconds).Scan(&locked); err != nil {
		return fmt.Errorf("locking the schema: %w", err)
	}
	if !locked.Bool {
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
		if err := h.drop(ctx); err != nil {
			return err
		}
	}
	others, _, err := h.foreign(ctx)
	if err != nil {
		return err
	}
	ours := created || slices.Contains(made, object{kindSchema, h.schema})
	if ours && len(others) == 0 {
		return h.exec(ctx, h.dialect.Schemas.Drop+h.dialect.QuotedName(h.schema))
	}
	for _, o := range bookkeeping {
		if err := h.exec(ctx, "DROP TABLE IF EXISTS "+h.inSchema(o.name)); err != nil {
			return err
		}
	}
	if ours {
		return fmt.Errorf("it holds objects that Benchrun did not create: %s", listed(others))
	}
	return nil
}
