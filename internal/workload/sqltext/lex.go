// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltext

import (
	"fmt"
	"slices"
	"strings"
)

// Kind of a token.
type Kind int

const (
	// Word is a keyword or a name without quotation marks.
	Word Kind = iota
	// Name is a name within backticks.
	Name
	// Text is a string.
	Text
	Number
	// Variable begins with one @, a user's variable or the host of an account, or two: a system variable up to the first dot.
	Variable
	// Symbol is one other character.
	Symbol
)

// Token is what a server reads at once.
type Token struct {
	Kind Kind
	// Text is that of the script, without quotation marks.
	Text string
	// Line, from 1, on which it begins.
	Line int
	when *condition
	// from and to are its place in the script.
	from, to int
}

func (t *Token) is(word string) bool {
	return (t.Kind == Word || t.Kind == Symbol) && strings.EqualFold(t.Text, word)
}

func (t *Token) isOneOf(words []string) bool { return slices.ContainsFunc(words, t.is) }

func (t *Token) named() bool { return t.Kind == Word || t.Kind == Name }

// refused is about a statement that cannot be read, or is not allowed. Both numbers count from 1.
func refused(statement, line int, reason string) error {
	return fmt.Errorf("statement %d, line %d: %s", statement, line, reason)
}

// lexer reads tokens as a server does whose sql_mode has neither ANSI_QUOTES nor NO_BACKSLASH_ESCAPES.
type lexer struct {
	script string
	at     int
	line   int
	// when is the condition of the comment that is open; it ends at end.
	when *condition
	end  int
	err  string
}

// next is the next token; false at the end, or after an error.
func (l *lexer) next() (Token, bool) {
	for l.err == "" && l.at < len(l.script) {
		if l.when != nil && l.at == l.end-len("*/") {
			l.pass(len("*/"))
			l.when = nil
			continue
		}
		if l.skipped() {
			continue
		}
		t := Token{Line: l.line, when: l.when, from: l.at}
		t.Kind, t.Text = l.token()
		t.to = l.at
		if l.when != nil && l.at > l.end-len("*/") {
			l.err = "a comment that servers execute (/*! … */) ends within a string or a comment: write it plainly"
		}
		return t, l.err == ""
	}
	return Token{}, false
}

func (l *lexer) pass(n int) string {
	text := l.script[l.at : l.at+n]
	l.line += strings.Count(text, "\n")
	l.at += n
	return text
}

func (l *lexer) skipped() bool {
	rest := l.script[l.at:]
	switch c := rest[0]; {
	case strings.IndexByte(" \t\n\v\f\r", c) >= 0:
		l.pass(1)
	case c == '#', strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' ' || rest[2] == 0x7f):
		l.pass(through(rest, "\n"))
		if l.when != nil && l.at > l.end-len("*/") {
			l.err = "a comment that servers execute (/*! … */) ends within another comment: write it plainly"
		}
	case strings.HasPrefix(rest, "/*"):
		return l.comment(rest)
	default:
		return false
	}
	return true
}

func (l *lexer) comment(rest string) bool {
	length := 2 + through(rest[2:], "*/")
	when, head := conditionOf(rest)
	switch {
	case l.when != nil:
		l.err = "a comment stands within one that servers execute (/*! … */): write it plainly"
	case length < 4 || !strings.HasSuffix(rest[:length], "*/"):
		l.err = "a comment is not closed"
	case when == nil || when.version == noServer:
		l.pass(length)
	case strings.Contains(rest[head:length], "/*"):
		l.err = "a comment stands within one that servers execute (/*! … */): write it plainly"
	default:
		l.end, l.when = l.at+length, when
		l.pass(head)
	}
	return l.err == ""
}

func (l *lexer) token() (Kind, string) {
	rest := l.script[l.at:]
	switch c := rest[0]; {
	case c == 0:
		l.err = "a NUL byte: is the text UTF-16? Save it as UTF-8"
		return Symbol, ""
	case c == '\'' || c == '"':
		return Text, l.quoted(c, true)
	case c == '`':
		return Name, l.quoted(c, false)
	case c == '@':
		return Variable, l.variable()
	case Digits(rest) > 0 && Digits(rest) == WordLength(rest) || c == '.' && len(rest) > 1 && isDigit(rest[1]) && !l.afterName():
		return Number, l.pass(numberLength(rest))
	case isWordByte(c):
		return Word, l.pass(WordLength(rest))
	default:
		return Symbol, l.pass(1)
	}
}

// afterName says whether what comes next stands directly behind a name: a dot is then one between names.
func (l *lexer) afterName() bool {
	return l.at > 0 && (isWordByte(l.script[l.at-1]) || l.script[l.at-1] == '`')
}

func (l *lexer) quoted(mark byte, backslashes bool) string {
	n := QuotedLength(l.script[l.at:], backslashes)
	if n == 0 {
		l.err = fmt.Sprintf("a quotation mark, %c, is not closed", mark)
		return ""
	}
	return strings.ReplaceAll(l.pass(n)[1:n-1], string([]byte{mark, mark}), string(mark))
}

// QuotedLength is the length of the quoted part at the beginning of a text, with its marks; 0 if it is not closed. Inside, the
// mark is doubled or escaped with a backslash.
func QuotedLength(text string, backslashes bool) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && backslashes:
			i++
		case text[i] != text[0]:
		case i+1 < len(text) && text[i+1] == text[0]:
			i++
		default:
			return i + 1
		}
	}
	return 0
}

// variable passes over a variable: its name with the at signs, of a system variable only up to a dot.
func (l *lexer) variable() string {
	rest := l.script[l.at:]
	ats := 1
	if strings.HasPrefix(rest, "@@") {
		ats = 2
	}
	text := l.pass(ats)
	switch rest = rest[ats:]; {
	case rest == "":
		return text
	case rest[0] == '\'' || rest[0] == '"' || rest[0] == '`':
		return text + l.quoted(rest[0], rest[0] != '`')
	}
	n := WordLength(rest)
	for ats == 1 && n < len(rest) && rest[n] == '.' {
		n += 1 + WordLength(rest[n+1:])
	}
	return text + l.pass(n)
}

// through is the length of a text up to the end of a word, or of all of it if it has none.
func through(text, word string) int {
	if n := strings.Index(text, word); n >= 0 {
		return n + len(word)
	}
	return len(text)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isWordByte says whether a name without quotation marks may have the byte. All beyond ASCII may be parts of letters.
func isWordByte(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c >= 0x80
}

// WordLength is the length of the name, keyword or number at the beginning of a text.
func WordLength(text string) int {
	n := 0
	for n < len(text) && isWordByte(text[n]) {
		n++
	}
	return n
}

// Digits is the number of digits at the beginning of a text.
func Digits(text string) int { return len(text) - len(strings.TrimLeft(text, "0123456789")) }

// numberLength is the length of digits, a dot and digits. An exponent behind them reads as a word, which no rule needs.
func numberLength(text string) int {
	n := Digits(text)
	if n < len(text) && text[n] == '.' {
		n += 1 + Digits(text[n+1:])
	}
	return n
}
