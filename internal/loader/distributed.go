// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"fmt"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// follows says whether this Pod only loads: another one prepares, verifies and publishes.
func (a *attempt) follows() bool { return a.cfg.Pod > 0 }

// followerPhases are those of a Pod that follows.
func (a *attempt) followerPhases() []phase {
	if a.tool != nil {
		return []phase{{"connect", a.join}, {"warmup", a.warmUpTool}, {"measure", a.measureTool}, {"deliver", a.deliver}}
	}
	return []phase{{"connect", a.join}, {"prepare", a.planOnly}, {"measure", a.measure}, {"deliver", a.deliver}}
}

// join waits for the server, and for the Pod that leads.
func (a *attempt) join(ctx context.Context) error {
	if err := conn.Wait(ctx, a.anywhere, a.connectAtMost()); err != nil {
		return failed(result.CauseConnect, err)
	}
	return a.barrier.join(ctx)
}

// planOnly leaves the tables to the Pod that leads.
func (a *attempt) planOnly(context.Context) error {
	planned, ok := a.workload.(workload.Planned)
	if !ok {
		return fmt.Errorf("workload %s cannot be shared by several Pods", a.cfg.Workload.Type)
	}
	a.plan = planned.Plan()
	// One Pod asks for the sizes of the table.
	a.plan.Milestones.Sizes = ""
	return nil
}

// facts are this Pod's part.
func (a *attempt) facts(clients int, t result.Totals) result.PodFacts {
	return result.PodFacts{
		Pod: a.cfg.Pod, PodUID: a.identity.PodUID, PodName: a.identity.PodName, Node: a.identity.Node,
		Clients: clients, Rows: t.Rows, Transactions: t.Transactions, Micros: t.Micros, Client: a.client,
	}
}

// part is what this Pod measured.
func (a *attempt) part() (*part, error) {
	if a.tool != nil {
		return a.toolPart(), nil
	}
	p, err := measuredPart(a.measured, a.milestones)
	if err != nil {
		return nil, err
	}
	p.StoppedBy = a.stopped
	p.Facts, p.Loader = a.facts(a.plan.Clients, p.Totals), a.identity.Loader
	return p, nil
}

// deliver hands this Pod's part to the one that leads.
func (a *attempt) deliver(ctx context.Context) error {
	p, err := a.part()
	if err != nil {
		return err
	}
	encoded, err := p.encode()
	if err != nil {
		return err
	}
	return a.barrier.deliver(ctx, encoded)
}

// collect waits for the parts of the other Pods and adds them to this one's.
func (a *attempt) collect(ctx context.Context) error {
	encoded, err := a.barrier.collect(ctx)
	if err != nil {
		return err
	}
	if err := a.countAfter(ctx); err != nil {
		return err
	}
	own, err := a.part()
	if err != nil {
		return err
	}
	parts := []*part{own}
	for i, data := range encoded {
		p, err := decodePart(data, a.identity.Loader)
		if err != nil {
			return failed(result.CauseInternal, err)
		}
		if p.Facts.Pod != i+1 {
			return failedf(result.CauseInternal, "pod %d delivered in the name of Pod %d", p.Facts.Pod, i+1)
		}
		parts = append(parts, p)
	}
	for _, p := range parts {
		a.pods = append(a.pods, p.Facts)
	}
	a.client = sumOfClients(a.pods)
	if a.tool != nil {
		return a.mergeTools(parts[1:])
	}
	return a.mergeParts(parts[1:])
}

// mergeParts adds what other Pods measured.
func (a *attempt) mergeParts(others []*part) error {
	var points [][]partMilestone
	for _, p := range others {
		r, err := p.recorder()
		if err != nil {
			return failed(result.CauseInternal, err)
		}
		a.measured.merge(r)
		if p.StoppedBy == result.StoppedBySeconds {
			a.stopped = p.StoppedBy
		}
		points = append(points, p.Milestones)
	}
	return a.milestones.merge(points, a.measured.totals.Rows, a.measured.ended)
}

// rowsOfPods are the rows that each Pod has sent.
func (a *attempt) rowsOfPods() []int64 {
	if len(a.pods) == 0 {
		return []int64{a.measured.totals.Rows}
	}
	var rows []int64
	for _, p := range a.pods {
		rows = append(rows, p.Rows)
	}
	return rows
}

// sumOfClients is what all Pods consumed together; the resident memory is the largest one.
func sumOfClients(pods []result.PodFacts) result.ClientFacts {
	var sum result.ClientFacts
	for _, p := range pods {
		c := p.Client
		sum.UserMicros += c.UserMicros
		sum.SystemMicros += c.SystemMicros
		sum.CPULimitMillis += c.CPULimitMillis
		sum.CPUs = max(sum.CPUs, c.CPUs)
		sum.MaxRSSBytes = max(sum.MaxRSSBytes, c.MaxRSSBytes)
		if c.ThrottledMicros < 0 || sum.ThrottledMicros < 0 {
			sum.ThrottledMicros = -1 // unknown of one is unknown of all
		} else {
			sum.ThrottledMicros += c.ThrottledMicros
		}
	}
	return sum
}

// newBarrier is nil for an only Pod.
func (a *attempt) newBarrier() *barrier {
	if a.cfg.Pods < 2 {
		return nil
	}
	return &barrier{
		db: a.admin, schema: a.cfg.Server.Schema, id: a.identity, pods: a.cfg.Pods, atMost: a.connectAtMost(),
	}
}

func (a *attempt) connectAtMost() time.Duration {
	return time.Duration(a.cfg.ConnectSeconds) * time.Second
}
