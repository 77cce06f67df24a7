// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workload says what a workload is: what is sent to the database, in which order, and how it is proved afterwards
// that the database has it. The workloads themselves are in folders of their own beside what several of them need.
//
// How to add one:
//
//  1. a file in api/v1alpha1 with its parameters as a user writes them, and its member in workload_types.go;
//  2. a folder here with its Parameters, a Definition that validates them, and a type with the three methods of Workload;
//  3. a line in package registry;
//  4. a test against the database in internal/loader, because only a server can say that the statements are right;
//  5. a sample, and a page of documentation.
//
// The test in test/cost does the first three.
//
// A workload is a closed loop: the next statement is sent when the previous one was answered. It neither reads a clock
// nor draws random numbers. Time comes from the Recorder that the loader gives it, so that every workload is measured
// alike; data is a function of the seed and the row's number, so that row n is the same in every run, from every client, on
// every machine.
package workload

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Definition is one kind of workload: all that the operator and the loader ask of it. New or NewTool is set, not both.
type Definition struct {
	// Type is the workload's name in the API.
	Type string
	// SQL of the servers that can be loaded; empty is any.
	SQL base.SQL
	// Shared says that several loader Pods can make the load together.
	Shared bool
	// Primes says that the load can be made on a new server before, for a bounded time: each client ends it after a transaction.
	Primes bool
	// Validate checks what the API's schema cannot express about the parameters of one point. It is pure: the operator calls
	// it before anything is created, the loader before the first connection. Errors name fields as the API does.
	Validate func(cfg *result.Config) error
	// Pod is what the workload needs of its loader's Pod; nil if that is nothing.
	Pod func(cfg *result.Config) (Pod, error)
	// New makes a load of the loader's own clients.
	New func(cfg *result.Config) (Workload, error)
	// NewTool makes the load of another program.
	NewTool func(in ToolInput) (Tool, error)
}

// Pod is what a workload needs of its loader's Pod, besides the loader. It knows nothing of Kubernetes.
type Pod struct {
	// Bundle names an image of Benchrun's own that has a program beside the loader; empty is the loader alone.
	Bundle Bundle
	// Image that has the program, if it is not one of Benchrun's. The loader is copied into it. ImageOf is an engine whose image
	// has it, as the installation names that.
	Image, ImageOf string
	// User is the UID that runs Image.
	User int64
	// Work asks for a folder in memory at result.WorkPath.
	Work bool
	// Files is a ConfigMap of the user's, whose keys are files at result.FilesPath; empty if there is none.
	Files string
}

// Bundle is an image of Benchrun's own with a program beside the loader.
type Bundle string

// BundleSysbench has sysbench.
const BundleSysbench Bundle = "sysbench"

// Decode reads a workload's parameters strictly: an unknown field is an error, because a loader that ignores part of its
// parameters measures something else.
func Decode[P any](cfg *result.Config) (*P, error) {
	if len(cfg.Workload.Parameters) == 0 {
		return nil, errors.New("the parameters are missing")
	}
	decoder := json.NewDecoder(bytes.NewReader(cfg.Workload.Parameters))
	decoder.DisallowUnknownFields()
	p := new(P)
	if err := decoder.Decode(p); err != nil {
		return nil, fmt.Errorf("reading the parameters: %w", err)
	}
	return p, nil
}

// Checked is a Validate that is satisfied with parameters that can be read.
func Checked[P any](read func(cfg *result.Config) (P, error)) func(cfg *result.Config) error {
	return func(cfg *result.Config) error {
		_, err := read(cfg)
		return err
	}
}

// maxTries is how often a transaction is tried before its client gives up. One that others disturb by chance hardly ever needs
// three; one that waits for a lock each time would take for ever.
const maxTries = 20

// GaveUp is the error of a transaction that was tried too often. It wraps the last one.
type GaveUp struct{ Last error }

func (g GaveUp) Error() string {
	return fmt.Sprintf("%d tries in a row failed; the last error: %v", maxTries, g.Last)
}

func (g GaveUp) Unwrap() error { return g.Last }

var rollback = []byte("ROLLBACK")

// Retry takes the error of a statement that began at the given time; nil stays nil. If the transaction is to be tried again, it
// rolls it back, because some of these errors end the statement only, and calls again, which executes everything from the
// transaction's beginning up to that statement. It returns the error that remains.
func (c *Client) Retry(began time.Duration, err error, again func() error) error {
	for try := 1; err != nil && c.TryAgain != nil && c.TryAgain(err); try++ {
		c.Recorder.RolledBack(began, c.Recorder.Now())
		if err := c.Session.Exec(rollback); err != nil {
			return fmt.Errorf("rolling a transaction back: %w", err)
		}
		if try == maxTries {
			return GaveUp{Last: err}
		}
		began = c.Recorder.Now()
		err = again()
	}
	return err
}

// Staged is a Workload that is measured in stages, on the tables that its Prepare makes: each stage goes on where the one
// before ended. Its own Measure makes the load of the first stage, which primes a server. Its Verify comes after the last
// stage; the totals are the sums of all stages.
type Staged interface {
	Workload
	// Stages in their order.
	Stages() []Stage
}

// Stage is one of them: it is measured, or the server comes to rest.
type Stage struct {
	// Name of the stage, and of its phase.
	Name string
	// Load is measured as a workload that is measured by itself; its Prepare makes no table. Nil with Rest.
	Load Workload
	// Seconds ends the measured phase; 0 is no limit.
	Seconds int
	// Operations of the measured phase, of which there are a rate and costs: rows, or queries.
	Operations func(t *result.Totals) int64
	// Rest is what happens instead of a measured phase; nil with Load.
	Rest *Rest
}

// Rest has the server come to rest, after statements and for a time at least.
type Rest struct {
	Statements []string
	AtLeast    time.Duration
}

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
	// Uncounted are those of all statements, in slices and besides, that the server does not count.
	Uncounted int64
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
	// User and Password are those of the database. Database is that in which the schema is, for engines that have both.
	User, Password, Database string
	// Sides are how many programs take turns, each of which runs for as long as all; 0 is one.
	Sides int
	// Environ is the loader's own environment.
	Environ []string
}

// ServerCounted checks that the server has counted at least the statements that a tool reports.
func ServerCounted(in VerifyInput) result.Check {
	sent := in.Reading.Totals.Statements + in.Reading.Outside.Statements - in.Reading.Uncounted
	if in.Executed == nil {
		return result.Check{Name: "server", Detail: "the server does not count statements", Passed: true}
	}
	return result.Check{
		Name: "server", Passed: *in.Executed >= sent,
		Detail: fmt.Sprintf("%d queries sent, %d counted by the server", sent, *in.Executed),
	}
}
