// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tproch makes the data of eight tables that are derived from the public TPC-H specification: its tables, its
// numbers of rows, its keys, ranges and average widths; in the order of columns and with the types that HammerDB's
// TPROC-H has. What the free text says is our own. Numbers that are measured with it are no TPC-H results and are not
// comparable with any.
//
// A table's rows are made by units: a unit is one row, but for LINEITEM, where it is the rows of one order. Unit n is a
// function of the seed, the table and n, so that any part of a table can be made alone, at the same time as others, on
// any machine. What two tables must agree about (an order's price and its items, for example) both compute from the same
// stream of numbers; no table is kept in memory.
//
// A row is a line of text: columns separated by '|', none after the last, a line feed at the end. No text has one of
// these, or a backslash, in it. Dates are YYYY-MM-DD, prices have two decimal places. So LOAD DATA converts nothing, and
// the server's own text form of a row is the line, byte for byte: that is how a loaded table is checked.
package tproch

import (
	_ "embed"
	"regexp"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/workload/generate"
)

var regionNames = [...]string{"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"}

var nations = [...]struct {
	name   string
	region int64
}{
	{"ALGERIA", 0},
	{"ARGENTINA", 1},
	{"BRAZIL", 1},
	{"CANADA", 1},
	{"EGYPT", 4},
	{"ETHIOPIA", 0},
	{"FRANCE", 3},
	{"GERMANY", 3},
	{"INDIA", 2},
	{"INDONESIA", 2},
	{"IRAN", 4},
	{"IRAQ", 4},
	{"JAPAN", 2},
	{"JORDAN", 4},
	{"KENYA", 0},
	{"MOROCCO", 0},
	{"MOZAMBIQUE", 0},
	{"PERU", 1},
	{"CHINA", 2},
	{"ROMANIA", 3},
	{"SAUDI ARABIA", 4},
	{"VIETNAM", 2},
	{"RUSSIA", 3},
	{"UNITED KINGDOM", 3},
	{"UNITED STATES", 1},
}

var (
	segments   = []string{"AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"}
	priorities = []string{"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"}
	shipModes  = []string{"AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"}
	instructs  = []string{"COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"}
	typeSizes  = []string{"ECONOMY", "LARGE", "MEDIUM", "PROMO", "SMALL", "STANDARD"}
	typeCoats  = []string{"ANODIZED", "BRUSHED", "BURNISHED", "PLATED", "POLISHED"}
	typeMetals = []string{"BRASS", "COPPER", "NICKEL", "STEEL", "TIN"}
	boxSizes   = []string{"JUMBO", "LG", "MED", "SM", "WRAP"}
	boxKinds   = []string{"BAG", "BOX", "CAN", "CASE", "DRUM", "JAR", "PACK", "PKG"}
	colours    = []string{
		"amber", "apricot", "ash", "azure", "beige", "black", "blue", "brick", "bronze", "brown", "buff", "carmine",
		"charcoal", "cherry", "cobalt", "copper", "coral", "cream", "crimson", "cyan", "ebony", "emerald", "fawn", "ginger",
		"golden", "granite", "green", "grey", "hazel", "indigo", "ivory", "jade", "lavender", "lemon", "lilac", "lime",
		"linen", "magenta", "mahogany", "maroon", "mauve", "mint", "mustard", "ochre", "olive", "orange", "orchid", "peach",
		"pearl", "pink", "plum", "purple", "red", "rose", "ruby", "russet", "saffron", "salmon", "sand", "sapphire",
		"scarlet", "sepia", "silver", "slate", "smoke", "tan", "teal", "topaz", "turquoise", "umber", "violet", "walnut",
		"wheat", "white", "yellow",
	}
)

// A line's fields are appended one after the other, each with the separator behind it; ended makes the last one the line's end.

func (d *Data) region(dst []byte, n int64) []byte {
	draw := generate.At(d.keys[Region], n)
	dst = appendInt(dst, n)
	dst = appendWord(dst, regionNames[n])
	return ended(d.appendComment(dst, &draw, 31, 115))
}

func (d *Data) nation(dst []byte, n int64) []byte {
	draw := generate.At(d.keys[Nation], n)
	dst = appendInt(dst, n)
	dst = appendWord(dst, nations[n].name)
	dst = appendInt(dst, nations[n].region)
	return ended(d.appendComment(dst, &draw, 31, 114))
}

func (d *Data) supplier(dst []byte, n int64) []byte {
	draw := generate.At(d.keys[Supplier], n)
	nation := draw.Between(0, int64(len(nations))-1)
	dst = appendInt(dst, n+1)
	dst = appendInt(dst, nation)
	dst = d.appendComment(dst, &draw, 25, 100)
	dst = appendNumbered(dst, "Supplier#", n+1)
	dst = appendAddress(dst, &draw)
	dst = appendPhone(dst, &draw, nation)
	return ended(appendCents(dst, draw.Between(-999_99, 9999_99)))
}

func (d *Data) customer(dst []byte, n int64) []byte {
	draw := generate.At(d.keys[Customer], n)
	dst = appendInt(dst, n+1)
	dst = appendWord(dst, pick(&draw, segments))
	nation := draw.Between(0, int64(len(nations))-1)
	dst = appendInt(dst, nation)
	dst = appendNumbered(dst, "Customer#", n+1)
	dst = appendAddress(dst, &draw)
	dst = appendPhone(dst, &draw, nation)
	dst = appendCents(dst, draw.Between(-999_99, 9999_99))
	return ended(d.appendComment(dst, &draw, 29, 116))
}

func (d *Data) part(dst []byte, n int64) []byte {
	draw := generate.At(d.keys[Part], n)
	maker := draw.Between(1, 5)
	dst = appendInt(dst, n+1)
	dst = appendWords(dst, &draw, typeSizes, typeCoats, typeMetals)
	dst = appendInt(dst, draw.Between(1, 50))
	dst = appendInt(append(dst, "Brand#"...), maker*10+draw.Between(1, 5))
	dst = appendWords(dst, &draw, colours, colours, colours, colours, colours)
	dst = appendWords(dst, &draw, boxSizes, boxKinds)
	dst = appendInt(append(dst, "Manufacturer#"...), maker)
	dst = appendCents(dst, retailPrice(n+1))
	return ended(d.appendComment(dst, &draw, 5, 22))
}

// retailPrice of a part in hundredths.
func retailPrice(part int64) int64 { return 900_00 + part/10%20001 + 100*(part%1000) }

const suppliersPerPart = 4

// supplierOf is the key of one of a part's four suppliers, i from 0 to 3. They are different ones at every scale.
func (d *Data) supplierOf(part, i int64) int64 {
	suppliers := d.Units(Supplier)
	return (part+i*(suppliers/suppliersPerPart+(part-1)/suppliers))%suppliers + 1
}

func (d *Data) partSupp(dst []byte, n int64) []byte {
	draw := generate.At(d.keys[PartSupp], n)
	part := n/suppliersPerPart + 1
	dst = appendInt(dst, part)
	dst = appendInt(dst, d.supplierOf(part, n%suppliersPerPart))
	// The column is a whole number: anything else would be rounded by the server, with a warning.
	dst = appendInt(dst, draw.Between(1, 1000))
	dst = appendInt(dst, draw.Between(1, 9999))
	return ended(d.appendComment(dst, &draw, 49, 198))
}

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

var tables = [...]struct {
	name    string
	parents []Table
	// units at scale 0.01; those of a fixed table are the same at every scale.
	units int64
	fixed bool
}{
	Region:   {name: "REGION", units: 5, fixed: true},
	Nation:   {name: "NATION", units: 25, fixed: true, parents: []Table{Region}},
	Supplier: {name: "SUPPLIER", units: 100, parents: []Table{Nation}},
	Customer: {name: "CUSTOMER", units: 1500, parents: []Table{Nation}},
	Part:     {name: "PART", units: 2000},
	PartSupp: {name: "PARTSUPP", units: 2000 * suppliersPerPart, parents: []Table{Part, Supplier}},
	Orders:   {name: "ORDERS", units: 15000, parents: []Table{Customer}},
	LineItem: {name: "LINEITEM", units: 15000, parents: []Table{Orders, PartSupp}},
}

// String is the table's name in SQL.
func (t Table) String() string { return tables[t].name }

// Columns are the table's columns in the order of its lines.
func (t Table) Columns() []string { return columns[t] }

// Types are those of the columns, as CREATE TABLE has them.
func (t Table) Types() []string { return types[t] }

// Parents are the tables that its foreign keys refer to.
func (t Table) Parents() []Table { return tables[t].parents }

var (
	//go:embed schema.sql
	schemaSQL string
	//go:embed keys.sql
	keysSQL string
)

// Schema are the statements that make the tables, with their primary keys, in the order of Tables.
func Schema() []string { return strings.Split(strings.TrimSpace(schemaSQL), ";\n\n") }

// Keys are the statements that add the secondary indexes and foreign keys.
func Keys() []string { return strings.Split(strings.TrimSpace(keysSQL), ";\n\n") }

var columnType = regexp.MustCompile(`(?m)^  ([A-Z]+_[A-Z]+) ([A-Z]+(?:\([0-9,]+\))?)`)

// columns of the tables, and their types, are those of Schema.
var columns, types = func() (names, sqlTypes [LineItem + 1][]string) {
	for t, create := range Schema() {
		for _, found := range columnType.FindAllStringSubmatch(create, -1) {
			names[t], sqlTypes[t] = append(names[t], found[1]), append(sqlTypes[t], found[2])
		}
	}
	return names, sqlTypes
}()
