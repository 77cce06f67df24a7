// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"strings"
)

// Durability names the variables that decide whether a commit is on disk when the server confirms it.
type Durability struct {
	// Commit is what makes a commit durable in the redo log, which is the server's default, and BinaryLog what makes it durable in
	// the binary log.
	Commit, BinaryLog Durable
	// WriteThrough is the switch that writes the redo log past the page cache, without fsync calls that the server could count;
	// empty if there is none.
	WriteThrough string
}

// Durable is a variable, and its value with which commits are durable.
type Durable struct{ Variable, Value string }

// CommitLoss is the variable because of which a server may lose confirmed commits, with its value; ok is false if it does not.
// A variable that the server does not have loses nothing.
func (e *Engine) CommitLoss(variables map[string]string) (lossy Durable, ok bool) {
	return e.Durability.Commit.missed(variables)
}

// BinaryLogLoss is the variable because of which the binary log of a server may lose confirmed commits, with its value; ok is
// false if it does not, or is off.
func (e *Engine) BinaryLogLoss(variables map[string]string) (lossy Durable, ok bool) {
	if on := e.Options.BinaryLog(true); variables[on.Name] != on.Value {
		return Durable{}, false
	}
	return e.Durability.BinaryLog.missed(variables)
}

func (d Durable) missed(variables map[string]string) (Durable, bool) {
	value, known := variables[d.Variable]
	return Durable{d.Variable, value}, known && value != d.Value
}

// CommitsWait says whether a commit waits for the disk on a server with these settings. They do not tell (known is false) if the
// log is not written through: then the fsync calls that the server counts do.
func (e *Engine) CommitsWait(settings []Setting) (wait, known bool) {
	through, durable := false, true
	for _, s := range settings {
		switch s.Name {
		case e.Durability.WriteThrough:
			through = slices.Contains([]string{"ON", "1"}, strings.ToUpper(s.Value))
		case e.Durability.Commit.Variable:
			durable = s.Value == e.Durability.Commit.Value
		}
	}
	return durable, through || !durable
}
