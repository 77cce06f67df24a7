// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
)

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
	err := eachRow(ctx, db, e.Variables.UnknownOptions, func(row *sql.Rows) error {
		var line string
		err := row.Scan(&line)
		t.read(line)
		return err
	})
	if err != nil {
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

// has says whether the server took an option that is no variable.
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
		if _, variable := t.variables[option]; prefixed && (variable || slices.ContainsFunc(t.otherwise, named(option))) {
			return true
		}
	}
	return false
}

// named says whether an entry of a list is an option, or the beginning of one.
func named(option string) func(string) bool {
	return func(entry string) bool {
		start, open := strings.CutSuffix(entry, "*")
		return entry == option || open && strings.HasPrefix(option, start)
	}
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
