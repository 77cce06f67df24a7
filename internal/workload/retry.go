// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"time"
)

// maxTries is how often a transaction is tried before its client gives up. One that others disturb by chance hardly ever needs
// three; one that waits for a lock each time would take for ever.
const maxTries = 20

// GaveUp is the error of a transaction that was tried too often. It wraps the last one.
type GaveUp struct{ Last error }

func (g GaveUp) Error() string {
	return fmt.Sprintf("%d tries in a row failed; the last error: %v", maxTries, g.Last)
}

// Unwrap returns the last error.
func (g GaveUp) Unwrap() error { return g.Last }

var rollback = []byte("ROLLBACK")

// Retry takes the error of a statement that began at the given time; nil stays nil. If the transaction is to be tried again, it
// rolls it back, because some of these errors end the statement only, and calls again, which executes everything from the
// transaction's beginning up to that statement. It returns the error that remains.
func (c *Client) Retry(began time.Duration, err error, again func() error) error {
	for try := 1; err != nil && c.TryAgain != nil && c.TryAgain(err); try++ {
		c.Recorder.RolledBack(began, c.Recorder.Now())
		if err := c.Session.Exec(rollback); err != nil {
			return fmt.Errorf("rolling a transaction back: %w", err)
		}
		if try == maxTries {
			return GaveUp{Last: err}
		}
		began = c.Recorder.Now()
		err = again()
	}
	return err
}
