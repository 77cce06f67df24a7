// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package statements

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

func configOf(change func(*result.Config, *Parameters)) *result.Config {
	cfg := &result.Config{Seed: 42, Server: result.Server{Engine: "PostgreSQL"}}
	p := &Parameters{Clients: 1, Protocol: "Text", Transactions: []Transaction{
		{Name: "pay", Weight: 3, Script: "\\set a random(1, 5)\nUPDATE t SET b = :a;\nINSERT INTO u VALUES (:a)"},
		{Name: "look", Weight: 1, Script: "SELECT :client_id"},
		{Name: "own", Weight: 1, Script: "begin;\nSELECT 1;\nEND"},
	}}
	if change != nil {
		change(cfg, p)
	}
	cfg.Workload = workloadtest.Load(Definition, p)
	return cfg
}

func TestRefused(t *testing.T) {
	for want, change := range map[string]func(*result.Config, *Parameters){
		"clients is 0 but must be at least 1":                   func(_ *result.Config, p *Parameters) { p.Clients = 0 },
		"transactions is empty":                                 func(_ *result.Config, p *Parameters) { p.Transactions = nil },
		`protocol is "" but must be`:                            func(_ *result.Config, p *Parameters) { p.Protocol = "" },
		"transactions: commit: another latency has this name":   func(_ *result.Config, p *Parameters) { p.Transactions[1].Name = "commit" },
		"transactions: pay: another latency has this name":      func(_ *result.Config, p *Parameters) { p.Transactions[1].Name = "pay" },
		"transactions: Pay: its name must be":                   func(_ *result.Config, p *Parameters) { p.Transactions[0].Name = "Pay" },
		"transactions: look: weight is 0 but must be 1 to 1000": func(_ *result.Config, p *Parameters) { p.Transactions[1].Weight = 0 },
		"transactions: look: line 1: the variable":              func(_ *result.Config, p *Parameters) { p.Transactions[1].Script = "SELECT :x" },
		`transactions: look: line 1: in "random(5, 1)"`: func(_ *result.Config, p *Parameters) {
			p.Transactions[1].Script = "\\set x random(5, 1)\nSELECT :x"
		},
		"clients is 1 but must be at least loader.pods": func(cfg *result.Config, _ *Parameters) { cfg.Pods = 2 },
	} {
		must.Refused(parameters(configOf(change)))(t, want)
	}
}

// listening is a session and a recorder that keep what they are told.
type listening struct {
	*workloadtest.Script
	sent   []string
	done   map[int]int
	failed int
}

func (l *listening) Exec(statement []byte) error {
	l.sent = append(l.sent, string(statement))
	return nil
}

func (l *listening) Do(statement []byte) (int64, error) {
	if l.failed > 0 {
		l.failed--
		return 0, workloadtest.ErrDeadlock
	}
	return 1, l.Exec(statement)
}

func (l *listening) Done(kind int, _, _, _ time.Duration, rows, again int64) {
	l.done[kind]++
	l.sent = append(l.sent, fmt.Sprintf("-- %d: %d rows, %d again", kind, rows, again))
}

func (*listening) Executed(time.Duration, time.Duration)   {}
func (*listening) RolledBack(time.Duration, time.Duration) {}

func (l *listening) runner(t *testing.T, change func(*result.Config, *Parameters)) *runner {
	t.Helper()
	w := must.Get(New(configOf(change)))(t).(*load)
	w.Plan()
	l.Script, l.done = &workloadtest.Script{}, map[int]int{}
	return w.newRunner(&workload.Client{Session: l, Recorder: l, TryAgain: func(err error) bool { return errors.Is(err, workloadtest.ErrDeadlock) }})
}

// Several statements are one transaction, unless they begin one themselves; one is a transaction by itself.
func TestTransactions(t *testing.T) {
	l := &listening{}
	r := l.runner(t, nil)
	for range 1000 {
		must.Do(t, r.transaction(0))
	}
	for kind, want := range []int{600, 200, 200} {
		if got := l.done[kind]; got < want-60 || got > want+60 {
			t.Errorf("%d transactions of kind %d, want about %d", got, kind, want)
		}
	}
	text := strings.Join(l.sent, "\n")
	must.Has(t, text,
		"BEGIN\nUPDATE t SET b = 3\nINSERT INTO u VALUES (3)\nCOMMIT\n-- 0: 2 rows, 0 again\n", "\nSELECT 0\n-- 1: 1 rows, 0 again\n",
		"\nbegin\nSELECT 1\nEND\n-- 2: 3 rows, 0 again\n",
	)
}

// What is tried again has the same values.
func TestTryAgain(t *testing.T) {
	l := &listening{failed: 2}
	r := l.runner(t, func(_ *result.Config, p *Parameters) { p.Transactions = p.Transactions[:1] })
	r.saved = *r.random
	must.Do(t, r.transaction(0))
	first := strings.Join(l.sent, "\n")
	same := &listening{}
	must.Do(t, same.runner(t, func(_ *result.Config, p *Parameters) { p.Transactions = p.Transactions[:1] }).transaction(0))
	want := strings.TrimSuffix(strings.Join(same.sent, "\n"), "0 again")
	must.Same(t, "sent", "BEGIN\nROLLBACK\nBEGIN\nROLLBACK\n"+want+"2 again", first)
}

func TestNothingIsAllocated(t *testing.T) {
	w := must.Get(New(configOf(nil)))(t).(*load)
	w.Plan()
	var quiet workloadtest.Silence
	r := w.newRunner(&workload.Client{Session: quiet, Recorder: quiet})
	if n := testing.AllocsPerRun(1000, func() { _ = r.transaction(0) }); n > 0 {
		t.Errorf("%g allocations for a transaction", n)
	}
}
