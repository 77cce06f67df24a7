// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sqltext reads a script of SQL before it is sent: it takes the script apart into statements, and checks that each of
// them stays within one schema.
package sqltext

import "strings"

// Statement of a script.
type Statement struct {
	// Text is that of the script, without the semicolon at its end and comments before it.
	Text string
	// Line, from 1, on which it begins.
	Line int
	// Unsent statements are about the whole server, and none of a run's: see Check.
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
			return nil, &Error{Statement: len(all) + 1, Line: l.line, Reason: l.err}
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
