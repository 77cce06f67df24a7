// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// What MariaDB 11.8 and MySQL 9.7 make of options that are no variables: both were started with them.
func TestOptionsThatAreNoVariables(t *testing.T) {
	const unverified = result.SettingNotVerifiable
	logged := &Taken{Given: true}
	for _, line := range []string{
		"/usr/sbin/mysqld (mysqld 9.7.1) starting as process 1",
		"unknown variable 'loose_no_such=1'.", "unknown option '--loose-other-thing'.",
		"unknown variable 'loose_character_set_client_handshake=1'.",
	} {
		logged.read(line)
	}
	listed := &Taken{Given: true, otherwise: engine.MariaDB.Variables.Unreadable, variables: map[string]string{"log_bin": "OFF"}}
	for _, tc := range []struct {
		option, value  string
		mariaDB, mySQL result.SettingOutcome // with loose_
	}{
		{"performance_schema_instrument", "stage/%=ON", unverified, unverified},
		{"performance_schema_consumer_events_waits_current", "ON", unverified, unverified},
		{"symbolic_links", "OFF", unverified, unverified},
		{"skip_symbolic_links", "", unverified, unverified},
		{"external_locking", "ON", unverified, unverified},
		{"disable_log_bin", "", unverified, unverified},
		{"maximum_log_bin", "1", unverified, unverified},
		{"character_set_client_handshake", "OFF", unverified, ignored},
		{"no_such", "1", ignored, ignored},
		{"other_thing", "", ignored, ignored},
	} {
		t.Run(tc.option, func(t *testing.T) {
			for name, server := range map[string]struct {
				taken *Taken
				loose result.SettingOutcome
			}{"MariaDB": {listed, tc.mariaDB}, "MySQL": {logged, tc.mySQL}, "others' server": {new(Taken), ignored}} {
				outcome := func(option string) result.SettingOutcome {
					return CompareSettings(mariaDB, []result.Setting{{Name: option, Value: tc.value}}, listed.variables, server.taken)[0].Outcome
				}
				plain := unverified // the server would not have started
				if !server.taken.Given {
					plain = refused
				}
				for option, want := range map[string]result.SettingOutcome{
					tc.option: plain, "loose_" + tc.option: server.loose,
					"loose-" + strings.ReplaceAll(tc.option, "_", "-"): server.loose,
				} {
					if got := outcome(option); got != want {
						t.Errorf("%s of %s: %s, want %s", option, name, got, want)
					}
				}
			}
		})
	}
}

// What cannot be verified is said beside the numbers, and ends nothing.
func TestUnverified(t *testing.T) {
	requested := []result.Setting{{Name: "symbolic_links", Value: "OFF"}}
	applied := CompareSettings(mariaDB, requested, nil, &Taken{Given: true})
	if err := RefusedSettings(mariaDB, requested, applied, nil); err != nil {
		t.Error(err)
	}
	const want = "the server was started with symbolic_links=OFF, and has no variable that shows it: it cannot be verified"
	if got := Unverified(applied); len(got) != 1 || got[0].String() != want {
		t.Errorf("%v", got)
	}
}
