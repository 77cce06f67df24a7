// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"strings"

	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/workload/sqltext"
)

// Dialect decides how comments and quoted text are read: of MySQL's SQL with neither ANSI_QUOTES nor NO_BACKSLASH_ESCAPES in
// sql_mode, of PostgreSQL's with standard_conforming_strings, its default.
type Dialect base.SQL

// The dialects.
const (
	MySQL      = Dialect(base.MySQL)
	PostgreSQL = Dialect(base.PostgreSQL)
)

// The lexer of package sqltext does not fit: it reads the dialect of MySQL only, and it refuses text that different versions of a
// server read differently, which is harmless here.

// token returns the length of the token or comment at the beginning of a text, and its mark. The length is 0 if the end of quoted
// text or of a comment is missing.
func (d Dialect) token(text string) (length int, mark string) {
	mark = d.mark(text)
	switch mark {
	case "":
		length = max(1, sqltext.WordLength(text))
		if strings.HasPrefix(text, "::") || strings.HasPrefix(text, ":=") {
			length = 2
		}
	case ":":
		length = 1 + nameLength(text[1:])
	case "--":
		if length = strings.IndexByte(text, '\n'); length < 0 {
			length = len(text)
		}
	case "/*", "/*!":
		length = d.comment(text)
	case "'", `"`, "`", "E'":
		opening := len(mark) - 1
		if n := sqltext.QuotedLength(text[opening:], mark == "E'" || d == MySQL && mark != "`"); n > 0 {
			length = opening + n
		}
	default:
		if n := strings.Index(text[len(mark):], mark); n >= 0 {
			length = n + 2*len(mark)
		}
	}
	return length, mark
}

// mark classifies the token at the beginning of a text: "--" and "/*" are comments, "/*!" is a comment that the server executes
// or takes hints from, ":" is a variable, "" is a word or a symbol. Any other mark opens quoted text.
func (d Dialect) mark(text string) string {
	if comment := d.commentMark(text); comment != "" {
		return comment
	}
	switch b := text[0]; {
	case b == '\'' || b == '"' || b == '`':
		return text[:1]
	case d == PostgreSQL && b == '$':
		return dollarTag(text)
	case d == PostgreSQL && b|0x20 == 'e' && strings.HasPrefix(text[1:], "'"):
		return "E'"
	case b == ':' && nameLength(text[1:]) > 0:
		return ":"
	}
	return ""
}

func (d Dialect) commentMark(text string) string {
	switch {
	case strings.HasPrefix(text, "/*+"):
		return "/*!"
	case d == MySQL && (strings.HasPrefix(text, "/*!") || strings.HasPrefix(text, "/*M!")):
		return "/*!"
	case strings.HasPrefix(text, "/*"):
		return "/*"
	case d == MySQL && text[0] == '#', d == PostgreSQL && strings.HasPrefix(text, "--"):
		return "--"
	case strings.HasPrefix(text, "--") && (len(text) == 2 || text[2] <= ' ' || text[2] == 0x7f):
		return "--" // for MySQL, 5--1 is a difference
	}
	return ""
}

// comment returns the length of the comment at the beginning of a text, or 0 if it is not closed. In PostgreSQL, comments nest.
func (d Dialect) comment(text string) int {
	depth := 1
	for n := 2; n+1 < len(text); n++ {
		switch {
		case text[n] == '*' && text[n+1] == '/':
			if depth--; depth == 0 {
				return n + 2
			}
			n++
		case d == PostgreSQL && text[n] == '/' && text[n+1] == '*':
			depth++
			n++
		}
	}
	return 0
}

// dollarTag returns the tag of a dollar-quoted string at the beginning of a text: $$, $name$, or nothing.
func dollarTag(text string) string {
	n := 1
	for n < len(text) && text[n] != '$' && sqltext.WordLength(text[n:n+1]) > 0 {
		n++
	}
	if n < len(text) && text[n] == '$' && sqltext.Digits(text[1:]) == 0 {
		return text[:n+1]
	}
	return ""
}

const blanks = " \t\n\v\f\r"

// commandLength returns the length of the first line of a text and of the lines that continue it, without the last newline.
func commandLength(text string) int {
	for n, b := range []byte(text) {
		if b == '\n' && !strings.HasSuffix(strings.TrimSuffix(text[:n], "\r"), `\`) {
			return n
		}
	}
	return len(text)
}

// blankLength returns the length of the blanks at the beginning of a text, including backslashes that continue a line.
func blankLength(text string) int {
	n := 0
	for {
		switch rest := text[n:]; {
		case rest != "" && strings.IndexByte(blanks, rest[0]) >= 0:
			n++
		case strings.HasPrefix(rest, "\\\n"), strings.HasPrefix(rest, "\\\r\n"):
			n++
		default:
			return n
		}
	}
}

// nameLength returns the length of the variable name at the beginning of a text.
func nameLength(text string) int {
	for n, b := range []byte(text) {
		letter := b|0x20 >= 'a' && b|0x20 <= 'z' || b == '_'
		if !letter && (n == 0 || b < '0' || b > '9') {
			return n
		}
	}
	return len(text)
}

// numberLength returns the length of the number at the beginning of a text.
func numberLength(text string) int {
	n := sqltext.Digits(text)
	if n < len(text) && text[n] == '.' {
		fraction := sqltext.Digits(text[n+1:])
		if n+fraction == 0 {
			return 0
		}
		n += 1 + fraction
	}
	if n > 0 && n < len(text) && (text[n] == 'e' || text[n] == 'E') {
		sign := len(text[n+1:]) - len(strings.TrimLeft(text[n+1:], "+-"))
		if exponent := sqltext.Digits(text[n+1+sign:]); sign <= 1 && exponent > 0 {
			n += 1 + sign + exponent
		}
	}
	return n
}
