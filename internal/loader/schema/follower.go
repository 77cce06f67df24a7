// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/benchrun-dev/benchrun/internal/dialect"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Follower is one of several Pods at their meetings that is not the first.
type Follower struct{ meeting }

// NewFollower is one of so many Pods, which waits for the first one at most so long.
func NewFollower(db *sql.DB, d *dialect.Dialect, schema string, id result.Identity, pods int, atMost time.Duration) *Follower {
	return &Follower{meeting{db: db, dialect: d, schema: schema, id: id, pods: pods, atMost: atMost}}
}

// Join waits until the leading Pod has taken the schema, and registers this one.
func (b *Follower) Join(ctx context.Context) error {
	arrived, err := b.poll(ctx, b.atMost, func() (bool, error) {
		_, err := b.leader(ctx)
		if isNotThere(b.dialect, err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("waiting for Pod 0: %w", err)
	}
	if !arrived {
		return failure.Newf(result.CauseBarrierTimeout,
			"Pod 0 of the %d loader Pods, which prepares the tables, did not arrive within %s", b.pods, b.atMost)
	}
	return register(ctx, b.db, b.dialect, b.schema, b.id)
}

// Start says that this Pod has arrived, and returns when all start, with the moment.
func (b *Follower) Start(ctx context.Context) (time.Time, error) {
	return b.start(ctx, "UPDATE %s SET arrived = ?")
}

// Deliver hands what this Pod measured to the leading one.
func (b *Follower) Deliver(ctx context.Context, part []byte) error {
	done, err := b.db.ExecContext(ctx, b.at("UPDATE %s SET part = ?", "pod_index = ?"), b.args([]any{part}, b.id.Pod)...)
	if err != nil {
		return fmt.Errorf("delivering what was measured: %w", err)
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return failure.Newf(result.CauseConnectionLost, "delivering what was measured: %d Pods were waiting for it", n)
	}
	return nil
}
