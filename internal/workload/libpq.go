// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import "github.com/benchrun-dev/benchrun/internal/result"

// LibpqEnv are the environment variables by which a program that uses PostgreSQL's client library reaches the workload's schema,
// as the loader itself does: by its search path, under a name by which its sessions are found, encrypted or not. One is a secret.
func LibpqEnv(s *result.Server, password string) []string {
	mode := "disable"
	switch s.TLS {
	case result.TLSRequired:
		mode = "require"
	case result.TLSVerifyIdentity:
		mode = "verify-full"
	}
	env := []string{
		"PGPASSWORD=" + password, "PGOPTIONS=-c search_path=" + s.Schema, "PGAPPNAME=benchrun-loader " + s.Schema,
		"PGSSLMODE=" + mode, "PGCONNECT_TIMEOUT=10",
	}
	if s.CAFile != "" {
		env = append(env, "PGSSLROOTCERT="+s.CAFile)
	}
	return env
}
