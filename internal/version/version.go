// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package version knows the version of the program that it is a part of.
package version

import "runtime/debug"

// version is set by the linker.
var version string

// Version is the linker's version, or the module's, or "unknown".
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
