// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sqltext takes SQL apart as far as sending it statement by statement needs it.
package sqltext

import "strings"

// Split splits a script into its statements, without the semicolons between them. Semicolons within quotation marks and
// comments separate nothing; a statement of comments alone is none, unless it is one that a server executes (/*! … */).
// There is no DELIMITER, which is a client's command: a procedure with a body of several statements cannot be made.
func Split(script string) []string {
	var all []string
	begin, substance := 0, false
	for i := 0; i < len(script); {
		n, kind := token(script[i:])
		switch kind {
		case semicolon:
			if substance {
				all = append(all, strings.TrimSpace(script[begin:i]))
			}
			begin, substance = i+n, false
		case matter:
			substance = true
		case nothing:
		}
		i += n
	}
	if substance {
		all = append(all, strings.TrimSpace(script[begin:]))
	}
	return all
}

type tokenKind int

const (
	// nothing is a space or a comment.
	nothing tokenKind = iota
	// matter is everything that a server reads.
	matter
	semicolon
)

// token is the length and the kind of what a text begins with.
func token(text string) (int, tokenKind) {
	switch c := text[0]; {
	case c == ';':
		return 1, semicolon
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		return 1, nothing
	case c == '\'' || c == '"':
		return quoted(text, c, true), matter
	case c == '`':
		return quoted(text, c, false), matter
	case c == '#', text == "--", strings.HasPrefix(text, "--") && strings.ContainsAny(text[2:3], " \t\r\n"):
		return through(text, "\n"), nothing
	case strings.HasPrefix(text, "/*!"), strings.HasPrefix(text, "/*M!"):
		return through(text, "*/"), matter
	case strings.HasPrefix(text, "/*"):
		return 2 + through(text[2:], "*/"), nothing
	default:
		return 1, matter
	}
}

// quoted is the length of a text within quotation marks, or all of it if they are not closed. Doubled marks need no attention:
// what follows the first is quoted again.
func quoted(text string, mark byte, backslashes bool) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == mark:
			return i + 1
		case text[i] == '\\' && backslashes:
			i++
		}
	}
	return len(text)
}

// through is the length of a text up to the end of a word, or of all of it if it has none.
func through(text, word string) int {
	if n := strings.Index(text, word); n >= 0 {
		return n + len(word)
	}
	return len(text)
}
