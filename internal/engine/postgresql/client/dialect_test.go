// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"testing"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// Objects of a kind go together, because they may refer to each other, and what others are made of goes last.
func TestPostgreSQLDropsAll(t *testing.T) {
	inSchema := func(name string) string { return Dialect.InSchema("bench", name) }
	got := Dialect.Schemas.DropAll(inSchema, []client.Object{
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
