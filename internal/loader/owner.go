// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/schema"
	"github.com/benchrun-dev/benchrun/internal/loader/server"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// owner is what an only Pod and the first of several have in common: it holds the schema, reads what the server says about
// itself, and writes the document.
type owner struct {
	*attempt
	load  load
	watch watch
	// began is when firstStatus was read.
	began       time.Time
	firstStatus map[string]string
}

func (o *owner) prepare(ctx context.Context) error {
	return o.through(ctx, []phase{{"connect", o.connect}, {"readback", o.readback}}, o.prime(), []phase{{"prepare", o.load.prepare}})
}

func (o *owner) connect(ctx context.Context) (err error) {
	if err = o.wait(ctx); err == nil {
		o.keeper, err = schema.Acquire(ctx, o.admin, o.dialect, &o.cfg.Server, o.identity, o.connectAtMost())
	}
	if err == nil && !o.cfg.Server.Borrowed && o.isToCount() {
		_, err = o.admin.ExecContext(ctx, o.dialect.Server.CountStatements)
	}
	return err
}

// isToCount says whether the server counts statements because the run asks for that.
func (o *owner) isToCount() bool {
	by := o.engine.Counters.StatementsBy
	return by.Name != "" && slices.ContainsFunc(o.cfg.Settings, func(s result.Setting) bool {
		return s.Name == by.Name && strings.Contains(s.Value, by.Value)
	})
}

// readback compares the requested settings with the server's before anything is measured.
func (o *owner) readback(ctx context.Context) (err error) {
	o.began = time.Now()
	if o.firstStatus, err = server.Status(ctx, o.dialect, o.admin); err != nil {
		return err
	}
	e, facts := o.engine, &o.server
	if facts.Variables, err = server.Variables(ctx, e, o.dialect, o.admin); err != nil {
		return err
	}
	facts.Version = facts.Variables[e.Variables.Version]
	facts.VersionComment = facts.Variables[e.Variables.VersionComment]
	if !e.Variables.Matches(facts.Version) {
		return failure.Newf(result.CauseSettingNotEffective, "engine %s was requested, but the server is %s", e.Name, facts.Version)
	}
	facts.SettingsDigest = server.SettingsDigest(e, facts.Variables)
	if e, err = server.Described(ctx, e, o.admin); err != nil {
		return err
	}
	taken, err := server.ReadTaken(ctx, e, o.admin, o.cfg, facts.Variables)
	if err != nil {
		return err
	}
	facts.Settings = server.CompareSettings(e, o.cfg.Settings, facts.Variables, taken)
	return server.RefusedSettings(e, o.cfg.Settings, facts.Settings, facts.Variables)
}

// quiesce waits until the server is at rest. Then its node is probed, which nothing disturbs and which disturbs nothing.
func (o *owner) quiesce(ctx context.Context) error {
	if err := o.comeToRest(ctx); err != nil {
		return err
	}
	return o.probe(ctx)
}

func (o *owner) comeToRest(ctx context.Context) error {
	unrest, err := server.Quiesce(ctx, o.engine, o.dialect, o.admin, server.QuiesceAtMost)
	o.findings = append(o.findings, unrest...)
	return err
}

func (o *owner) countBefore(ctx context.Context) (err error) {
	o.observe(ctx, &o.watch.seen.Before)
	o.server.StatusBefore, err = server.Status(ctx, o.dialect, o.admin)
	return err
}

func (o *owner) countAfter(ctx context.Context) (err error) {
	o.observe(ctx, &o.watch.seen.After)
	if o.server.StatusAfter, err = server.Status(ctx, o.dialect, o.admin); err != nil {
		return err
	}
	o.server.WorkingSet = server.WorkingSet(o.engine, o.server.StatusBefore, o.server.StatusAfter)
	up, err := server.Uptime(o.engine, o.server.StatusAfter)
	o.server.UptimeSeconds = int64(up.Seconds())
	return err
}

func (o *owner) verify(ctx context.Context) error {
	if err := o.verifyServer(ctx); err != nil {
		return err
	}
	return o.load.verify(ctx)
}

// verifyServer finds out whether it is still the server that it was, with the variables that it had. The keeper's connection
// is the proof of the first: no server that was restarted, and none behind the same address, has it.
func (o *owner) verifyServer(ctx context.Context) error {
	if err := o.keeper.Holds(ctx); err != nil {
		return o.explain(ctx, err)
	}
	variables, err := server.Variables(ctx, o.engine, o.dialect, o.admin)
	if err != nil {
		return err
	}
	if changed := server.ChangedVariables(o.engine, o.server.Variables, variables); len(changed) > 0 {
		return failure.Newf(result.CauseVariablesChanged, "variables changed during the attempt: %s",
			strings.Join(changed, "; "))
	}
	return nil
}

// explain finds out whether a connection was lost because the server was restarted; err if not, or if that is unknown.
func (o *owner) explain(ctx context.Context, err error) error {
	status, unknown := server.Status(ctx, o.dialect, o.admin)
	between := time.Since(o.began)
	was, unknownBefore := server.Uptime(o.engine, o.firstStatus)
	is, unknownAfter := server.Uptime(o.engine, status)
	if errors.Join(unknown, unknownBefore, unknownAfter) != nil || !server.Restarted(was, is, between) {
		return err
	}
	return failure.New(result.CauseServerRestarted, fmt.Errorf("the server had been up for %s when the attempt began, but %s later "+
		"for %s: %w", was, between.Round(time.Second), is, err))
}

// release implements role. It connects anew, because interrupting has closed every connection.
func (o *owner) release() []finding.Finding {
	if o.keeper == nil {
		return nil
	}
	if !o.cfg.Server.Borrowed {
		o.keeper.Close()
		return nil
	}
	o.progress.Enter("release")
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second) // a Pod that is told to stop has 30
	defer cancel()
	if err := o.removeSchema(ctx); err != nil {
		return []finding.Finding{finding.Left(o.keeper.Schema(), failure.Sentence(o.dialect.Errors.InWords(err)))}
	}
	return nil
}

func (o *owner) removeSchema(ctx context.Context) error {
	anew, err := conn.Open(o.cfg.Server)
	if err != nil {
		return err
	}
	defer anew.End()
	connector, err := anew.Connector("")
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close() //nolint:errcheck // its connections are ended by then
	return o.keeper.Remove(ctx, db)
}

func (o *owner) document() (*result.Document, error) {
	doc := o.about()
	clients, err := o.load.report(doc)
	if err != nil {
		return nil, err
	}
	doc.Findings = slices.Concat(o.findings, doc.Findings, findings(o.engine, doc, clients))
	return doc, o.lead(doc)
}

// lead puts the metric first that was asked for.
func (o *owner) lead(doc *result.Document) error {
	if o.cfg.Metric == "" {
		return nil
	}
	return failure.New(result.CauseConfiguration, doc.Lead(o.cfg.Metric))
}

func (o *owner) about() *result.Document {
	doc := &result.Document{
		Version: result.DocumentVersion, Config: *o.cfg, Phases: o.phases, Server: o.server, Client: o.client, Pods: o.pods,
		Observed: o.watch.observed(),
	}
	if o.turns != nil {
		facts := o.turns.Facts()
		facts.PagesInPauses, facts.Idle, facts.Each = o.pagesInPauses, o.idle, o.slices
		doc.Turns = &facts
	}
	return doc
}
