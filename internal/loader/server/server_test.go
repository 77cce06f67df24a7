// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
)

func TestExecuted(t *testing.T) {
	at := func(n string) map[string]string { return map[string]string{"Questions": n} }
	if n := Executed(&engine.MariaDB, at("5"), at("12")); n == nil || *n != 7 {
		t.Errorf("%v, want 7", n)
	}
	if n := Executed(&engine.MariaDB, at("12"), at("5")); n == nil || *n != -7 {
		t.Errorf("%v, want -7", n)
	}
	if n := Executed(&engine.MariaDB, nil, at("5")); n != nil {
		t.Errorf("%d, want nothing", *n)
	}
}

func TestRestarted(t *testing.T) {
	for name, tc := range map[string]struct {
		was, is, between time.Duration
		want             bool
	}{
		"as long as it took":            {100 * time.Second, 160 * time.Second, time.Minute, false},
		"whole seconds":                 {100 * time.Second, 159 * time.Second, time.Minute, false},
		"up for less than before":       {100 * time.Second, 3 * time.Second, time.Minute, true},
		"up for less than before, soon": {2 * time.Second, time.Second, time.Second, true},
		"up for longer, but too short":  {100 * time.Second, 120 * time.Second, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Restarted(tc.was, tc.is, tc.between); got != tc.want {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}

func TestUptime(t *testing.T) {
	if up, err := Uptime(&engine.MariaDB, map[string]string{"Uptime": "61"}); err != nil || up != 61*time.Second {
		t.Errorf("%s, %v", up, err)
	}
	if _, err := Uptime(&engine.MariaDB, map[string]string{}); err == nil || !strings.Contains(err.Error(), "no uptime") {
		t.Errorf("error %v", err)
	}
}
