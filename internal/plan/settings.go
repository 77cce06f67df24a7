// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
)

// Settings are everything that a specification asks of the configuration of such a server, sorted by name. The same list makes
// the option file and is read back before anything is measured. Of an external server only the settings in its specification
// are asked for.
func Settings(e *engine.Engine, db *v1alpha1.DatabaseSpec) []engine.Setting {
	var list []engine.Setting
	s := &db.Settings
	if s.BufferPoolSize != nil {
		list = append(list, e.Options.BufferPoolSize(s.BufferPoolSize.Value()))
	}
	if s.LogFileSize != nil {
		list = append(list, e.Options.LogFileSize(s.LogFileSize.Value()))
	}
	if s.FlushLogAtTrxCommit != nil {
		list = append(list, e.Options.FlushLogAtTrxCommit(*s.FlushLogAtTrxCommit))
	}
	if s.BinaryLog != nil || db.Provisioner != v1alpha1.ProvisionerExternal {
		list = append(list, e.Options.BinaryLog(ptr.Deref(s.BinaryLog, false)))
	}
	for _, key := range slices.Sorted(maps.Keys(db.Variables)) {
		list = append(list, e.Options.Variable(key, string(db.Variables[key])))
	}
	slices.SortStableFunc(list, func(a, b engine.Setting) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// SettingOf is what a specification asks a variable of the server to be; empty if it asks for nothing.
func SettingOf(db *v1alpha1.DatabaseSpec, name string) string {
	e, err := engine.ByName(string(db.Engine))
	if err != nil { // an engine that is not known has no settings
		return ""
	}
	for _, s := range Settings(e, db) {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

// BinaryLog is the setting that switches the binary log on; its zero value for an unknown engine.
func BinaryLog(db *v1alpha1.DatabaseSpec) engine.Setting {
	e, err := engine.ByName(string(db.Engine))
	if err != nil {
		return engine.Setting{}
	}
	return e.Options.BinaryLog(true)
}

// CommitsWait says whether commits on the server of a specification wait for the disk. If known is false, the fsync calls that
// the server counts tell.
func CommitsWait(db *v1alpha1.DatabaseSpec) (wait, known bool) {
	e, err := engine.ByName(string(db.Engine))
	if err != nil {
		return false, false
	}
	return e.CommitsWait(Settings(e, db))
}
