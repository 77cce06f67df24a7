// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package server reads what a database server says about itself: its variables, which are compared with what was asked for, and
// its counters, which show how it is and when it is at rest. What differs from engine to engine, package engine knows.
package server

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

func pairs(ctx context.Context, db *sql.DB, query string) (map[string]string, error) {
	found := make(map[string]string, 1024)
	if err := workload.EachRow(ctx, db, func(row *sql.Rows) error {
		var name string
		var value sql.NullString
		err := row.Scan(&name, &value)
		found[name] = value.String
		return err
	}, query); err != nil {
		return nil, fmt.Errorf("executing %s: %w", query, err)
	}
	return found, nil
}

// Status are the server's status counters.
func Status(ctx context.Context, d *client.Dialect, db *sql.DB) (map[string]string, error) {
	all := map[string]string{}
	for _, q := range d.Server.Status {
		if q.Needs != "" && all[q.Needs] != "true" {
			continue
		}
		found, err := pairs(ctx, db, q.Query)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, found)
	}
	return all, nil
}

// Variables are the server's variables by lower-case name, without secrets.
func Variables(ctx context.Context, e *engine.Engine, d *client.Dialect, db *sql.DB) (map[string]string, error) {
	found, err := pairs(ctx, db, d.Server.Variables)
	if err != nil {
		return nil, err
	}
	variables := make(map[string]string, len(found))
	for name, value := range found {
		variables[strings.ToLower(name)] = value
	}
	for _, name := range e.Variables.Hidden {
		if variables[name] != "" {
			variables[name] = "(hidden)"
		}
	}
	return variables, nil
}

// SessionDifferences are those variables of a session that are not as the server's own.
func SessionDifferences(e *engine.Engine, session, global map[string]string) map[string]string {
	differ := map[string]string{}
	for name, value := range session {
		name = strings.ToLower(name)
		hidden := slices.Contains(e.Variables.Hidden, name)
		if server, isGlobal := global[name]; isGlobal && server != value && !hidden && !e.Variables.IsState(name) {
			differ[name] = value
		}
	}
	return differ
}

// Uptime of the server by its status counters.
func Uptime(e *engine.Engine, status map[string]string) (time.Duration, error) {
	seconds, known := counted(status, e.Counters.Uptime)
	if !known {
		return 0, errors.New("the server's status has no uptime")
	}
	return time.Duration(seconds) * time.Second, nil
}

// Restarted says whether a server was restarted between two readings of its uptime. Uptime is in whole seconds of the
// server's wall clock, which may be set, while the time between is ours: it explains what else is known to be broken, and is
// no proof by itself.
func Restarted(was, is, between time.Duration) bool {
	const rounding = 2 * time.Second
	return is < was || is+rounding < was+between
}

func counted(status map[string]string, name string) (n int64, known bool) {
	n, err := strconv.ParseInt(status[name], 10, 64)
	return n, err == nil
}

// Growth is how much a status counter grew; false if the server does not have it.
func Growth(before, after map[string]string, name string) (int64, bool) {
	was, had := counted(before, name)
	is, has := counted(after, name)
	return max(is-was, 0), had && has && is >= was
}

// Executed is how many statements the server has executed for clients between two readings of its counters, negative after a
// restart; nil if it does not count them.
func Executed(e *engine.Engine, before, after map[string]string) *int64 {
	was, had := counted(before, e.Counters.Statements)
	is, has := counted(after, e.Counters.Statements)
	if !had || !has {
		return nil
	}
	is -= was
	return &is
}

// RedoFsyncs is how often the server flushed its redo log, by the first of the engine's counters that the server has; 0 if it
// has none.
func RedoFsyncs(e *engine.Engine, before, after map[string]string) (metric string, fsyncs int64) {
	for _, f := range e.Counters.Fsyncs {
		if n, known := Growth(before, after, f.Counter); known {
			return f.Metric, n
		}
	}
	return "", 0
}

// WorkingSet between two readings of a server's counters; nil if one of these is missing.
func WorkingSet(e *engine.Engine, before, after map[string]string) *result.WorkingSet {
	redo, grew := Growth(before, after, e.Counters.RedoWritten)
	pool, known := counted(after, e.Counters.PoolData)
	if !grew || !known || pool < 0 {
		return nil
	}
	return &result.WorkingSet{BufferPoolBytes: pool, RedoLogBytes: redo}
}

// Described is the engine with what this server says about the values of its variables, if it has a table of that: numbers are
// multiples of a step, which is at least 1, and an enum has certain values.
func Described(ctx context.Context, e *engine.Engine, db *sql.DB) (*engine.Engine, error) {
	if e.Variables.Descriptions == "" {
		return e, nil
	}
	rounded, enums, units := map[string]base.Rounding{}, map[string][]string{}, map[string]string{}
	if err := workload.EachRow(ctx, db, func(row *sql.Rows) error {
		var name, enum, unit string
		var step int64
		err := row.Scan(&name, &step, &enum, &unit)
		if unit != "" {
			units[name] = unit
		}
		if step > 1 {
			rounded[name] = base.Rounding{To: step}
		}
		if enum != "" {
			enums[name] = strings.Split(enum, ",")
		}
		return err
	}, e.Variables.Descriptions); err != nil {
		return nil, fmt.Errorf("reading what values variables have: %w", err)
	}
	described := describe(e, rounded, enums)
	described.Variables.Units = units
	return described, nil
}

// describe adds what a server says to what is known of its engine, which holds where they differ.
func describe(e *engine.Engine, rounded map[string]base.Rounding, enums map[string][]string) *engine.Engine {
	described := *e
	maps.Copy(rounded, e.Variables.Rounded)
	maps.Copy(enums, e.Variables.Enums)
	described.Variables.Rounded, described.Variables.Enums = rounded, enums
	return &described
}

// SettingsDigest is the hexadecimal SHA-256 of "name=value" and a line break for each variable but
// those of state and identity, sorted by name: equal for servers that are set alike.
func SettingsDigest(e *engine.Engine, variables map[string]string) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if !e.Variables.IsState(name) {
			text.WriteString(name + "=" + variables[name] + "\n")
		}
	}
	return result.NamedDigest([]byte(text.String()))
}

// ChangedVariables names what differs between two readings, with both values, sorted.
func ChangedVariables(e *engine.Engine, before, after map[string]string) []string {
	names := maps.Clone(before)
	maps.Copy(names, after)
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, had := before[name]
		is, has := after[name]
		if (was != is || had != has) && !e.Variables.IsState(name) {
			changed = append(changed, fmt.Sprintf("%s was %q and is now %q", name, was, is))
		}
	}
	return changed
}

// Taken is what is known of the options that a server was started with.
type Taken struct {
	// Given are options that Benchrun has written into the server's option file: it would not have started with one that it does
	// not know, unless that is loose.
	Given bool
	// Log says that unknown, the server's own list of options that it does not know, is to be had. Otherwise the list of those that
	// its engine knows decides, for which variables are options, too.
	Log                bool
	unknown, otherwise []string
	variables          map[string]string
}

// ReadTaken asks the server's log which options it does not know, where a query has it and a loose setting is no variable.
func ReadTaken(
	ctx context.Context, e *engine.Engine, db *sql.DB, cfg *result.Config, variables map[string]string,
) (*Taken, error) {
	t := &Taken{Given: !cfg.Server.Borrowed, otherwise: e.Variables.Unreadable, variables: variables}
	open := slices.ContainsFunc(cfg.Settings, func(s result.Setting) bool {
		o := find(e, s, variables)
		return o.loose && !o.known
	})
	if e.Variables.UnknownOptions == "" || !t.Given || !open {
		return t, nil
	}
	if err := workload.EachRow(ctx, db, func(row *sql.Rows) error {
		var line string
		err := row.Scan(&line)
		t.read(line)
		return err
	}, e.Variables.UnknownOptions); err != nil {
		return nil, fmt.Errorf("reading which options the server does not know: %w", err)
	}
	return t, nil
}

// read takes in a line of the server's log; any line says that there is one. An option stands in it as written, in quotation
// marks and with its value: unknown variable 'loose_x=1'.
func (t *Taken) read(line string) {
	t.Log = true
	if _, quoted, found := strings.Cut(line, "unknown "); found {
		_, quoted, _ = strings.Cut(quoted, "'")
		written, _, _ := strings.Cut(quoted, "'")
		written, _, _ = strings.Cut(written, "=")
		name, _ := optionName(written)
		t.unknown = append(t.unknown, name)
	}
}

func (t *Taken) has(setting result.Setting) bool {
	name, loose := optionName(setting.Name)
	switch {
	case !t.Given:
		return false
	case !loose && !setting.Loose:
		return true
	case t.Log:
		return !slices.Contains(t.unknown, name)
	}
	for _, prefix := range []string{"", "skip_", "disable_", "enable_", "maximum_"} {
		option, prefixed := strings.CutPrefix(name, prefix)
		if _, variable := t.variables[option]; prefixed && (variable || base.Listed(t.otherwise, option)) {
			return true
		}
	}
	return false
}

// Unverified are the settings that the server took and no variable shows.
func Unverified(applied []result.AppliedSetting) []finding.Finding {
	var found []finding.Finding
	for _, a := range applied {
		if a.Outcome == result.SettingNotVerifiable {
			found = append(found, finding.Unverified(a.Name, a.Requested))
		}
	}
	return found
}
