// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"testing"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// Of variants, the baseline's settings are shown, and those in which the others differ: what was asked, what the server made of it.
func TestSettings(t *testing.T) {
	pool := result.AppliedSetting{
		Name: "innodb_buffer_pool_size", Requested: "100M", Effective: "134217728", Outcome: result.SettingAdjusted,
	}
	flush := func(v string) result.AppliedSetting {
		return result.AppliedSetting{
			Name: "innodb_flush_log_at_trx_commit", Requested: v, Effective: v, Outcome: result.SettingEffective,
		}
	}
	server := func(v string) result.Document {
		return result.Document{Server: result.ServerFacts{Settings: []result.AppliedSetting{pool, flush(v)}}}
	}
	record := &result.Record{Outcome: result.OutcomeAccepted, Sides: []result.SideRecord{{Variant: "durable"}, {Variant: "lazy"}}}
	doc := &result.Document{Sides: []result.SideDocument{
		{Variant: "durable", Document: server("1")}, {Variant: "lazy", Document: server("0")},
	}}
	r := &report.Report{Variation: report.Variation{Variants: []report.Variant{{Name: "lazy"}, {Name: "durable", Baseline: true}}}}
	r.AddSettings(&result.Record{Outcome: result.OutcomePilot, Sides: record.Sides}, doc)
	must.Same(t, "settings of a pilot", 0, len(r.Settings))
	r.AddSettings(record, doc)
	r.AddSettings(record, &result.Document{Sides: []result.SideDocument{{Variant: "lazy", Document: server("2")}}})
	must.Same(t, "table", [][]string{
		{"variable", "variant", "requested", "effective", "outcome"},
		{pool.Name, "durable", "100M", "134217728", "Adjusted"},
		{"innodb_flush_log_at_trx_commit", "durable", "1", "1", "Effective"},
		{"innodb_flush_log_at_trx_commit", "lazy", "0", "0", "Effective"},
	}, r.SettingsTable().Texts())

	alone := &report.Report{}
	if alone.SettingsTable() != nil {
		t.Error("there is a table of nothing")
	}
	one := server("1")
	alone.AddSettings(&result.Record{Outcome: result.OutcomeAccepted}, &one)
	must.Same(t, "table of one server", [][]string{
		{"variable", "requested", "effective", "outcome"}, {pool.Name, "100M", "134217728", "Adjusted"},
		{"innodb_flush_log_at_trx_commit", "1", "1", "Effective"},
	}, alone.SettingsTable().Texts())
}
