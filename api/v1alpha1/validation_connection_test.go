//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import "testing"

func TestEnvtestConnectionRules(t *testing.T) {
	external := func(more string) string {
		return spec(`database: {provisioner: External, external: {host: db.example.com, credentialsSecretName: mine}` + more + `}`)
	}
	operator := func(more string) string { return spec(`database: {provisioner: MariaDBOperator` + more + `}`) }
	checkRules(t, minimal, map[string]rule{
		"external goes with its provisioner": {
			allowed: []string{external(""), external(`, settings: {bufferPoolSize: 128Mi}, variables: {sync_binlog: "1"}`)},
			refused: []string{
				spec(`database: {provisioner: External}`), operator(`, external: {host: a, credentialsSecretName: b}`),
				spec(`database: {external: {host: a, credentialsSecretName: b}}`),
			},
			says: "provisioner External goes with external (host, credentialsSecretName)",
		},
		"external servers are not made": {
			refused: []string{
				external(`, image: "mariadb:11.8"`), external(`, storage: {size: 1Gi}`), external(`, nodeSelector: {a: b}`),
				external(`, resources: {limits: {memory: 1Gi}}`), external(`, priorityClassName: x`),
			},
			says: "are for servers that Benchrun makes: leave them out with provisioner External",
		},
		"external servers are not fresh": {
			refused: []string{spec(`database: {provisioner: External, external: {host: a, credentialsSecretName: b}}, trials: {server: Fresh}`)},
			says:    "trials.server: Fresh needs a provisioner that makes servers",
		},
		"host": {
			allowed: []string{
				spec(`database: {provisioner: External, external: {host: "fd00::17", credentialsSecretName: b}}`),
				spec(`database: {provisioner: External, external: {host: 10.0.0.7, port: 65535, credentialsSecretName: b}}`),
			},
			refused: []string{
				spec(`database: {provisioner: External, external: {host: "a b", credentialsSecretName: b}}`),
				spec(`database: {provisioner: External, external: {host: "tcp(a)/", credentialsSecretName: b}}`),
			},
			says: "external.host",
		},
		"port":        {refused: []string{spec(`database: {provisioner: External, external: {host: a, port: 65536, credentialsSecretName: b}}`)}, says: "less than or equal to 65535"},
		"credentials": {refused: []string{spec(`database: {provisioner: External, external: {host: a}}`)}, says: "credentialsSecretName: Required value"},
		"schema": {
			allowed: []string{spec(`database: {provisioner: External, external: {host: a, credentialsSecretName: b, schema: scratch_1}}`)},
			refused: []string{
				spec(`database: {provisioner: External, external: {host: a, credentialsSecretName: b, schema: mysql}}`),
				spec(`database: {provisioner: External, external: {host: a, credentialsSecretName: b, schema: SYS}}`),
			},
			says: "are the server's own: use another schema",
		},
		"schema's characters": {
			refused: []string{spec("database: {provisioner: External, external: {host: a, credentialsSecretName: b, schema: \"a`b\"}}")},
			says:    "external.schema",
		},
		"TLS": {
			allowed: []string{
				spec(`database: {tls: {mode: Required}}`), operator(`, tls: {mode: VerifyIdentity}`),
				external(`, tls: {mode: VerifyIdentity, caSecretName: ca}`), external(`, tls: {mode: VerifyIdentity}`),
			},
			refused: []string{spec(`database: {tls: {mode: VerifyIdentity}}`)},
			says:    "tls.mode must be Disabled or Required",
		},
		"authority of another mode": {
			refused: []string{external(`, tls: {mode: Required, caSecretName: ca}`), external(`, tls: {caSecretName: ca}`)},
			says:    "tls.caSecretName goes with tls.mode VerifyIdentity",
		},
		"the MariaDB operator's authority": {
			refused: []string{operator(`, tls: {mode: VerifyIdentity, caSecretName: ca}`)}, says: "brings its own authority",
		},
		"the MariaDB operator's disks": {
			allowed: []string{operator(`, storage: {size: 1Gi}`)},
			refused: []string{operator(`, storage: {medium: Memory}`), operator(`, storage: {medium: NodeDisk}`)},
			says:    "the others need provisioner StatefulSet",
		},
	})
}
