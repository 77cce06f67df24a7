// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/dialect"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Leader is the first of several Pods at their meetings. It has a Keeper, which has registered it.
type Leader struct{ meeting }

// NewLeader is that of so many Pods, which waits for the others at most so long.
func NewLeader(db *sql.DB, d *dialect.Dialect, schema string, id result.Identity, pods int, atMost time.Duration) *Leader {
	return &Leader{meeting{db: db, dialect: d, schema: schema, id: id, pods: pods, atMost: atMost}}
}

// Gather waits until every other Pod has arrived at the next meeting.
func (b *Leader) Gather(ctx context.Context) error {
	var missing []string
	all, err := b.poll(ctx, b.atMost, func() (bool, error) {
		var err error
		missing, err = b.missing(ctx, "arrived >= "+strconv.Itoa(b.meetings+1))
		return len(missing) == 0, err
	})
	if err != nil || all {
		return err
	}
	return failure.Newf(result.CauseBarrierTimeout, "%d of the %d loader Pods arrived within %s; missing: Pod %s",
		b.pods-len(missing), b.pods, b.atMost, strings.Join(missing, ", "))
}

// missing are the other Pods for whose rows the condition does not hold, or that have none.
func (b *Leader) missing(ctx context.Context, condition string) (missing []string, err error) {
	query := b.at("SELECT pod_index FROM %s", "pod_index > ? AND "+condition)
	rows, err := b.db.QueryContext(ctx, query, b.args(nil, 0)...)
	if err != nil {
		return nil, fmt.Errorf("looking for the other Pods: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	there := make([]bool, b.pods)
	for rows.Next() {
		var pod int
		if err := rows.Scan(&pod); err != nil {
			return nil, fmt.Errorf("looking for the other Pods: %w", err)
		}
		if pod < b.pods {
			there[pod] = true
		}
	}
	for pod := 1; pod < b.pods; pod++ {
		if !there[pod] {
			missing = append(missing, strconv.Itoa(pod))
		}
	}
	return missing, rows.Err()
}

// Start tells all Pods when to start, and returns then, with the moment.
func (b *Leader) Start(ctx context.Context) (time.Time, error) {
	return b.start(ctx, "UPDATE %s SET released = ?, release_at = "+b.dialect.Clock.After(barrierLead))
}

// Collect waits for what the other Pods deliver, and returns it in their order. It takes as long as they do: the Job's
// deadline ends it.
func (b *Leader) Collect(ctx context.Context) (parts [][]byte, err error) {
	_, err = b.poll(ctx, 0, func() (bool, error) {
		missing, err := b.missing(ctx, "part IS NOT NULL")
		return len(missing) == 0, err
	})
	for pod := 1; pod < b.pods && err == nil; pod++ {
		var part []byte
		row := b.db.QueryRowContext(ctx, b.at("SELECT part FROM %s", "pod_index = ?"), b.args(nil, pod)...)
		err = row.Scan(&part)
		parts = append(parts, part)
	}
	if err != nil {
		return nil, fmt.Errorf("collecting what the other Pods measured: %w", err)
	}
	return parts, nil
}
