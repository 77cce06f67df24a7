// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package conn

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// testServer is the one that the environment names. There is no skipping: a test that was not run proves nothing.
func testServer(t *testing.T) result.Server {
	t.Helper()
	dir := t.TempDir()
	env := func(name string) string {
		value := os.Getenv("BENCHRUN_TEST_" + name)
		if value == "" {
			t.Fatalf("BENCHRUN_TEST_%s is not set: the integration tests need a server, see hack/server.sh", name)
		}
		return value
	}
	write := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(env(name)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	port, err := strconv.Atoi(env("PORT"))
	if err != nil {
		t.Fatal(err)
	}
	return result.Server{Engine: env("ENGINE"), Host: env("HOST"), Port: port, UserFile: write("USER"), PasswordFile: write("PASSWORD")}
}

// overPlainAndEncrypted runs a test twice, in a session with an empty schema and these tables.
func overPlainAndEncrypted(t *testing.T, test func(t *testing.T, s *Session), tables ...string) {
	t.Helper()
	for name, tls := range map[string]string{"plain": "", "encrypted": result.TLSRequired} {
		t.Run(name, func(t *testing.T) {
			server := testServer(t)
			server.TLS = tls
			c, err := New(server)
			if err != nil {
				t.Fatal(err)
			}
			s, err := c.Session(t.Context(), "", append([]string{
				"DROP DATABASE IF EXISTS conn_test", "CREATE DATABASE conn_test", "USE conn_test",
			}, tables...))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			test(t, s)
		})
	}
}

// Over an encrypted connection, a file is sent as over one that is not.
func TestIntegrationLoad(t *testing.T) {
	overPlainAndEncrypted(t, func(t *testing.T, s *Session) {
		rows, warnings, err := s.Load("INTO TABLE loaded FIELDS TERMINATED BY '|'", strings.NewReader("1|a\n1|b\n2|c\n3|long\n"))
		if rows != 3 || warnings != 2 || err != nil {
			t.Errorf("%d rows, %d warnings, %v", rows, warnings, err)
		}
		if first, err := s.Warning(); err != nil || !strings.Contains(first, "Duplicate entry '1'") {
			t.Errorf("first warning %q, %v", first, err)
		}
		if _, _, err := s.Load("INTO TABLE nowhere", strings.NewReader("1")); err == nil || !strings.Contains(err.Error(), "nowhere") {
			t.Errorf("error %v", err)
		}
		broken := errors.New("the disk is gone")
		if _, _, err := s.Load("INTO TABLE loaded", iotest.ErrReader(broken)); !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
		if err := s.Exec([]byte("DROP DATABASE conn_test")); err != nil {
			t.Errorf("the connection is of no use any more: %v", err)
		}
	}, "CREATE TABLE loaded (n INT PRIMARY KEY, t VARCHAR(3))")
}
