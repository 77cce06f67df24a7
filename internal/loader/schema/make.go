// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"context"
	"fmt"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// adopt makes the schema, or finds that everything in it is Benchrun's.
func (k *Keeper) adopt(ctx context.Context) error {
	var exists int
	if err := k.conn.QueryRowContext(ctx, k.dialect.Schemas.Exists, k.schema).Scan(&exists); err != nil {
		return fmt.Errorf("looking for the schema %s: %w", k.schema, err)
	}
	if exists == 0 {
		err := k.exec(ctx, k.dialect.Schemas.Create+k.dialect.QuotedName(k.schema))
		// Without an answer, the server may have made it.
		k.created = err == nil || !k.dialect.Errors.Answered(err)
		k.used = k.created
		if err != nil {
			return err
		}
		if err := k.makeObjectsTable(ctx); err != nil {
			return err
		}
		return k.note(ctx, object{kindSchema, k.schema})
	}
	foreign, known, err := k.foreign(ctx)
	if err != nil {
		return err
	}
	if len(foreign) > 0 {
		ours, err := k.unfinished(ctx, known)
		if err != nil {
			return err
		}
		if !ours {
			return failure.Newf(result.CauseSchemaTaken, "the schema %s holds objects that Benchrun did not create (%s): "+
				"name a schema that does not exist or is empty", k.schema, listed(foreign))
		}
	}
	k.used = true
	if err := k.makeObjectsTable(ctx); err != nil {
		return err
	}
	return k.note(ctx, foreign...)
}

// unfinished says whether objects that were not noted are those of an attempt of this run that was killed, if Benchrun is known
// to have used the schema. On a server of the run's own, there are no others.
func (k *Keeper) unfinished(ctx context.Context, known bool) (bool, error) {
	if !known || !k.borrowed {
		return known, nil
	}
	return k.making(ctx, k.id)
}

func (k *Keeper) makeObjectsTable(ctx context.Context) error {
	return k.exec(ctx, "CREATE TABLE IF NOT EXISTS "+k.inSchema(objectsTable)+" "+k.dialect.Tables.Objects)
}

// Clear drops what earlier attempts have made.
func (k *Keeper) Clear(ctx context.Context) error { return k.drop(ctx) }

// Making notes by name what a function makes in the schema. If it ends with an error, or this process does, then Remove or the
// run's next attempt notes that. A Pod that follows has no keeper, and notes nothing.
func (k *Keeper) Making(ctx context.Context, do func(context.Context) error) error {
	if k == nil {
		return do(ctx)
	}
	made, _, err := k.made(ctx)
	if err != nil {
		return err
	}
	before, _, err := k.foreign(ctx)
	if err != nil {
		return err
	}
	// Of what is there after an interruption, nobody could tell what is somebody else's.
	if err := k.setMaking(ctx, len(before) == 0); err != nil {
		return err
	}
	if err := do(ctx); err != nil {
		return err
	}
	if err := k.restore(ctx, made); err != nil {
		return err
	}
	after, _, err := k.foreign(ctx)
	if err != nil {
		return err
	}
	if err := k.note(ctx, without(after, before)...); err != nil {
		return err
	}
	return k.setMaking(ctx, false)
}

// restore makes again what Benchrun had noted in the schema, if a program has dropped that, or all of the schema.
func (k *Keeper) restore(ctx context.Context, made []object) error {
	there, err := k.objects(ctx)
	if err != nil {
		return err
	}
	lost := without(slices.Clone(bookkeeping), there)
	if len(lost) == 0 {
		return nil
	}
	k.dropped = true
	if err := k.exec(ctx, k.dialect.Schemas.CreateMissing+k.dialect.QuotedName(k.schema)); err != nil {
		return err
	}
	if err := k.makeObjectsTable(ctx); err != nil {
		return err
	}
	if slices.Contains(lost, object{kindTable, attemptsTable}) {
		if err := k.register(ctx); err != nil {
			return err
		}
	}
	return k.note(ctx, made...)
}

func (k *Keeper) setMaking(ctx context.Context, making bool) error {
	return k.exec(ctx, "UPDATE "+k.inSchema(attemptsTable)+
		" SET making = ? WHERE run_uid = ? AND trial = ? AND attempt = ? AND pod_index = ?",
		making, k.id.RunUID, k.id.Trial, k.id.Attempt, k.id.Pod)
}

// making says whether an attempt of the run has ended while it made objects.
func (h *holding) making(ctx context.Context, id result.Identity) (bool, error) {
	var making bool
	query := "SELECT COALESCE(MAX(making), FALSE) FROM " + h.inSchema(attemptsTable) + " WHERE run_uid = ?"
	err := h.conn.QueryRowContext(ctx, query, id.RunUID).Scan(&making)
	if isNotThere(h.dialect, err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading what earlier attempts did: %w", err)
	}
	return making, nil
}
