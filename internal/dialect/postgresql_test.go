// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package dialect_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/benchrun-dev/benchrun/internal/dialect"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestPostgreSQLErrors(t *testing.T) {
	e := &dialect.Of(engine.PostgreSQL).Errors
	of := func(code string) error { return fmt.Errorf("executing x: %w", &pgconn.PgError{Code: code}) }
	for code, is := range map[string]func(error) bool{
		"57P01": e.ConnectionEnded, "40001": e.TryAgain, "40P01": e.TryAgain, "53300": e.TooManySessions, "23505": e.DuplicateKey,
		"42P01": e.NoSuchTable, "3F000": e.NoSuchTable, "57P03": e.WorthAnotherTry,
	} {
		if !is(of(code)) || is(of("42601")) {
			t.Errorf("%s is not told from other errors", code)
		}
	}
	if !e.Answered(of("42601")) || e.Answered(wrapped(1064)) || e.WorthAnotherTry(fmt.Errorf("server refused TLS connection")) {
		t.Error("answers of this server are not told from others")
	}
}

// Objects of a kind go together, because they may refer to each other, and what others are made of goes last.
func TestPostgreSQLDropsAll(t *testing.T) {
	d := dialect.Of(engine.PostgreSQL)
	inSchema := func(name string) string { return d.InSchema("bench", name) }
	got := d.Schemas.DropAll(inSchema, []dialect.Object{
		{Kind: "FUNCTION", Name: "f(integer, text)"},
		{Kind: "TABLE", Name: "a"},
		{Kind: "VIEW", Name: "v"},
		{Kind: "TABLE", Name: `b"`},
		{Kind: "TYPE", Name: "t"},
	})
	must.Same(t, "statements", []string{
		`DROP VIEW IF EXISTS "bench"."v"`, `DROP TABLE IF EXISTS "bench"."a", "bench"."b"""`,
		`DROP FUNCTION IF EXISTS "bench"."f"(integer, text)`, `DROP TYPE IF EXISTS "bench"."t"`,
	}, got)
}
