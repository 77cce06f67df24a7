// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltext

import "strings"

// chain is a name with its qualifiers: s.t or s.t.c, as the places of its first and its last token.
type chain struct{ first, last int }

// names checks that no name is qualified with another schema. Which names stand before dots is certain, what they mean is not: a
// name that stands before a single dot may be that of a table, or its alias, if the statement has that name elsewhere, alone, and
// if the place is none of a table. Whether it is a schema, too, only the server knows.
func (c *checker) names() {
	chains, alone := c.chains()
	for _, name := range chains {
		first := &c.tokens[name.first]
		parts := (name.last-name.first)/2 + 1
		switch qualifier := strings.ToLower(first.Text); {
		case parts <= 3 && c.Schema != "" && first.Text == c.Schema:
		case parts == 2 && !c.strict && alone[qualifier] && !c.tableAt(name):
			c.qualifiers = append(c.qualifiers, first.Text)
		default:
			c.refuseName(name)
		}
	}
}

func (c *checker) refuseName(name chain) {
	first := &c.tokens[name.first]
	var parts []string
	for i := name.first; i <= name.last; i += 2 {
		parts = append(parts, c.tokens[i].Text)
	}
	way := "name tables without a schema"
	if c.Schema != "" {
		way += ", or with the run's own, " + c.Schema
	}
	c.refuse(first, "%s names another schema, %s: %s", strings.Join(parts, "."), first.Text, way)
}

// chains are the qualified names, and in lower case the names that stand alone.
func (c *checker) chains() (chains []chain, alone map[string]bool) {
	alone = map[string]bool{}
	for i := 0; i < len(c.tokens); i++ {
		if !c.tokens[i].named() && c.tokens[i].Kind != Variable {
			continue
		}
		first := i
		for c.token(i+1).is(".") && (c.token(i+2).named() || c.token(i+2).Kind == Number || c.token(i+2).is("*")) {
			i += 2
		}
		switch {
		case c.tokens[first].Kind == Variable: // @@session.sql_mode
		case i == first:
			alone[strings.ToLower(c.tokens[i].Text)] = true
		default:
			if c.tokens[first].Text == c.Schema {
				alone[strings.ToLower(c.tokens[i].Text)] = true
			}
			chains = append(chains, chain{first, i})
		}
	}
	return chains, alone
}

// beforeTables stand before names of tables, and other objects, in every statement.
var beforeTables = []string{
	"JOIN", "STRAIGHT_JOIN", "INTO", "TABLE", "TABLES", "REFERENCES", "UPDATE", "VIEW", "EXISTS", "FOR", "TO", "INSERT",
	"REPLACE", "IGNORE",
	"DELAYED", "LOW_PRIORITY", "HIGH_PRIORITY",
}

// tableAt says whether a name is surely one of a table, or of a function.
func (c *checker) tableAt(name chain) bool {
	before := c.token(name.first - 1)
	return before.isOneOf(beforeTables) || c.token(name.last+1).is("(") || before.is("FROM") && c.selects(name.first-1)
}

// selects says whether FROM is that of a query, and not of EXTRACT(DAY FROM t.d), TRIM(' ' FROM t.a) and the like: whether a
// SELECT stands before it within the same parentheses.
func (c *checker) selects(from int) bool {
	depth := 0
	for i := from - 1; i >= 0; i-- {
		switch t := &c.tokens[i]; {
		case t.is(")"):
			depth++
		case t.is("("):
			if depth--; depth < 0 {
				return false
			}
		case depth == 0 && t.is("SELECT"):
			return true
		}
	}
	return false
}
