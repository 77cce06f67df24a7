// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/engine"
)

// SettingsDigest is the hexadecimal SHA-256 of "name=value" and a line break for each variable but
// those of state and identity, sorted by name: equal for servers that are set alike.
func SettingsDigest(e *engine.Engine, variables map[string]string) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if !e.Variables.IsState(name) {
			h.Write([]byte(name + "=" + variables[name] + "\n"))
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// ChangedVariables names what differs between two readings, with both values, sorted.
func ChangedVariables(e *engine.Engine, before, after map[string]string) []string {
	names := maps.Clone(before)
	maps.Copy(names, after)
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, had := before[name]
		is, has := after[name]
		if (was != is || had != has) && !e.Variables.IsState(name) {
			changed = append(changed, fmt.Sprintf("%s was %q and is now %q", name, was, is))
		}
	}
	return changed
}
