// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package conn

import (
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// Rows are counted below the driver, whatever their sizes, and the session goes on after each answer, also after a refusal.
func TestIntegrationRows(t *testing.T) {
	overPlainAndEncrypted(t, func(t *testing.T, s *Session) {
		for query, want := range map[string]int64{
			"SELECT * FROM narrow": 5, "SELECT * FROM narrow WHERE n < 1": 0, "SELECT n FROM narrow ORDER BY n LIMIT 3": 3,
			"SELECT a.n, b.n FROM narrow a, narrow b, narrow c, narrow d": 625, "SELECT s FROM narrow WHERE n = 1": 1, "SHOW TABLES": 1,
		} {
			if got, err := s.Fetch([]byte(query)); err != nil || got != want {
				t.Errorf("%s: %d rows, %v; want %d", query, got, err, want)
			}
		}
		for _, statement := range []string{"SELECT * FROM missing", "SELEC"} {
			_, err := s.Fetch([]byte(statement))
			if _, refused := errors.AsType[*mysql.MySQLError](err); !refused {
				t.Errorf("%s: %v", statement, err)
			}
		}
		if _, err := s.Fetch([]byte("DO 1")); err == nil {
			t.Error("DO sends rows")
		}
		for statement, want := range map[string]int64{"DELETE FROM narrow WHERE n > 5": 0, "DELETE FROM narrow WHERE n IN (1, 3)": 2} {
			if got, err := s.ExecAffected([]byte(statement)); err != nil || got != want {
				t.Errorf("%s: %d rows, %v; want %d", statement, got, err, want)
			}
		}
		// The driver's own queries go on, too.
		if pairs, err := s.Pairs("SELECT n, n FROM narrow"); err != nil || len(pairs) != 3 {
			t.Errorf("%v, %v", pairs, err)
		}
	}, "CREATE TABLE narrow (n INT PRIMARY KEY, s LONGTEXT)",
		"INSERT INTO narrow VALUES (1, NULL), (2, ''), (3, REPEAT('x', 300)), (4, REPEAT('y', 100000)), (5, REPEAT('z', 5000000))")
}
