// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sqltext reads a script of SQL before it is sent: it takes the script apart into statements, and checks that each of
// them stays within one schema.
package sqltext

import (
	"slices"
	"strconv"
	"strings"
)

// Statement of a script.
type Statement struct {
	// Text is that of the script, without the semicolon at its end and comments before it.
	Text string
	// Line, from 1, on which it begins.
	Line int
	// Unsent statements are about the whole server, and none of a run's: see Read.
	Unsent bool
	tokens []Token
}

// Split splits a script into its statements. Semicolons within quotation marks and comments separate nothing; comments alone are
// no statement, unless some server executes them (/*! … */).
func Split(script string) ([]Statement, error) {
	l := &lexer{script: strings.TrimPrefix(script, "\ufeff"), line: 1}
	var all []Statement
	var tokens []Token
	end := func() {
		if len(tokens) > 0 {
			first, last := &tokens[0], &tokens[len(tokens)-1]
			all = append(all, Statement{Text: l.script[l.opening(first):l.closing(last)], Line: first.Line, tokens: tokens})
		}
		tokens = nil
	}
	for {
		t, more := l.next()
		switch {
		case l.err != "":
			return nil, refused(len(all)+1, l.line, l.err)
		case !more:
			end()
			return all, nil
		case t.is(";") && t.when == nil:
			end()
		default:
			tokens = append(tokens, t)
		}
	}
}

// opening is where a statement begins whose first token that is: with the comment that the token stands in, if it does.
func (l *lexer) opening(t *Token) int {
	if t.when == nil {
		return t.from
	}
	return strings.LastIndex(l.script[:t.from], "/*")
}

// closing is where a statement ends whose last token that is.
func (l *lexer) closing(t *Token) int {
	if t.when == nil {
		return t.to
	}
	return t.to + through(l.script[t.to:], "*/")
}

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
	"REPLACE", "IGNORE", "DELAYED", "LOW_PRIORITY", "HIGH_PRIORITY",
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

// condition is that of a comment which servers execute: /*!50001 … */ is for those that are at least 5.0.1, /*M!100100 … */ for
// MariaDB at least 10.1.0. Without a version it is for all.
type condition struct {
	mariaDB bool
	version int
}

const (
	// noServer is a version that mariadb-dump writes so that no server executes the comment.
	noServer = 999999
	// mostVersions are more than dumps have in one statement.
	mostVersions = 32
	// MariaDB leaves comments without an M to MySQL from this version up to that one.
	fromMySQL, toMySQL = 50700, 99999
)

// conditionOf is the condition of the comment that a text begins with, and the length of what stands before its content; nil if
// no server executes it.
func conditionOf(text string) (*condition, int) {
	when, head := &condition{}, len("/*!")
	switch {
	case strings.HasPrefix(text, "/*M!"):
		when.mariaDB, head = true, len("/*M!")
	case !strings.HasPrefix(text, "/*!"):
		return nil, 0
	}
	if n := min(Digits(text[head:]), 6); n >= 5 {
		when.version, _ = strconv.Atoi(text[head : head+n]) // it has six digits at most
		head += n
	}
	return when, head
}

func (c *condition) holds(mariaDB bool, version int) bool {
	switch {
	case c == nil:
		return true
	case c.version > version:
		return false
	case mariaDB:
		return c.mariaDB || c.version < fromMySQL || c.version > toMySQL
	}
	return !c.mariaDB
}

// readings are the tokens that different servers read of a statement: of each engine, for each version that makes a difference.
// There are none if these are too many.
func (s *Statement) readings() [][]Token {
	versions := []int{0}
	for i := range s.tokens {
		if when := s.tokens[i].when; when != nil {
			versions = append(versions, when.version)
		}
	}
	if len(versions) == 1 {
		return [][]Token{s.tokens}
	}
	slices.Sort(versions)
	versions = slices.Compact(versions)
	if len(versions) > mostVersions {
		return nil
	}
	var all [][]Token
	for _, mariaDB := range []bool{true, false} {
		for _, version := range versions {
			others := func(t Token) bool { return !t.when.holds(mariaDB, version) }
			all = append(all, slices.DeleteFunc(slices.Clone(s.tokens), others))
		}
	}
	return all
}

// unreplicated are variables of a session that hide its statements from the server's replicas, or change how they get there.
var unreplicated = []string{
	"SQL_LOG_BIN", "SKIP_REPLICATION", "WSREP_ON", "SERVER_ID", "GTID_NEXT", "GTID_DOMAIN_ID", "GTID_SEQ_NO", "BINLOG_FORMAT",
}

// bookkeeping says whether a statement is one with which mysqldump carries the state of replication over to another server: it is
// about all of that server, says nothing of the tables, and is not sent.
func (s *Statement) bookkeeping() bool {
	t := s.tokens
	several := func(t Token) bool { return t.is(",") || t.is(";") }
	if len(t) < 5 || !t[0].is("SET") || !t[2].is(".") || slices.ContainsFunc(t, several) {
		return false
	}
	return strings.EqualFold(t[1].Text, "@@GLOBAL") && t[3].is("GTID_PURGED") ||
		strings.EqualFold(t[1].Text, "@@SESSION") && t[3].is("SQL_LOG_BIN")
}

func (c *checker) set() {
	depth, begins := 0, true
	for ; c.at < len(c.tokens); c.at++ {
		switch t := c.token(c.at); {
		case begins:
			c.target()
			begins = false
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is(",") && depth == 0:
			begins = true
		}
	}
}

// noVariables are what SET takes that are no variables.
var noVariables = []string{"PASSWORD", "ROLE", "DEFAULT", "RESOURCE", "STATEMENT"}

func (c *checker) target() {
	t := c.token(c.at)
	scope, name := strings.ToUpper(strings.TrimPrefix(t.Text, "@@")), t
	system := t.Kind == Variable && strings.HasPrefix(t.Text, "@@")
	switch {
	case system && c.token(c.at+1).is("."):
		name = c.token(c.at + 2)
	case t.Kind == Word && (c.token(c.at+1).named() || c.token(c.at+1).Kind == Variable):
		name = c.token(c.at + 1) // SESSION sort_buffer_size
	}
	switch {
	case t.isOneOf(noVariables):
		c.refuseStatement("SET " + scope)
	case scope == "GLOBAL" || scope == "PERSIST" || scope == "PERSIST_ONLY":
		c.refuseStatement("SET GLOBAL")
	case slices.Contains(unreplicated, strings.ToUpper(strings.TrimPrefix(name.Text, "@@"))):
		c.refuse(t, "SET %s is not allowed: replicas of the server would not get what follows as they should",
			strings.ToLower(strings.TrimPrefix(name.Text, "@@")))
	case strings.HasSuffix(strings.ToUpper(name.Text), "STORAGE_ENGINE"):
		c.assignedEngine()
	}
}

// assignedEngine checks the storage engine that is assigned next: by its name, since only that says which it is.
func (c *checker) assignedEngine() {
	for i := c.at; i < len(c.tokens) && !c.token(i).is(","); i++ {
		if !c.token(i).is("=") {
			continue
		}
		if t := c.token(i + 1); t.named() || t.Kind == Text {
			c.checkEngine(t)
		} else {
			c.refuse(t, "a storage engine is set by its name")
		}
		return
	}
}
