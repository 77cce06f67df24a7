// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltext

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Bounds are what the statements of a script must stay within.
type Bounds struct {
	// Schema is the one that may be named. Empty is none: names stand alone.
	Schema string
	// Engine is a storage engine that tables may have beside those that keep their rows within the schema.
	Engine string
}

// Read splits a script, and checks that every statement is one that makes or fills tables, views, indexes or sequences, or sets
// up its session, and that none names another schema, however a server of whatever version reads it. Qualifiers are the names
// that stand before columns' names, as aliases do: a script is within its bounds if the server has no schemas of these names.
// Statements that are not to be sent are marked.
func Read(script string, bounds Bounds) (statements []Statement, qualifiers []string, err error) {
	if statements, err = Split(script); err != nil {
		return nil, nil, err
	}
	if len(statements) == 0 {
		return nil, nil, errors.New("there is no statement")
	}
	for i := range statements {
		if statements[i].Unsent = statements[i].bookkeeping(); statements[i].Unsent {
			continue
		}
		c := &checker{Bounds: bounds}
		c.check(&statements[i])
		if c.reason != "" {
			return nil, nil, refused(i+1, c.line, c.reason)
		}
		qualifiers = append(qualifiers, c.qualifiers...)
	}
	slices.Sort(qualifiers)
	return statements, slices.Compact(qualifiers), nil
}

// check a statement as each server reads it, until something is wrong.
func (c *checker) check(s *Statement) {
	readings := s.readings()
	if readings == nil {
		c.refuse(&s.tokens[0], "more than %d versions of servers in comments that they execute (/*!50001 … */)", mostVersions)
	}
	for _, tokens := range readings {
		if len(tokens) > 0 && c.reason == "" {
			c.tokens, c.at = tokens, 0
			c.statement()
			c.names()
		}
	}
}

type checker struct {
	Bounds
	tokens []Token
	// at is the place of the token that comes next.
	at int
	// strict statements have no columns: every qualifier is a schema.
	strict     bool
	qualifiers []string
	// reason and line are of the first thing that is wrong.
	reason string
	line   int
}

func (c *checker) refuse(t *Token, format string, arguments ...any) {
	if c.reason == "" {
		c.reason, c.line = fmt.Sprintf(format, arguments...), t.Line
	}
}

var nothing = Token{Kind: Symbol}

func (c *checker) token(i int) *Token {
	if i < 0 || i >= len(c.tokens) {
		return &nothing
	}
	return &c.tokens[i]
}

// word passes over the next token and returns it in capitals, if it is a word.
func (c *checker) word() string {
	t := c.token(c.at)
	c.at++
	if t.Kind != Word {
		return ""
	}
	return strings.ToUpper(t.Text)
}

// ways are what to do about a statement that is refused, by its first words.
var ways = map[string]string{
	"USE":       "dump one database by its name, without --databases",
	"DATABASE":  "dump with --no-create-db, without --databases",
	"SCHEMA":    "dump with --no-create-db, without --databases",
	"DELIMITER": "it is a command of the client's: dump with --skip-triggers, without --routines and --events",
	"TRIGGER":   "dump with --skip-triggers",
	"PROCEDURE": "dump without --routines",
	"FUNCTION":  "dump without --routines",
	"PACKAGE":   "dump without --routines",
	"EVENT":     "dump without --events",
	"GLOBAL":    "set the variable in database.variables",
}

const takes = "schemaFrom takes CREATE, ALTER and DROP of tables, views, indexes and sequences, INSERT, REPLACE, SET of " +
	"session variables, LOCK TABLES, UNLOCK TABLES, START TRANSACTION and COMMIT"

// refuseStatement says that there is no such statement here, and what to do.
func (c *checker) refuseStatement(words string) {
	way := takes
	for word := range strings.FieldsSeq(words) {
		way = cmp.Or(ways[word], way)
	}
	if strings.TrimSpace(words) == "" {
		words = fmt.Sprintf("what begins with %q", c.token(0).Text)
	}
	c.refuse(c.token(0), "%s is not allowed: %s", strings.TrimSpace(words), way)
}

func (c *checker) statement() {
	switch verb := c.word(); verb {
	case "CREATE", "ALTER", "DROP":
		c.object(verb)
		c.strict = c.strict || verb == "DROP"
	case "INSERT", "REPLACE":
	case "LOCK", "UNLOCK":
		c.strict = true
		c.followedBy(verb, "TABLES", "TABLE")
	case "SET":
		c.strict = true
		c.set()
	case "COMMIT", "BEGIN":
		if len(c.tokens) > 1 {
			c.followedBy(verb, "WORK")
		}
		if len(c.tokens) > 2 {
			c.refuseStatement(verb + " " + strings.ToUpper(c.tokens[2].Text))
		}
	case "DO":
		c.strict = true // mariadb-dump sets sequences with it
		c.followedBy(verb, "SETVAL")
	case "START":
		c.followedBy(verb, "TRANSACTION")
	default:
		c.refuseStatement(verb)
	}
	c.refuseWords()
}

// followedBy refuses a verb unless one of those words is next.
func (c *checker) followedBy(verb string, words ...string) {
	if object := c.word(); !slices.Contains(words, object) {
		c.refuseStatement(verb + " " + object)
	}
}

// object checks the kind of object that is made, changed or dropped. Modifiers stand before it.
func (c *checker) object(verb string) {
	for {
		switch object := c.word(); object {
		case "TABLE", "TABLES":
			c.strict = !slices.ContainsFunc(c.tokens, func(t Token) bool { return t.is("SELECT") })
			c.options()
			return
		case "INDEX", "SEQUENCE":
			c.strict = true
			return
		case "VIEW":
			return
		case "OR", "REPLACE", "TEMPORARY", "UNIQUE", "FULLTEXT", "SPATIAL", "VECTOR", "ONLINE", "OFFLINE", "IGNORE", "SQL":
		case "ALGORITHM", "DEFINER":
			c.assigned()
		case "SECURITY":
			c.at++
		default:
			c.refuseStatement(verb + " " + object)
			return
		}
	}
}

func (c *checker) assigned() {
	if c.token(c.at).is("=") {
		c.at++
	}
	c.at++
	for c.token(c.at).Kind == Variable || c.token(c.at).is("(") || c.token(c.at).is(")") {
		c.at++
	}
}

// engines keep their rows in the schema that the table is in.
var engines = []string{
	"INNODB", "MYISAM", "ARIA", "MEMORY", "HEAP", "ARCHIVE", "CSV", "BLACKHOLE", "ROCKSDB", "TOKUDB", "COLUMNSTORE", "NDB",
	"NDBCLUSTER", "SEQUENCE",
}

func (c *checker) checkEngine(t *Token) {
	if name := t.Text; !strings.EqualFold(name, c.Engine) && !slices.Contains(engines, strings.ToUpper(name)) {
		c.refuse(t, "storage engine %s is not allowed: its tables may have their rows elsewhere; use %s", name,
			strings.Join(engines[:3], ", "))
	}
}

var beforeColumns = []string{"ADD", "COLUMN", "CHANGE", "DROP", "EXISTS", "KEY", "INDEX", "BY", "TO"}

func (c *checker) options() {
	depth, partitioned := 0, false
	for i := c.at; i < len(c.tokens); i++ {
		t := &c.tokens[i]
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is("PARTITION") && depth == 0:
			partitioned = true
		case depth > 0 && !partitioned:
		case t.is("ENGINE") && c.token(i+1).is("="):
			c.checkEngine(c.token(i + 2))
		case t.is("ENGINE") && !c.token(i-1).isOneOf(beforeColumns):
			c.checkEngine(c.token(i + 1))
		case t.is("CONNECTION") && (c.token(i+1).is("=") || c.token(i+1).Kind == Text):
			c.refuse(t, "CONNECTION is not allowed: the table would have its rows on another server")
		}
	}
}

// refuseWords refuses what reaches the files of the server, and what could begin another statement.
func (c *checker) refuseWords() {
	for i := range c.tokens {
		t := &c.tokens[i]
		switch {
		case t.is(";"):
			c.refuse(t, "a semicolon stands within a comment that servers execute (/*! … */): write it plainly")
		case t.Kind != Word || c.token(i-1).is("."):
		case t.is("OUTFILE"), t.is("DUMPFILE"), t.is("LOAD_FILE"):
			c.refuse(t, "%s is not allowed: it reaches the server's files", strings.ToUpper(t.Text))
		case t.is("DIRECTORY") && (c.token(i-1).is("DATA") || c.token(i-1).is("INDEX")):
			c.refuse(t, "%s DIRECTORY is not allowed: the table's files would be outside of its schema",
				strings.ToUpper(c.token(i-1).Text))
		}
	}
}
