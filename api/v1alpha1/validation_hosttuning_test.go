//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import "testing"

// TestEnvtestHostTuningRules asks a real API server about database.hostTuning.
func TestEnvtestHostTuningRules(t *testing.T) {
	tuned := func(s string) string { return spec("database: {hostTuning: {" + s + "}}") }
	checkRules(t, minimal, map[string]rule{
		"values": {
			allowed: []string{
				tuned("swappiness: 0"), tuned("swappiness: 200"), tuned("ioScheduler: mq-deadline"), tuned("ioScheduler: none"),
				tuned("transparentHugePages: never, dropPageCache: BeforeEachTrial"),
			},
			refused: []string{
				tuned("swappiness: -1"), tuned("swappiness: 201"), tuned("ioScheduler: ../sda"), tuned("transparentHugePages: on"),
				tuned("dropPageCache: Always"),
			},
			says: "spec.database.hostTuning.",
		},
		"nothing asked": {
			refused: []string{spec("database: {hostTuning: {}}")},
			says:    "should have at least 1 properties",
		},
		"provisioner": {
			refused: []string{
				spec("database: {provisioner: MariaDBOperator, hostTuning: {swappiness: 1}}"),
				spec("database: {provisioner: External, external: {host: db, credentialsSecretName: db}, hostTuning: {swappiness: 1}}"),
			},
			says: "hostTuning needs provisioner StatefulSet",
		},
		"no disk": {
			allowed: []string{spec("database: {storage: {medium: Memory}, hostTuning: {swappiness: 1}}")},
			refused: []string{spec("database: {storage: {medium: Memory}, hostTuning: {ioScheduler: none}}")},
			says:    "hostTuning.ioScheduler needs a disk",
		},
	})
}
