// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// Environment is where a run was measured: by the record of its latest accepted attempt or, if there is none, of its latest one.
type Environment struct {
	Place result.Place
	// ServerVersion and SettingsDigest are empty if the attempt left no result.
	ServerVersion, SettingsDigest string
	// Fingerprint of the database's node, or nil.
	Fingerprint *result.Fingerprint
	// Probe is what the node was like before the trials that count, in the median.
	Probe stats.Probe
}

// EnvironmentOf the attempts that were recorded, or nil if there are none.
func EnvironmentOf(records []*result.Record) *Environment {
	if len(records) == 0 {
		return nil
	}
	accepted, r := AcceptedIn(records), records[len(records)-1]
	if len(accepted) > 0 {
		r = accepted[len(accepted)-1]
	}
	e := &Environment{Place: r.Place, Fingerprint: r.Fingerprint, Probe: stats.ProbeOfAll(accepted)}
	if r.Summary != nil {
		e.ServerVersion, e.SettingsDigest = r.Summary.ServerVersion, r.Summary.SettingsDigest
	}
	return e
}
