// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package loader is what happens in a loader's Pod: one attempt at one trial. It knows nothing of Kubernetes.
//
// In the order of time, with what it takes on an idle server:
//
//	   0 ms  read and check the configuration and the credentials; nothing has been connected to yet
//	         connect     wait until the server answers; a refusal ends the attempt in the server's own words
//	                     take the workload's schema by a lock, register the Pod under a primary key: a second start ends itself
//	 +10 ms  readback    compare every requested setting, as a value, with the server's variables
//	 +10 ms  prepare     make the workload's tables anew
//	         stage       make the files that are loaded, if the workload loads files
//	  +5 ms  quiesce     wait until what the server still has to write and purge is little or gets no less; 60 s at most
//	+500 ms  measure     status counters; CPU time; the clients, each in a closed loop; CPU time; counters
//	+work    verify      same server? same variables? are the rows there, and are they the right ones?
//	         publish     the summary to the termination log, then the document to the output
//
// A progress line is written once a second at most, and none after the document began.
//
// There are two ends before the work is done. The limit of the measured phase lets the client finish its statement,
// commit and go on to verify: that is a result, with a warning. Cancelling the context (SIGTERM) closes every
// connection, so that a caller that waits for the server gets an error at once: that is no result. Whatever ends an attempt,
// the summary says so in a closed set of reasons, and Run returns an error unless the whole result was written.
//
// Durations come from the monotonic clock. While it measures the loader holds no lock, starts no timer and no goroutine
// for a statement, and allocates some 200 bytes for each, so that it is the server that is measured (see package conn).
//
// What is measured is a load: clientLoad if the loader's own clients make it, toolLoad if another program does. What a Pod does
// of an attempt is a role: an only Pod does all of the above; of several, the leader does so too and gathers what the others,
// which follow, have measured at the same time and deliver. A chain measures a workload in stages: each is a load of its own, on
// the data that the one before has left.
package loader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/process"
	"github.com/benchrun-dev/benchrun/internal/loader/progress"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// Input is what one loader Pod is told.
type Input struct {
	// Config is the JSON of a result.Config.
	Config string
	// Identity without Trial, Attempt, Started and Ended, which Run fills in.
	Identity result.Identity
	// PodIndex is the text of which of several Pods this is, counted from 0; empty is 0.
	PodIndex string
	// CPULimitMillis is the text of the container's CPU limit in thousandths of a CPU; empty and 0 are no limit.
	CPULimitMillis string
	// Output receives progress lines and then the document.
	Output io.Writer
	// TerminationLog is the file that receives the summary.
	TerminationLog string
}

// FromEnvironment reads the input from environment variables, whose names internal/result has. getenv is os.Getenv.
func FromEnvironment(getenv func(string) string, version string) Input {
	return Input{
		Config: getenv(result.EnvConfig),
		Identity: result.Identity{
			RunUID:  getenv(result.EnvRunUID),
			PodUID:  getenv(result.EnvPodUID),
			PodName: getenv(result.EnvPodName),
			Node:    getenv(result.EnvNode),
			Loader:  version,
		},
		PodIndex:       getenv(result.EnvPodIndex),
		CPULimitMillis: getenv(result.EnvCPULimitMillis),
	}
}

// Run makes one attempt, or a Pod's part of it. It writes the summary to the termination log and then the document to the output,
// whose last line is the last that it does; when there is no result, it writes a summary that says why, whatever happened. A Pod
// that follows another one writes a summary without a document. It returns nil only if the whole result was written, or
// delivered, and no process of a program was left that could write another one. Cancelling ctx interrupts the attempt at once;
// its cause becomes part of the summary.
func Run(ctx context.Context, in Input) error {
	began := time.Now()
	in.Identity.Started = began.UTC()
	doc, err := attemptGuarded(ctx, &in)
	in.Identity.Ended = began.Add(time.Since(began)).UTC()
	err = errors.Join(err, failure.New(result.CauseToolFailed, process.EndAll()))
	if err == nil {
		if err = publish(in, doc); err == nil {
			return nil
		}
	}
	why := failure.Describe(ctx, err)
	summary := result.Summary{Version: result.DocumentVersion, Identity: in.Identity, Failure: why}
	return errors.Join(fmt.Errorf("%s: %s", why.Reason, why.Message), writeSummary(in.TerminationLog, summary))
}

// attemptGuarded makes the attempt, and turns a panic into an error. Without either a document or an error, this Pod has
// delivered its part to another one.
func attemptGuarded(ctx context.Context, in *Input) (doc *result.Document, err error) {
	out := progress.Start(in.Output)
	defer out.Finish()
	defer failure.Recover(&err)
	if cfg, err := result.ParseConfig([]byte(in.Config)); err == nil && cfg.Sides != nil {
		return measureSides(ctx, in, cfg, out)
	}
	a, w, err := newAttempt(in, out)
	if err != nil {
		return nil, failure.New(result.CauseConfiguration, err)
	}
	return a.measure(ctx, w)
}

func (a *attempt) measure(ctx context.Context, w workload.Workload) (*result.Document, error) {
	defer a.close()
	var l load = &clientLoad{attempt: a, workload: w}
	if w == nil {
		var err error
		if l, err = newToolLoad(a); err != nil {
			return nil, failure.New(result.CauseConfiguration, err)
		}
	}
	defer l.close() //nolint:errcheck // the result does not depend on it
	stop := context.AfterFunc(ctx, a.connections.End)
	defer stop()
	r := newRole(a, w, l)
	if err := inSlices(r, l); a.turns != nil && err != nil {
		return nil, failure.Newf(result.CauseConfiguration, "workload %s cannot be measured in slices: %w", a.cfg.Workload.Type, err)
	}
	err := r.run(ctx)
	for _, left := range r.release() {
		a.findings = append(a.findings, left)
		a.progress.Say(left.String())
	}
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return r.document()
}

// publish writes the summary, and then the document: a follower of the log sees in the last line of the document that the
// attempt has ended.
func publish(in Input, doc *result.Document) error {
	if doc == nil {
		return writeSummary(in.TerminationLog, result.Summary{
			Version: result.DocumentVersion, Identity: in.Identity, Delivered: true,
		})
	}
	doc.Identity = in.Identity
	encoded, err := result.EncodeDocument(doc)
	if err != nil {
		return err
	}
	if err := writeSummary(in.TerminationLog, doc.Summarize(encoded)); err != nil {
		return err
	}
	return result.WriteDocument(in.Output, encoded)
}

// writeSummary overwrites the termination log, so that it holds one summary. A summary that cannot be encoded is
// replaced by one that says so.
func writeSummary(path string, s result.Summary) error {
	data, err := result.EncodeSummary(s)
	if err != nil {
		why := &result.Failure{Reason: result.CauseInternal, Message: err.Error()}
		short := result.Summary{Version: s.Version, Identity: s.Identity, Failure: why}
		var again error
		if data, again = result.EncodeSummary(short); again != nil {
			return errors.Join(err, again)
		}
	}
	// The kubelet made the file, and reads it as root.
	if writeErr := os.WriteFile(path, data, 0o600); writeErr != nil {
		return errors.Join(err, fmt.Errorf("writing the summary: %w", writeErr))
	}
	return err
}
