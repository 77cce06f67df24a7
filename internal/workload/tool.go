// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// ErrConnectionLost is wrapped by the errors of a Tool that lost its connection to the server: the attempt was disturbed.
var ErrConnectionLost = errors.New("the connection to the server was lost")

// ErrTooManyConnections is wrapped by the errors of a Tool for which the server had no connection left.
var ErrTooManyConnections = errors.New("the server has no connection left")

// Tool is a load that another program makes. It says which commands are executed when, and what their output means; the
// loader executes them, one after another and never by a shell.
type Tool interface {
	// Name of the program.
	Name() string
	// Files are to be in the tool's folder before the first command, readable for no other user.
	Files() map[string]string
	// Commands of a phase, in order; none if it has nothing to do. PhaseMeasure has one.
	Commands(phase ToolPhase) []Command
	// Judge says whether a command did its work, and what it found out. An exit code of 0 alone does not say so.
	Judge(phase ToolPhase, e *Execution) ([]result.Check, error)
	// Progress is what a line of the measured command's output says to a user who waits; empty if it is nothing.
	Progress(line string) string
	// Read says what the measured command measured, which each of several Pods has executed at the same time.
	Read(executions []*Execution) (*Reading, error)
	// Verify compares what the server has with what was measured. A check that does not hold is no error.
	Verify(ctx context.Context, in VerifyInput) ([]result.Check, error)
	// Dataset is what prepare makes.
	Dataset() Dataset
}

// Dataset is what a tool's prepare makes, for later trials to use again.
type Dataset struct {
	// Name is the same for the same data. Empty: no other trial may use them.
	Name string
	// Spent says that the load writes to them: it may use what an earlier trial left, and leaves nothing for later ones.
	Spent bool
}

// ToolPhase is when a command is executed.
type ToolPhase string

const (
	// PhasePrepare makes the tool's data. What an earlier attempt left is removed.
	PhasePrepare ToolPhase = "prepare"
	// PhaseWarmup comes after the server has come to rest, and just before what is measured.
	PhaseWarmup ToolPhase = "warmup"
	// PhaseMeasure is what is measured.
	PhaseMeasure ToolPhase = "measure"
	// PhaseVerify finds out whether the data are what they should be.
	PhaseVerify ToolPhase = "verify"
	// PhaseCleanup removes the data.
	PhaseCleanup ToolPhase = "cleanup"
)

// Command is a program to execute.
type Command struct {
	// Args are the program and its arguments. They hold no secret.
	Args []string
	// Env are the only environment variables that it gets. One may be a secret: they are never disclosed.
	Env []string `json:"-"`
	// Dir is the folder that it is started in; empty is the loader's own.
	Dir string `json:"-"`
}

// Execution is how a command ended.
type Execution struct {
	Command
	ExitCode int
	// Signal ended the program, if it did not end itself.
	Signal string
	// Output is what it printed on both of its outputs, in order; the middle is left out if it is long.
	Output string
	// Tail are the last lines of Output.
	Tail []string
	Took time.Duration
	// Began is when it was started, since the start that several Pods have in common.
	Began time.Duration
	// Slices are those that it was executed in; nil if it was in one piece. Its own times then have the pauses in them.
	Slices *Slices `json:"-"`
}

// Slices are what the server did for a program in them.
type Slices struct {
	// Statements that it has executed, and those of them that count.
	Statements, Counted int64
	// Active is for how long the program ran or its last statements did, Windows the part of it in which statements count.
	Active, Windows time.Duration
	// LongestDrain is the longest time from a slice's end, as it was asked for, to the end of the last statement.
	LongestDrain time.Duration
}

// Sliced is a Tool whose program can be halted and continued while it is measured.
type Sliced interface {
	// Sliced are the clients of the program, and for how long it is measured; or the error that it cannot be halted.
	Sliced() (clients int, limit time.Duration, err error)
}

// Lines are the lines of what a program printed, without their ends and without empty ones. A carriage return ends a line, too:
// programs that show their progress in place print one.
func Lines(output string) iter.Seq[string] {
	return strings.FieldsFuncSeq(output, func(r rune) bool { return r == '\n' || r == '\r' })
}

// End says how the command ended.
func (e *Execution) End() string {
	if e.Signal != "" {
		return "signal " + e.Signal
	}
	return fmt.Sprintf("exit code %d", e.ExitCode)
}

// Reading is what a tool measured.
type Reading struct {
	Totals result.Totals
	// Outside is what was done besides, in slices, and LongestDrain that of these.
	Outside      result.Totals
	LongestDrain time.Duration
	// Metrics are the numbers to compare, the headline first.
	Metrics   []result.Metric
	Latencies []result.Latency
	Series    []result.Interval
	Checks    []result.Check
	Findings  []finding.Finding
	Version   string
	// Clients is the number of connections; 0 is not known.
	Clients int
}

// VerifyInput is what there is to compare.
type VerifyInput struct {
	DB      *sql.DB
	Reading *Reading
	// Executed is how many statements the server counted for clients around what was measured; nil if it does not count them.
	Executed *int64
}

// ToolInput is what a tool is made of.
type ToolInput struct {
	Config *result.Config
	// Dir is the tool's folder.
	Dir string
	// User and Password are those of the database.
	User, Password string
	// Sides are how many programs take turns, each of which runs for as long as all; 0 is one.
	Sides int
	// Environ is the loader's own environment.
	Environ []string
}

// ServerCounted checks that the server has counted at least the statements that a tool reports.
func ServerCounted(in VerifyInput) result.Check {
	sent := in.Reading.Totals.Statements + in.Reading.Outside.Statements
	if in.Executed == nil {
		return result.Check{Name: "server", Detail: "the server does not count statements", Passed: true}
	}
	return result.Check{
		Name: "server", Passed: *in.Executed >= sent,
		Detail: fmt.Sprintf("%d queries sent, %d counted by the server", sent, *in.Executed),
	}
}
