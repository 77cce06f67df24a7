// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/result"
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

// A server that is connected to and says nothing is given up.
func TestSilentServer(t *testing.T) {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	ctx, giveUp := context.WithCancel(t.Context())
	go func() {
		if conn, err := listener.Accept(); err == nil {
			defer conn.Close()
			giveUp()
			<-t.Context().Done()
		}
	}()
	c := must.Get(New(result.Server{
		Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, PasswordFile: t.TempDir() + "/password",
	}, "u", "p"))(t)
	if _, err := c.Session(ctx, "", nil); err == nil {
		t.Error("a session")
	}
}
