// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
)

// maxDocumentOutput is how much of a phase's output goes into the document; the middle of a longer one is left out.
const maxDocumentOutput = 1 << 20

// maxTailLine is how much of each of a failed program's last lines goes to the Pod's log.
const maxTailLine = 4 << 10

// toolAttempt is what an attempt needs besides, if another program makes the load.
type toolAttempt struct {
	workload.Tool
	dir     string
	facts   result.ToolFacts
	inputs  []result.Input
	output  map[string]string
	reading *workload.Reading
	checks  []result.Check
	// executed is what this Pod executed in the phases that several Pods share.
	executed []toolExecution
}

// toolExecution is what a Pod executed in a phase.
type toolExecution struct {
	Phase     workload.ToolPhase  `json:"phase"`
	Execution *workload.Execution `json:"execution"`
}

// newToolAttempt makes the tool's folder and fills it. close removes it.
func newToolAttempt(cfg *result.Config) (*toolAttempt, error) {
	user, err := conn.ReadCredential(cfg.Server.UserFile)
	if err != nil {
		return nil, err
	}
	password, err := conn.ReadCredential(cfg.Server.PasswordFile)
	if err != nil {
		return nil, err
	}
	parent := result.WorkPath
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		parent = "" // outside of a Pod
	}
	dir, err := os.MkdirTemp(parent, "tool-")
	if err != nil {
		return nil, fmt.Errorf("making the tool's folder: %w", err)
	}
	t := &toolAttempt{dir: dir, output: map[string]string{}}
	if err := t.fill(workload.ToolInput{
		Config: cfg, Dir: dir, User: user, Password: password, Environ: os.Environ(),
	}); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

func (t *toolAttempt) fill(in workload.ToolInput) error {
	var err error
	if t.Tool, err = registry.NewTool(in); err != nil {
		return err
	}
	for name, content := range t.Files() {
		if err := os.WriteFile(filepath.Join(t.dir, name), []byte(content), 0o600); err != nil {
			return fmt.Errorf("writing the tool's files: %w", err)
		}
	}
	t.facts.Name = t.Name()
	t.inputs, err = inputs(&in.Config.Workload)
	return err
}

func (t *toolAttempt) close() error { return os.RemoveAll(t.dir) }

// inputs are the files that the run brought along.
func inputs(w *result.Workload) ([]result.Input, error) {
	var paths []string
	if w.Sysbench != nil && w.Sysbench.ScriptFile != "" {
		paths = append(paths, w.Sysbench.ScriptFile)
	}
	if w.Custom != nil && w.Custom.Files {
		// The kubelet's own links begin with two dots.
		found, err := filepath.Glob(result.FilesPath + "/[^.]*")
		if err != nil {
			return nil, fmt.Errorf("looking for the run's files: %w", err)
		}
		paths = append(paths, found...)
	}
	var all []result.Input
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading the run's files: %w", err)
		}
		sum := sha256.Sum256(data)
		all = append(all, result.Input{Name: filepath.Base(path), Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:])})
	}
	return all, nil
}

// executeAll executes the commands of a phase, one after another, and keeps what they print and find out.
func (a *attempt) executeAll(ctx context.Context, phase workload.ToolPhase) error {
	for _, command := range a.tool.Commands(phase) {
		if _, err := a.runProgram(ctx, phase, command); err != nil {
			return err
		}
	}
	return failedChecks(a.tool.checks)
}

// runProgram executes a command and judges how it ended.
func (a *attempt) runProgram(ctx context.Context, phase workload.ToolPhase, command workload.Command) (*execution, error) {
	t := a.tool
	e, err := execute(ctx, command, func(line string) {
		if text := t.Progress(line); text != "" {
			a.progress.note(text)
		}
	})
	if err != nil {
		return nil, failed(result.FailureTool, err)
	}
	if phase == workload.PhaseWarmup || phase == workload.PhaseMeasure {
		t.executed = append(t.executed, toolExecution{phase, &e.Execution})
	}
	return e, a.judge(phase, string(phase), &e.Execution)
}

// judge notes what was executed, under a key for its output, and what that found out.
func (a *attempt) judge(phase workload.ToolPhase, key string, e *workload.Execution) error {
	t := a.tool
	t.facts.Commands = append(t.facts.Commands, result.ToolCommand{
		Phase: key, Args: e.Args, ExitCode: e.ExitCode, Micros: e.Took.Microseconds(),
	})
	t.output[key] = withoutMiddle(t.output[key]+e.Output, maxDocumentOutput)
	checks, err := t.Judge(phase, e)
	if err != nil {
		return a.toolFailure(e, err)
	}
	t.checks = append(t.checks, checks...)
	return nil
}

// toolFailure tells a tool that failed from one whose server was taken away. Its last lines go to the Pod's log, whole: the
// failure's message has room for some of them only.
func (a *attempt) toolFailure(e *workload.Execution, err error) error {
	for _, line := range e.Tail {
		a.progress.say(result.Truncate(line, maxTailLine))
	}
	if errors.Is(err, workload.ErrConnectionLost) {
		return failed(result.FailureConnectionLost, err)
	}
	return failed(result.FailureTool, err)
}

// withoutMiddle leaves out whole lines in the middle of a text that is too long.
func withoutMiddle(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := text[:limit/3], text[len(text)-limit/3*2:]
	head = head[:strings.LastIndexByte(head, '\n')+1]
	tail = tail[strings.IndexByte(tail, '\n')+1:]
	return fmt.Sprintf("%s[%d bytes are left out here]\n%s", head, len(text)-len(head)-len(tail), tail)
}

// prepareTool makes the tool's data, unless an earlier trial left the same.
func (a *attempt) prepareTool(ctx context.Context) error {
	dataset := a.tool.Dataset()
	if dataset == "" {
		return a.executeAll(ctx, workload.PhasePrepare)
	}
	there, err := hasDataset(ctx, a.db, dataset)
	if err != nil || there {
		return err
	}
	if err := a.executeAll(ctx, workload.PhasePrepare); err != nil {
		return err
	}
	return recordDataset(ctx, a.db, dataset)
}

func (a *attempt) cleanUpTool(ctx context.Context) error {
	return a.executeAll(ctx, workload.PhaseCleanup)
}

// verifyTool is verify for a load that another program made.
func (a *attempt) verifyTool(ctx context.Context) error {
	if err := a.verifyServer(ctx); err != nil {
		return err
	}
	r := a.tool.reading
	checks, err := a.tool.Verify(ctx, workload.VerifyInput{
		DB: a.db, Reading: r, StatusBefore: a.server.StatusBefore, StatusAfter: a.server.StatusAfter,
	})
	if err != nil {
		return fmt.Errorf("verifying the data: %w", err)
	}
	a.tool.checks = append(append(a.tool.checks, r.Checks...), checks...)
	return a.executeAll(ctx, workload.PhaseVerify)
}

// toolDocument puts together what is known. Its identity is filled in when it is published.
func (a *attempt) toolDocument() *result.Document {
	t, r := a.tool, a.tool.reading
	doc := &result.Document{
		Version: result.DocumentVersion, Config: *a.cfg, Phases: a.phases, Totals: r.Totals, Metrics: r.Metrics,
		Latencies: r.Latencies, Series: r.Series, Server: a.server, Client: a.client, Pods: a.pods, Checks: t.checks,
		Inputs: t.inputs, Tool: &t.facts, ToolOutput: t.output,
	}
	if n := r.Totals.Transactions; n > 0 {
		if name, fsyncs := redoFsyncs(a.engine, a.server.StatusBefore, a.server.StatusAfter); fsyncs > 0 {
			doc.Metrics = append(doc.Metrics, result.Metric{
				Name: name, Value: float64(fsyncs) / float64(n), Unit: "fsyncs/transaction", Better: "lower",
			})
		}
		doc.Metrics = append(doc.Metrics, result.Metric{
			Name: "clientMicrosPerTransaction", Value: float64(a.client.UserMicros+a.client.SystemMicros) / float64(n),
			Unit: "µs/transaction", Better: "lower",
		})
	}
	clients := r.Clients
	if clients == 0 {
		clients = runtime.NumCPU()
	}
	doc.Warnings = append(append(a.warnings, r.Warnings...), warnings(doc, clients, 0)...)
	return doc
}

// toolPhases are the phases of a load that another program makes.
func (a *attempt) toolPhases() []phase {
	phases := []phase{{"connect", a.connect}, {"readback", a.readback}, {"prepare", a.prepareTool}}
	if a.barrier != nil {
		phases = append(phases, phase{"gather", a.barrier.gather})
	}
	phases = append(phases, phase{"quiesce", a.quiesce}, phase{"warmup", a.warmUpTool}, phase{"measure", a.measureTool})
	if a.barrier != nil {
		phases = append(phases, phase{"collect", a.collect})
	}
	return append(phases, phase{"verify", a.verifyTool}, phase{"cleanup", a.cleanUpTool})
}
