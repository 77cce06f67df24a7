// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package base holds what an engine is: how settings are written into the option file and read back, what the container image
// expects, how a refusal to start is recognised, which variables are state, and which counters show that the server is at rest.
// It needs neither Kubernetes nor a connection.
package base

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// Engine is a family of database servers.
type Engine struct {
	// Name in the API, as spec.database.engine.
	Name string
	// SQL that its servers speak.
	SQL     SQL
	Image   Image
	Options Options
	// Variables and Counters are what the server says about itself.
	Variables  Variables
	Counters   Counters
	Durability Durability
	// Databases says that schemas are in databases, of which a session has one.
	Databases bool
	// SystemSchemas are the server's own: no workload may use them.
	SystemSchemas []string
	// ConnectionEnded are the codes of errors that mean that the server ended the connection, not that the statement is wrong.
	ConnectionEnded []string
	// TryAgain are the codes of errors after which a client is expected to roll the transaction back and begin it anew.
	TryAgain []string
}

// SQL is a dialect with its protocol. The loader, workloads and programs choose by it how they talk to a server.
type SQL string

// The SQL of engines.
const (
	MySQL      SQL = "MySQL"
	PostgreSQL SQL = "PostgreSQL"
)

// Image is what the official container image and its server expect and do.
type Image struct {
	// Default is the image of a run that names none. One of Names is in the names of the engine's images.
	Default string
	Names   []string
	// Port is where the server listens; the startup probe connects to it. PortName is its name in the Pod and in the Service.
	Port     int32
	PortName string
	// User is the ID of the user and of the group as which the server runs.
	User int64
	// DataPath holds the data, ConfigPath option files that the server includes, RunPath its PID file and its socket, which is
	// named Socket.
	DataPath, ConfigPath, RunPath, Socket string
	// Memory that the server may take beside 1.25 times its buffer pool, in bytes.
	Memory int64
	// Processes are the names that the server's process may have, as the kernel has them: at most 15 characters.
	Processes []string
	// Superuser is the user that the image makes. RootPasswordFile and RootHost are the names of environment variables: the file
	// with its password, and from where it may connect, which is empty if that is anywhere.
	Superuser, RootPasswordFile, RootHost string
	// Env are the container's other environment variables, as NAME=value, and Args its arguments; none are the image's own.
	Env, Args []string
	// Certificate says that the server makes one for itself.
	Certificate bool
	// SharedMemory is where the server's processes share memory that a container has too little of; empty if it is one process.
	SharedMemory string
	// Error matches an error in the server's log, of this engine and of no other; its groups together are the text. ErrorEnd is
	// the text of the last one, which has no cause.
	Error    *regexp.Regexp
	ErrorEnd string
}

// SeveralProcesses says whether the server is not one process: they share memory, and each connection has its own.
func (i *Image) SeveralProcesses() bool { return i.SharedMemory != "" }

// Variables say how the server's global variables are to be read.
type Variables struct {
	// Version and VersionComment are the names of those that name the server.
	Version, VersionComment string
	// Matches says whether a server with this version is one of the engine.
	Matches func(version string) bool
	// StateAndIdentity are those that say what the server has done so far, or which server it is, instead of how it is set.
	// They are left out of the digest of settings and of every pair. A name that ends in * stands for all that begin
	// so.
	StateAndIdentity []string
	// Hidden may hold a secret: they are recorded without their value.
	Hidden []string
	// Synonyms are other names of variables, of other versions or of the option that sets them.
	Synonyms map[string]string
	// UnknownOptions is a query for the lines of the server's log about options that it does not know, and others; empty if no
	// table has them. Unreadable are then the options that it knows and has no variable for; * at the end stands for any rest.
	UnknownOptions string
	Unreadable     []string
	// Descriptions is a query for what the server itself says about the values of variables, a row for each: its name in lower
	// case, the number that its values are multiples of, which is at least 1, the values of an enum, separated by commas, and the
	// unit of a number that has none. It is empty if the server has no table of that. Enums and Rounded are what it does not say.
	Descriptions string
	// Units are those of numbers that have none; set by what the server says. Quantity reads a number of a unit, with its own unit
	// or without one, which is then the given one.
	Units    map[string]string
	Quantity func(text, unit string) (value *big.Rat, ok bool)
	// Enums are the values of variables that may also be set by number, from 0.
	Enums map[string][]string
	// Rounded are those that the server rounds to a multiple of something.
	Rounded map[string]Rounding
	// Combinations are values of variables that are sets which stand for several others; the server adds those.
	Combinations map[string][]string
}

// NamesBuild says whether a variable names the build of a server, as its image does. The libraries that it uses are not among
// them: another allocator of memory can be why a server is faster.
func NamesBuild(name string) bool {
	switch name {
	case "version", "version_comment", "version_source_revision":
		return true
	}
	return strings.HasPrefix(name, "version_compile_")
}

// Rounding is what the values of a variable are multiples of: To, or the product of the variables By if that is larger. One of
// these that the server does not have counts as 1.
type Rounding struct {
	To int64
	By []string
}

// IsState says whether a variable is one of StateAndIdentity.
func (v *Variables) IsState(name string) bool { return Listed(v.StateAndIdentity, name) }

// Listed says whether a list has the name, or its beginning with a * behind it.
func Listed(list []string, name string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		prefix, isPrefix := strings.CutSuffix(pattern, "*")
		return name == pattern || isPrefix && strings.HasPrefix(name, prefix)
	})
}

// Counters name the status counters that the loader uses.
type Counters struct {
	// Uptime is for how many seconds the server has run, Statements how many it has executed for clients. StatementsBy is the
	// setting without which it does not count these; the zero value is none.
	Uptime, Statements string
	StatementsBy       Setting
	// Fsyncs of the redo log: of these, the first that the server has.
	Fsyncs []Fsyncs
	// LockWaits is how many statements wait for a row lock now.
	LockWaits string
	// PagesWritten is how many pages the server has written back.
	PagesWritten string
	// PoolData is how many bytes of pages the buffer pool holds, RedoWritten how many of redo log the server has written.
	PoolData, RedoWritten string
	// RestPattern selects those below, for LIKE.
	RestPattern string
	// Debt is what the server has put off: it falls while the server works off what was before.
	Debt []Gauge
	// Pending are 0 when the server is at rest.
	Pending []string
	// WriteBack is a statement that returns when the server has written its dirty pages back; empty if there is none. It
	// changes no variable, and may need a privilege, or be unknown to an older server.
	WriteBack string
}

// Fsyncs is a counter of fsyncs, with the name of the metric per transaction.
type Fsyncs struct{ Counter, Metric string }

// Gauge is a counter with the value that it must not exceed on a server at rest: Goal, or a hundredth of another counter.
type Gauge struct {
	Counter     string
	Description string
	Goal        int64
	HundredthOf string
	// Query asks for the value if the server does not have the counter; empty if there is no other way. Its last column is the
	// value or, with Read, a text that Read finds the value in.
	Query string
	Read  func(text string) (value string)
}

// Unfit says why a run does not take an option from the option file of another server; empty if it does.
func (e *Engine) Unfit(name string) string {
	switch {
	case Listed(e.Variables.Hidden, name):
		return "it may hold a secret"
	case slices.Contains(e.Options.Reserved, name) || e.Variables.IsState(name):
		return "it says where a server is, or who reaches it"
	case Listed(e.Variables.Unreadable, name):
		return "it is no variable, so that it could not be read back"
	}
	return ""
}

// NamesIn are the settings that the API has by name and whose variable has another name in another engine, with that name.
func (e *Engine) NamesIn(other *Engine) map[string]string {
	names, theirs := map[string]string{}, other.Options.Named()
	for setting, ours := range e.Options.Named() {
		if name, both := theirs[setting]; both && ours != name {
			names[ours] = name
		}
	}
	return names
}
