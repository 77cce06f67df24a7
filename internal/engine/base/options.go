// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package base

import (
	"slices"
	"strings"
)

// Options are how the option file is written.
type Options struct {
	// Head comes before the settings.
	Head string
	// Quote is a value as the file has it.
	Quote func(value string) string
	// Meant is how a specification has a line of an option file, and what was wrong with it; nil if nothing can be.
	Meant func(name, value string) (meant, set string, wrong []string)
	// Reserved are options that are the operator's.
	Reserved []string
	// One for each of the settings that the API has by name; nil if the engine has none like that.
	BufferPoolSize      func(bytes int64) Setting
	RedoLogSize         func(bytes, files int64) Setting // files is 0 if nothing says how many
	FlushLogAtTrxCommit func(mode int32) Setting
	BinaryLog           func(on bool) Setting
	SynchronousCommit   func(mode string) Setting
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
func (o *Options) Variable(key, value string) Setting {
	name, loose := strings.CutPrefix(key, "loose_")
	return Setting{Name: name, Value: value, Loose: loose, Line: key + " = " + o.Quote(value)}
}

// File is the option file with these settings.
func (o *Options) File(settings []Setting) string {
	var b strings.Builder
	b.WriteString("# Made by Benchrun from spec.database of the run.\n" + o.Head)
	for _, s := range settings {
		b.WriteString(s.Line + "\n")
	}
	return b.String()
}

// Named are the variables behind the settings that the API has by name, by these; one that the engine does not have is missing.
func (o *Options) Named() map[string]string {
	named := map[string]string{}
	add := func(setting string, has bool, variable func() Setting) {
		if has {
			named[setting] = variable().Name
		}
	}
	add("bufferPoolSize", o.BufferPoolSize != nil, func() Setting { return o.BufferPoolSize(0) })
	add("redoLogSize", o.RedoLogSize != nil, func() Setting { return o.RedoLogSize(0, 0) })
	add("flushLogAtTrxCommit", o.FlushLogAtTrxCommit != nil, func() Setting { return o.FlushLogAtTrxCommit(0) })
	add("binaryLog", o.BinaryLog != nil, func() Setting { return o.BinaryLog(false) })
	add("synchronousCommit", o.SynchronousCommit != nil, func() Setting { return o.SynchronousCommit("") })
	return named
}

// Durability names the variables that decide whether a commit is on disk when the server confirms it.
type Durability struct {
	// Commit is all that makes a commit durable in the redo log, which is the server's default, and BinaryLog what makes it durable
	// in the binary log.
	Commit    []Durable
	BinaryLog Durable
}

// Durable is a variable, and its value with which commits are durable, or several with commas between them.
type Durable struct{ Variable, Value string }

// CommitLoss is the variable because of which a server may lose confirmed commits, with its value; ok is false if it does not.
// A variable that the server does not have loses nothing.
func (e *Engine) CommitLoss(variables map[string]string) (lossy Durable, ok bool) {
	for _, d := range e.Durability.Commit {
		if lossy, ok = d.missed(variables); ok {
			return lossy, ok
		}
	}
	return Durable{}, false
}

// BinaryLogLoss is the variable because of which the binary log of a server may lose confirmed commits, with its value; ok is
// false if it does not, or is off.
func (e *Engine) BinaryLogLoss(variables map[string]string) (lossy Durable, ok bool) {
	if e.Options.BinaryLog == nil {
		return Durable{}, false
	}
	if on := e.Options.BinaryLog(true); variables[on.Name] != on.Value {
		return Durable{}, false
	}
	return e.Durability.BinaryLog.missed(variables)
}

func (d Durable) missed(variables map[string]string) (Durable, bool) {
	value, known := variables[d.Variable]
	return Durable{d.Variable, value}, known && !slices.Contains(strings.Split(d.Value, ","), value)
}

// Miswritten is what is wrong with a variable of a specification; empty if nothing is.
func (e *Engine) Miswritten(name, value string) string {
	if slices.Contains(e.Options.Reserved, name) {
		return "it is reserved for the operator"
	}
	if e.Options.Meant == nil {
		if plain, loose := strings.CutPrefix(name, "loose_"); loose {
			return "write " + plain + ": servers of engine " + e.Name + " know no option that they may not know"
		}
		return ""
	}
	_, _, wrong := e.Options.Meant(name, value)
	return strings.Join(wrong, "; ")
}
