// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package statements is the workload Statements: the loader's own clients send SQL of the user's.
package statements

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/script"
)

// Definition of the workload.
var Definition = workload.Definition{
	Type: "Statements", Shared: true, Primes: true, Validate: workload.Checked(parameters), Pod: pod,
	New: New,
}

// Parameters are those of the API's member statements at one point.
type Parameters struct {
	// Setup is SQL that makes the tables; nil if there is none to make.
	Setup   *Setup `json:"setup,omitempty"`
	Clients int32  `json:"clients"`
	// RatePerSecond is how many transactions are begun, by all clients together; 0 is as many as they can.
	RatePerSecond int32 `json:"ratePerSecond,omitempty"`
	WarmupSeconds int32 `json:"warmupSeconds,omitempty"`
	// Protocol is Prepared or Text.
	Protocol     string        `json:"protocol"`
	Transactions []Transaction `json:"transactions"`
}

// Setup is a key of a ConfigMap.
type Setup struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// Transaction is a kind of them.
type Transaction struct {
	Name string `json:"name"`
	// Weight is how often it is begun, in proportion to those of the others.
	Weight int32  `json:"weight"`
	Script string `json:"script"`
}

const (
	protocolPrepared = "Prepared"
	// clientID is a variable that every script has: the number of the client, from 0.
	clientID = "client_id"
	// defaultSeconds is what the API says of a load without limits.seconds.
	defaultSeconds = 60
)

func parameters(cfg *result.Config) (*Parameters, error) {
	p, _, err := compiled(cfg)
	return p, err
}

// compiled are the parameters, and the scripts of the transactions.
func compiled(cfg *result.Config) (p *Parameters, scripts []*script.Script, err error) {
	if p, err = workload.Decode[Parameters](cfg); err != nil {
		return nil, nil, err
	}
	share := workload.ShareOf(cfg)
	err = cmp.Or(
		workload.AtLeast("clients", p.Clients, 1), workload.AtLeast("ratePerSecond", p.RatePerSecond, 0),
		workload.Within("warmupSeconds", p.WarmupSeconds, 0, 3600), share.Enough("clients", int64(p.Clients)),
		workload.OneOf("protocol", p.Protocol, protocolPrepared, "Text"))
	if err == nil && len(p.Transactions) == 0 {
		err = errors.New("transactions is empty")
	}
	if err == nil && p.RatePerSecond > 0 {
		err = share.Enough("ratePerSecond", int64(p.RatePerSecond))
	}
	for i := 0; err == nil && i < len(p.Transactions); i++ {
		var s *script.Script
		if s, err = p.compile(i, script.Dialect(engine.SQL(cfg.Server.Engine))); err != nil {
			err = fmt.Errorf("transactions: %s: %w", p.Transactions[i].Name, err)
		}
		scripts = append(scripts, s)
	}
	return p, scripts, err
}

var (
	nameForm = regexp.MustCompile(`^[a-z][a-zA-Z0-9]{0,39}$`)
	// taken are names that latencies have already.
	taken = []string{
		"commit", "insert", "delete", "query", "load", "wait", "rolledBack", "transaction", "queued", "index", "statement",
	}
)

// compile finds what is wrong with a transaction before anything is started, also what only shows when it is executed.
func (p *Parameters) compile(i int, dialect script.Dialect) (*script.Script, error) {
	t := &p.Transactions[i]
	if !nameForm.MatchString(t.Name) {
		return nil, errors.New("its name must be letters and digits, at most 40, beginning in lower case")
	}
	if slices.Contains(slices.Concat(taken, names(p.Transactions[:i])), t.Name) {
		return nil, errors.New("another latency has this name: use another one")
	}
	if err := workload.Within("weight", t.Weight, 1, 1000); err != nil {
		return nil, err
	}
	s, err := script.Compile(t.Script, dialect, []string{clientID})
	if err != nil {
		return nil, err
	}
	return s, s.Run(s.NewVars(), script.NewRandom(generate.Mix(1)), func(int) error { return nil })
}

func names(transactions []Transaction) (all []string) {
	for _, t := range transactions {
		all = append(all, t.Name)
	}
	return all
}

func pod(cfg *result.Config) (workload.Pod, error) {
	p, err := workload.Decode[Parameters](cfg)
	if err != nil || p.Setup == nil {
		return workload.Pod{}, err
	}
	return workload.Pod{Files: p.Setup.Name}, nil
}
