// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tproch

import (
	_ "embed"
	"regexp"
	"strings"
)

// Table is one of the eight tables.
type Table int

// The tables, those before that others refer to.
const (
	Region Table = iota
	Nation
	Supplier
	Customer
	Part
	PartSupp
	Orders
	LineItem
)

// Tables are all tables, parents first.
func Tables() []Table {
	return []Table{Region, Nation, Supplier, Customer, Part, PartSupp, Orders, LineItem}
}

// tables has what the schema says about each table, and its size.
var tables = [...]struct {
	name    string
	columns []string
	parents []Table
	// units at scale 0.01; those of a fixed table are the same at every scale.
	units int64
	fixed bool
}{
	Region: {
		name: "REGION", units: 5, fixed: true,
		columns: []string{"R_REGIONKEY", "R_NAME", "R_COMMENT"},
	},
	Nation: {
		name: "NATION", units: 25, fixed: true, parents: []Table{Region},
		columns: []string{"N_NATIONKEY", "N_NAME", "N_REGIONKEY", "N_COMMENT"},
	},
	Supplier: {
		name: "SUPPLIER", units: 100, parents: []Table{Nation},
		columns: []string{"S_SUPPKEY", "S_NATIONKEY", "S_COMMENT", "S_NAME", "S_ADDRESS", "S_PHONE", "S_ACCTBAL"},
	},
	Customer: {
		name: "CUSTOMER", units: 1500, parents: []Table{Nation},
		columns: []string{
			"C_CUSTKEY", "C_MKTSEGMENT", "C_NATIONKEY", "C_NAME", "C_ADDRESS", "C_PHONE", "C_ACCTBAL", "C_COMMENT",
		},
	},
	Part: {
		name: "PART", units: 2000,
		columns: []string{
			"P_PARTKEY", "P_TYPE", "P_SIZE", "P_BRAND", "P_NAME", "P_CONTAINER", "P_MFGR", "P_RETAILPRICE", "P_COMMENT",
		},
	},
	PartSupp: {
		name: "PARTSUPP", units: 2000 * suppliersPerPart, parents: []Table{Part, Supplier},
		columns: []string{"PS_PARTKEY", "PS_SUPPKEY", "PS_SUPPLYCOST", "PS_AVAILQTY", "PS_COMMENT"},
	},
	Orders: {
		name: "ORDERS", units: 15000, parents: []Table{Customer},
		columns: []string{
			"O_ORDERDATE", "O_ORDERKEY", "O_CUSTKEY", "O_ORDERPRIORITY", "O_SHIPPRIORITY", "O_CLERK", "O_ORDERSTATUS",
			"O_TOTALPRICE", "O_COMMENT",
		},
	},
	LineItem: {
		name: "LINEITEM", units: 15000, parents: []Table{Orders, PartSupp},
		columns: []string{
			"L_SHIPDATE", "L_ORDERKEY", "L_DISCOUNT", "L_EXTENDEDPRICE", "L_SUPPKEY", "L_QUANTITY", "L_RETURNFLAG",
			"L_PARTKEY", "L_LINESTATUS", "L_TAX", "L_COMMITDATE", "L_RECEIPTDATE", "L_SHIPMODE", "L_LINENUMBER",
			"L_SHIPINSTRUCT", "L_COMMENT",
		},
	},
}

// String is the table's name in SQL.
func (t Table) String() string { return tables[t].name }

// Columns are the table's columns in the order of its lines.
func (t Table) Columns() []string { return tables[t].columns }

// Parents are the tables that its foreign keys refer to.
func (t Table) Parents() []Table { return tables[t].parents }

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
