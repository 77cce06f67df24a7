// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Setting is one server setting that was asked for.
type Setting struct {
	// Name of the server variable under which it is read back, without loose_.
	Name string
	// Value to compare with.
	Value string
	// Loose settings may be unknown to the server.
	Loose bool
	// Line is how it stands in my.cnf.
	Line string
}

// Settings are everything that a specification asks of the server's configuration, sorted by name. The same list makes
// my.cnf and is read back before anything is measured. An external server is only asked for what was said.
func Settings(db *v1alpha1.DatabaseSpec) []Setting {
	var list []Setting
	add := func(name, value string) {
		list = append(list, Setting{Name: name, Value: value, Line: name + " = " + value})
	}
	s := &db.Settings
	if s.BufferPoolSize != nil {
		add("innodb_buffer_pool_size", strconv.FormatInt(s.BufferPoolSize.Value(), 10))
	}
	if s.LogFileSize != nil {
		add("innodb_log_file_size", strconv.FormatInt(s.LogFileSize.Value(), 10))
	}
	if s.FlushLogAtTrxCommit != nil {
		add("innodb_flush_log_at_trx_commit", strconv.Itoa(int(*s.FlushLogAtTrxCommit)))
	}
	if s.BinaryLog != nil || db.Provisioner != v1alpha1.ProvisionerExternal {
		list = append(list, binaryLog(ptr.Deref(s.BinaryLog, false)))
	}
	for _, key := range slices.Sorted(maps.Keys(db.Variables)) {
		name, loose := strings.CutPrefix(key, "loose_")
		value := string(db.Variables[key])
		list = append(list, Setting{Name: name, Value: value, Loose: loose, Line: key + " = " + quote(value)})
	}
	slices.SortStableFunc(list, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// binaryLog is written as a switch of its own: "log_bin = OFF" would name a log file "OFF".
func binaryLog(on bool) Setting {
	if on {
		return Setting{Name: "log_bin", Value: "ON", Line: "log_bin = binlog"}
	}
	return Setting{Name: "log_bin", Value: "OFF", Line: "skip_log_bin"}
}

// quote protects a value with characters that option files treat as their own: '#' begins a comment, blanks at the ends
// are cut off, a backslash escapes.
func quote(value string) string {
	if !strings.ContainsAny(value, `#;\'"`) && value == strings.TrimSpace(value) {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}
