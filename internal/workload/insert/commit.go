// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package insert

import "fmt"

// How transactions end, as the API names it.
const (
	// CommitExplicit ends each transaction with a COMMIT.
	CommitExplicit = "Explicit"
	// CommitAutocommit has the server commit each statement.
	CommitAutocommit = "Autocommit"
)

// CheckCommit checks the parameter commit, of which empty is Explicit. A transaction has so many statements, which a parameter
// of that name says.
func CheckCommit(commit, name string, statements int64) error {
	switch {
	case commit != "" && commit != CommitExplicit && commit != CommitAutocommit:
		return fmt.Errorf("commit is %q but must be %s or %s", commit, CommitExplicit, CommitAutocommit)
	case commit == CommitAutocommit && statements != 1:
		return fmt.Errorf("commit Autocommit makes each statement a transaction: %s is %d but must be 1", name, statements)
	}
	return nil
}

// SessionCommit is the assignment that has a session commit each statement, or none.
func SessionCommit(auto bool) string {
	if auto {
		return "autocommit=1"
	}
	return "autocommit=0"
}
