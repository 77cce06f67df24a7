// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// ServerSettings are the settings that were asked of a variant's server, beside what it made of them.
type ServerSettings struct {
	// Variant is empty without variants.
	Variant  string                  `json:"variant,omitempty"`
	Settings []result.AppliedSetting `json:"settings"`
}

// AddSettings keeps the settings of the servers of an attempt that counts, of each variant those of its first: a server that has
// others later is a finding.
func (r *Report) AddSettings(record *result.Record, doc *result.Document) {
	if record.Outcome != result.OutcomeAccepted {
		return
	}
	if len(record.Sides) == 0 {
		r.addSettings("", doc)
	}
	for _, side := range record.Sides {
		r.addSettings(side.Variant, doc.Side(side.Variant))
	}
}

func (r *Report) addSettings(variant string, doc *result.Document) {
	known := slices.ContainsFunc(r.Settings, func(s ServerSettings) bool { return s.Variant == variant })
	if !known && len(doc.Server.Settings) > 0 {
		r.Settings = append(r.Settings, ServerSettings{variant, doc.Server.Settings})
	}
}

// SettingsTable has what was asked of each server, and what it made of that: of variants, the baseline's settings, and those in
// which the others differ from it; nil if it is not known.
func (r *Report) SettingsTable() *Table {
	t := &Table{Name: "Requested settings", Head: Texts("variable", "requested", "effective", "outcome")}
	if r.HasVariants() {
		t.Head = Texts("variable", "variant", "requested", "effective", "outcome")
	}
	var baseline []result.AppliedSetting
	for _, server := range r.Settings {
		if server.Variant == r.Baseline() {
			baseline = server.Settings
		}
	}
	for _, server := range r.Settings {
		for _, s := range server.Settings {
			if server.Variant == r.Baseline() || !slices.Contains(baseline, s) {
				t.Rows = append(t.Rows, settingRow(&s, server.Variant))
			}
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

func settingRow(s *result.AppliedSetting, variant string) Row {
	cells := []Cell{Words(s.Name), Words(s.Requested), Words(s.Effective), Words(string(s.Outcome))}
	if variant != "" {
		cells = slices.Insert(cells, 1, Words(variant))
	}
	row := Row{Cells: cells}
	if s.Outcome != result.SettingEffective {
		row.Class = "differs"
	}
	return row
}
