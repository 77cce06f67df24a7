// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tproch

import (
	_ "embed"
	"regexp"
	"strings"
)

var (
	//go:embed schema.sql
	schemaSQL string
	//go:embed keys.sql
	keysSQL string
)

// Schema are the statements that make the tables, with their primary keys, in the order of Tables.
func Schema() []string { return statements(schemaSQL) }

// Keys are the statements that add the secondary indexes and foreign keys.
func Keys() []string { return statements(keysSQL) }

var columnType = regexp.MustCompile(`(?m)^  ([A-Z]+_[A-Z]+) ([A-Z]+(?:\([0-9,]+\))?)`)

// ColumnTypes are the types of all columns in Schema, by name: no two tables have columns of the same name.
func ColumnTypes() map[string]string {
	types := map[string]string{}
	for _, found := range columnType.FindAllStringSubmatch(schemaSQL, -1) {
		types[found[1]] = found[2]
	}
	return types
}

func statements(sql string) []string {
	var all []string
	for statement := range strings.SplitSeq(sql, ";") {
		all = append(all, strings.TrimSpace(statement))
	}
	return all
}
