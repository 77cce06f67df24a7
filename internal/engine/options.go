// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import "strings"

// Options are how the option file is written.
type Options struct {
	// Group is the section that this server reads.
	Group string
	// One for each of the settings that the API has by name.
	BufferPoolSize, LogFileSize func(bytes int64) Setting
	FlushLogAtTrxCommit         func(mode int32) Setting
	BinaryLog                   func(on bool) Setting
}

// Setting is a requested server setting.
type Setting struct {
	// Name of the server variable under which it is read back, without loose_.
	Name string
	// Value to compare with.
	Value string
	// Loose settings may be unknown to the server.
	Loose bool
	// Line is how it stands in the option file.
	Line string
}

// Assignment is a setting whose option has the name of its variable.
func Assignment(name, value string) Setting {
	return Setting{Name: name, Value: value, Line: name + " = " + value}
}

// Variable is the setting for a server variable of the specification; a name that begins with loose_ may be unknown to the
// server.
func (*Options) Variable(key, value string) Setting {
	name, loose := strings.CutPrefix(key, "loose_")
	return Setting{Name: name, Value: value, Loose: loose, Line: key + " = " + quote(value)}
}

// File is the option file with these settings.
func (o *Options) File(settings []Setting) string {
	var b strings.Builder
	b.WriteString("# Made by Benchrun from spec.database of the run.\n[" + o.Group + "]\n")
	for _, s := range settings {
		b.WriteString(s.Line + "\n")
	}
	return b.String()
}

// quote protects a value with characters that option files treat as their own: '#' begins a comment, blanks at the ends
// are cut off, a backslash escapes.
func quote(value string) string {
	if !strings.ContainsAny(value, `#;\'"`) && value == strings.TrimSpace(value) {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// named are the names of the variables behind the settings that the API has by name, in the same order for each engine.
func (o *Options) named() []string {
	return []string{o.BufferPoolSize(0).Name, o.LogFileSize(0).Name, o.FlushLogAtTrxCommit(0).Name, o.BinaryLog(false).Name}
}
