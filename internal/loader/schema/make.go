// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// adopt makes the schema, or finds that everything in it is Benchrun's.
func (k *Keeper) adopt(ctx context.Context) error {
	var exists int
	if err := k.conn.QueryRowContext(ctx, k.dialect.Schemas.Exists, k.schema).Scan(&exists); err != nil {
		return fmt.Errorf("looking for the schema %s: %w", k.schema, err)
	}
	if exists == 0 {
		err := k.exec(ctx, fmt.Sprintf(k.dialect.Schemas.Create, k.dialect.QuotedName(k.schema)))
		// Without an answer, the server may have made it.
		k.created = err == nil || !k.dialect.Errors.Answered(err)
		k.used = k.created
		if err != nil {
			return err
		}
		return k.makeObjectsTable(ctx, object{Kind: kindSchema, Name: k.schema})
	}
	foreign, known, err := k.foreign(ctx)
	if err != nil {
		return err
	}
	if len(foreign) > 0 {
		ours := known
		if known && k.borrowed {
			// They may be those of an attempt of this run that was killed. On a server of the run's own, there are no others.
			if ours, err = k.making(ctx, k.id); err != nil {
				return err
			}
		}
		if !ours {
			return failure.Newf(result.CauseSchemaTaken, "the schema %s holds objects that Benchrun did not create (%s): "+
				"name a schema that does not exist or is empty", k.schema, listed(foreign))
		}
	}
	k.used = true
	return k.makeObjectsTable(ctx, foreign...)
}

// makeObjectsTable, unless it is there, and note objects in it.
func (k *Keeper) makeObjectsTable(ctx context.Context, objects ...object) error {
	if err := k.exec(ctx, "CREATE TABLE IF NOT EXISTS "+k.inSchema(objectsTable)+" "+k.dialect.Tables.Objects); err != nil {
		return err
	}
	return k.note(ctx, objects...)
}

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
	// Of what is there after an interruption, it would be impossible to tell what is not ours.
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
	if err := k.exec(ctx, fmt.Sprintf(k.dialect.Schemas.CreateMissing, k.dialect.QuotedName(k.schema))); err != nil {
		return err
	}
	if err := k.makeObjectsTable(ctx); err != nil {
		return err
	}
	if slices.Contains(lost, object{Kind: kindTable, Name: attemptsTable}) {
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

func (h *holding) making(ctx context.Context, id result.Identity) (bool, error) {
	var making int
	query := "SELECT COUNT(*) FROM " + h.inSchema(attemptsTable) + " WHERE making AND run_uid = ?"
	err := h.conn.QueryRowContext(ctx, query, id.RunUID).Scan(&making)
	if isNotThere(h.dialect, err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading what earlier attempts did: %w", err)
	}
	return making > 0, nil
}

// The table benchrun_datasets, in the workload's schema, says what a trial left for the next one. It has one row at most, and
// goes with the workload's tables.

// HasDataset says whether the schema holds the dataset.
func HasDataset(ctx context.Context, db *sql.DB, d *client.Dialect, dataset string) (bool, error) {
	var digest string
	err := db.QueryRowContext(ctx, "SELECT digest FROM benchrun_datasets").Scan(&digest)
	switch {
	case isNotThere(d, err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading the table of datasets: %w", err)
	}
	return digest == result.Digest([]byte(dataset)), nil
}

// RecordDataset says that the schema, which was cleared before, holds the whole dataset.
func RecordDataset(ctx context.Context, db *sql.DB, d *client.Dialect, dataset string) error {
	if _, err := db.ExecContext(ctx, "CREATE TABLE benchrun_datasets "+d.Tables.Datasets); err != nil {
		return fmt.Errorf("making the table of datasets: %w", err)
	}
	const insert = "INSERT INTO benchrun_datasets (digest) VALUES (?)"
	if _, err := db.ExecContext(ctx, insert, result.Digest([]byte(dataset))); err != nil {
		return fmt.Errorf("recording a dataset: %w", err)
	}
	return nil
}

// ForgetDataset says that the schema's dataset is about to change. It is a change of the schema, which a server that is killed
// afterwards has not lost, whatever its settings.
func ForgetDataset(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, "DROP TABLE IF EXISTS benchrun_datasets"); err != nil {
		return fmt.Errorf("forgetting a dataset: %w", err)
	}
	return nil
}

// attemptsTable is in the workload's schema. It says which attempts have used the schema.
const attemptsTable = "benchrun_attempts"

// register makes the table of attempts, and this Pod the one that leads its attempt.
func (k *Keeper) register(ctx context.Context) error {
	err := k.exec(ctx, "CREATE TABLE IF NOT EXISTS "+k.inSchema(attemptsTable)+" "+k.dialect.Tables.Attempts)
	if err != nil {
		return err
	}
	// What the attempts before were making is noted.
	if err := k.exec(ctx, "UPDATE "+k.inSchema(attemptsTable)+" SET making = FALSE WHERE run_uid = ?", k.id.RunUID); err != nil {
		return err
	}
	return register(ctx, k.conn, k.dialect, k.schema, k.id)
}

// register this Pod's start of the attempt under a primary key, so that there is one: a Pod that is started again on a dead
// node's behalf, or by a confused kubelet, ends itself here before it touches a table.
func register(ctx context.Context, db workload.Querier, d *client.Dialect, schema string, id result.Identity) error {
	table := d.InSchema(schema, attemptsTable)
	insert := "INSERT INTO " + table + " (run_uid, trial, attempt, pod_index, pod_uid, connection_id)" +
		" VALUES (?, ?, ?, ?, ?, " + d.Sessions.Own + ")"
	_, err := db.ExecContext(ctx, insert, id.RunUID, id.Trial, id.Attempt, id.Pod, id.PodUID)
	if err == nil {
		return nil
	}
	if !d.Errors.DuplicateKey(err) {
		return fmt.Errorf("registering the attempt: %w", err)
	}
	var other string
	query := "SELECT pod_uid FROM " + table + " WHERE run_uid = ? AND trial = ? AND attempt = ? AND pod_index = ?"
	if err := db.QueryRowContext(ctx, query, id.RunUID, id.Trial, id.Attempt, id.Pod).Scan(&other); err != nil {
		return fmt.Errorf("reading who started the attempt: %w", err)
	}
	return startedTwice(id.Trial, id.Attempt, other)
}
