// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package script compiles and executes a script in the language of pgbench's custom scripts: one transaction with random
// values, which each client executes over and over.
//
// A line that begins with \set NAME EXPRESSION sets a variable. A backslash at the end of the line continues it. Everything else
// is SQL: statements separated by semicolons, in which :NAME is the value of a variable that is predefined or set before.
// Comments and quoted text are left alone, and so are :: and :=.
//
// Expressions have 64-bit integers, decimals, the operators + - * / %, parentheses, variables as :NAME, and the functions abs,
// greatest, least, mod, random, random_exponential, random_gaussian and random_zipfian, with the meaning that the documentation
// of pgbench gives them.
package script

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

const (
	maxBytes      = 1 << 20
	maxStatements = 64
	maxVariables  = 128
	maxNameLength = 64
)

// Script is a compiled script. It is immutable and safe for concurrent use.
type Script struct {
	text       string
	names      names
	statements []Statement
	program    []instruction
	// height of the stack that the expressions need.
	height int
}

// instruction executes a statement or, if it has operations, sets a variable. The index is that of the statement or variable.
type instruction struct {
	index      int
	operations []operation
}

// Statement is one SQL statement, without the semicolon and the comments around it.
type Statement struct {
	// Line of the script on which the statement begins, from 1.
	Line int
	// Args are the indexes of the variables for Vars.Value, in the order of use. A variable that is used twice is listed twice.
	Args []int
	// parts are the text before, between and after the variables.
	parts []string
}

// Text returns the statement with a placeholder for each use of a variable. Uses are numbered from 1.
func (st *Statement) Text(placeholder func(n int) string) string {
	var text strings.Builder
	for i := range st.Args {
		text.WriteString(st.parts[i])
		text.WriteString(placeholder(i + 1))
	}
	text.WriteString(st.parts[len(st.Args)])
	return text.String()
}

// Append appends the statement with the values of the variables as decimal numbers. It does not allocate if dst has room.
func (st *Statement) Append(dst []byte, vars *Vars) []byte {
	for i, variable := range st.Args {
		dst = append(dst, st.parts[i]...)
		dst = vars.values[variable].append(dst)
	}
	return append(dst, st.parts[len(st.Args)]...)
}

// Statements returns the statements in the order of the script. Callers must not change them.
func (s *Script) Statements() []Statement { return s.statements }

// Run executes the script once: in its order, it sets variables and calls execute with the index of each statement. It returns
// the first error: that of execute, unchanged, or an *Error with an Expression, which divides by zero, has a result or an operand
// that is out of range, or calls a random function with a lower bound above the upper bound or with a parameter that is out of
// range. Run does not allocate unless it fails.
func (s *Script) Run(vars *Vars, random *Random, execute func(i int) error) error {
	for i := range s.program {
		step := &s.program[i]
		if step.operations == nil {
			if err := execute(step.index); err != nil {
				return err
			}
			continue
		}
		if failed, err := vars.evaluate(step.operations, random); err != nil {
			return &Error{Line: line(s.text, failed.from), Expression: s.text[failed.from:failed.to], Reason: err.Error()}
		}
		vars.values[step.index] = vars.stack[0]
	}
	return nil
}

// Error says why a script cannot be compiled, or why an expression cannot be computed.
type Error struct {
	// Line of the script, from 1; 0 if the error concerns the whole script.
	Line int
	// Expression is the part of an expression that cannot be computed; empty if the script cannot be compiled.
	Expression string
	Reason     string
}

func (e *Error) Error() string {
	text := e.Reason
	if e.Expression != "" {
		text = "in " + excerpt(e.Expression) + ": " + text
	}
	if e.Line > 0 {
		text = fmt.Sprintf("line %d: %s", e.Line, text)
	}
	return text
}

var continued = strings.NewReplacer("\\\n", " ", "\\\r\n", " ")

// excerpt returns the beginning of a text, on one line and in quotation marks.
func excerpt(text string) string {
	const most = 80
	if len(text) > most {
		text = text[:most] + "…"
	}
	line := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, continued.Replace(text))
	return `"` + strings.Join(strings.Fields(line), " ") + `"`
}

// failure returns an Error at a position in a script.
func failure(text string, at int, format string, arguments ...any) error {
	return &Error{Line: line(text, at), Reason: fmt.Sprintf(format, arguments...)}
}

func line(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }

// Compile compiles a script of at most 1 MiB and 64 statements. There may be at most 128 variables, including the predefined
// ones, which are set before the script. Every error is an *Error.
func Compile(text string, dialect Dialect, predefined []string) (*Script, error) {
	s := &Script{text: strings.TrimPrefix(text, "\ufeff")}
	if len(text) > maxBytes {
		return nil, &Error{Reason: fmt.Sprintf("the script has %d bytes; at most %d are allowed", len(text), maxBytes)}
	}
	if i := strings.IndexByte(s.text, 0); i >= 0 {
		return nil, failure(s.text, i, "a NUL byte: is the text UTF-16? Save it as UTF-8")
	}
	for _, name := range predefined {
		if _, err := s.declare(name); err != nil {
			return nil, &Error{Reason: err.Error()}
		}
	}
	c := compiler{Script: s, dialect: dialect, fresh: true, first: -1}
	for c.at < len(s.text) {
		if err := c.read(); err != nil {
			return nil, err
		}
	}
	if err := c.endStatement(); err != nil {
		return nil, err
	}
	if len(s.statements) == 0 {
		return nil, &Error{Reason: "the script has no statement"}
	}
	return s, nil
}

// names of variables, by their index.
type names []string

func (n names) find(text string, at int, name string) (int, error) {
	if i := slices.Index(n, name); i >= 0 {
		return i, nil
	}
	return 0, failure(text, at, "the variable %s is not set before it is used; set so far: %s. "+
		"A colon followed by a space is not a variable", excerpt(name), cmp.Or(strings.Join(n, ", "), "none"))
}

// declare returns the index of a variable, which it adds if it is new.
func (s *Script) declare(name string) (int, error) {
	switch i := slices.Index(s.names, name); {
	case i >= 0:
		return i, nil
	case name == "" || nameLength(name) < len(name) || len(name) > maxNameLength:
		return 0, fmt.Errorf("%s is not a valid name of a variable: use a letter or _, and up to %d letters, digits or _ after it",
			excerpt(name), maxNameLength-1)
	case len(s.names) == maxVariables:
		return 0, fmt.Errorf("the script has more than %d variables", maxVariables)
	}
	s.names = append(s.names, name)
	return len(s.names) - 1, nil
}

// compiler compiles the script from position at on.
type compiler struct {
	*Script
	dialect Dialect
	at      int
	// fresh is true as long as the line has only blanks.
	fresh bool
	// first is the beginning of the current statement, negative if there is none; part is the beginning of its current part, last
	// the end of its last token.
	first, part, last int
	statement         Statement
	operations        int
}

// read consumes a blank, a comment, a token of a statement, or a command.
func (c *compiler) read() error {
	rest, fresh := c.text[c.at:], c.fresh
	c.fresh = false
	switch b := rest[0]; {
	case strings.IndexByte(blanks, b) >= 0:
		c.fresh = fresh || b == '\n'
		c.at++
		return nil
	case b == '\\' && (fresh || c.first < 0):
		return c.command(fresh)
	case b == ';':
		c.at++
		return c.endStatement()
	}
	length, mark := c.dialect.token(rest)
	switch {
	case length == 0:
		return failure(c.text, c.at, "the %s on this line is not closed", mark)
	case mark == "/*" || mark == "--":
		c.at += length
		return nil
	case c.first < 0:
		c.first, c.part = c.at, c.at
	}
	if mark == ":" {
		index, err := c.names.find(c.text, c.at, rest[1:length])
		if err != nil {
			return err
		}
		c.statement.Args = append(c.statement.Args, index)
		c.statement.parts = append(c.statement.parts, c.text[c.part:c.at])
		c.part = c.at + length
	}
	c.at += length
	c.last = c.at
	return nil
}

func (c *compiler) endStatement() error {
	switch {
	case c.first < 0:
		return nil // a semicolon alone
	case len(c.statements) == maxStatements:
		return failure(c.text, c.first, "the script has more than %d statements", maxStatements)
	}
	c.statement.Line = line(c.text, c.first)
	c.statement.parts = append(c.statement.parts, c.text[c.part:c.last])
	c.program = append(c.program, instruction{index: len(c.statements)})
	c.statements = append(c.statements, c.statement)
	c.statement, c.first = Statement{}, -1
	return nil
}

// command compiles a line that begins with a backslash.
func (c *compiler) command(fresh bool) error {
	p := parser{text: c.text, at: c.at + 1, names: c.names, room: maxOperations - c.operations}
	p.limit = c.at + commandLength(c.text[c.at:])
	p.next()
	command := excerpt(c.text[c.at:p.to])
	switch {
	case !fresh:
		return failure(c.text, c.at, "%s must be at the beginning of a line", command)
	case c.first >= 0:
		return failure(c.text, c.at, "%s is inside the statement that begins on line %d; end that statement with a semicolon", command,
			line(c.text, c.first))
	case command != `"\set"`:
		return failure(c.text, c.at, `%s is unknown; the only command is \set NAME EXPRESSION`, command)
	}
	p.next()
	at, name := p.from, c.text[p.from:p.to]
	p.expect(word, "the NAME of a variable")
	p.expression(0)
	p.expect(end, "an operator or the end of the line")
	if p.err != nil {
		return p.err
	}
	index, err := c.declare(name)
	if err != nil {
		return failure(c.text, at, "%v", err)
	}
	c.program = append(c.program, instruction{index: index, operations: p.operations})
	c.height = max(c.height, p.highest)
	c.operations += len(p.operations)
	c.at = p.limit
	return nil
}

// Begins says whether the script's first statement begins a transaction.
func (s *Script) Begins() bool {
	first := strings.ToUpper(s.statements[0].parts[0])
	return strings.HasPrefix(first, "BEGIN") || strings.HasPrefix(first, "START TRANSACTION")
}
