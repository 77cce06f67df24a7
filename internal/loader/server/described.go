// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/engine"
)

// description is what a server says about the values of a variable: numbers are multiples of step, which is at least 1, and an
// enum has these values.
type description struct {
	name string
	step int64
	enum []string
}

// Described is the engine with what this server says about the values of its variables, if it has a table of that.
func Described(ctx context.Context, e *engine.Engine, db *sql.DB) (*engine.Engine, error) {
	if e.Variables.Descriptions == "" {
		return e, nil
	}
	var all []description
	err := eachRow(ctx, db, e.Variables.Descriptions, func(row *sql.Rows) error {
		var d description
		var enum string
		err := row.Scan(&d.name, &d.step, &enum)
		if enum != "" {
			d.enum = strings.Split(enum, ",")
		}
		all = append(all, d)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading what values variables have: %w", err)
	}
	return describe(e, all), nil
}

// describe adds what a server says to what is known of its engine, which holds where they differ.
func describe(e *engine.Engine, all []description) *engine.Engine {
	described := *e
	rounded, enums := map[string]engine.Rounding{}, map[string][]string{}
	for _, d := range all {
		if d.step > 1 {
			rounded[d.name] = engine.Rounding{To: d.step}
		}
		if len(d.enum) > 0 {
			enums[d.name] = d.enum
		}
	}
	maps.Copy(rounded, e.Variables.Rounded)
	maps.Copy(enums, e.Variables.Enums)
	described.Variables.Rounded, described.Variables.Enums = rounded, enums
	return &described
}
