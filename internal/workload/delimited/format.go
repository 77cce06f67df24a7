// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package delimited

import (
	"bytes"
	"fmt"
	"slices"
)

// Format of a text. A field that is just \N is NULL in both dialects.
type Format struct {
	// Separator stands between two fields: an ASCII character, and neither a line break, a backslash nor a quotation mark.
	Separator byte
	// CSV is the dialect of RFC 4180: a field may be enclosed in quotation marks, which are doubled within it; lines end with a
	// line feed, or carriage return and line feed. Otherwise it is that of SELECT … INTO OUTFILE and LOAD DATA: a backslash
	// takes its meaning from the next character or gives it another one, and lines end with a line feed.
	CSV bool
}

const quote = '"'

var (
	lineFeed = []byte{'\n'}
	null     = []byte(`\N`)
)

// end is where the line feed stands that ends the first record of a text; -1 if there is none, or if that depends on what
// comes next.
func (f Format) end(text []byte) int {
	if f.CSV {
		return f.endCSV(text)
	}
	return unescaped(text, '\n')
}

// unescaped is the first place of a character that no backslash stands before; -1 if there is none.
func unescaped(text []byte, c byte) int {
	for from := 0; ; {
		n := bytes.IndexByte(text[from:], c)
		if n < 0 {
			return -1
		}
		backslashes := 0
		for i := from + n - 1; i >= 0 && text[i] == '\\'; i-- {
			backslashes++
		}
		if backslashes%2 == 0 {
			return from + n
		}
		from += n + 1
	}
}

func (f Format) endCSV(text []byte) int {
	line := -1
	for field := 0; field < len(text); {
		if text[field] == quote {
			n := closing(text[field:])
			if n < 0 {
				return -1
			}
			field += n + 1
		}
		if line < field {
			n := bytes.IndexByte(text[field:], '\n')
			if n < 0 {
				return -1
			}
			line = field + n
		}
		n := bytes.IndexByte(text[field:line], f.Separator)
		if n < 0 {
			return line
		}
		field += n + 1
	}
	return -1
}

// closing is where the quotation mark stands that closes a field which begins with one; -1 if there is none, or if the next
// character may double it.
func closing(text []byte) int {
	for from := 1; ; from += 2 {
		n := bytes.IndexByte(text[from:], quote)
		if n < 0 {
			return -1
		}
		from += n
		if from+1 == len(text) {
			return -1
		}
		if text[from+1] != quote {
			return from
		}
	}
}

// split makes fields of the record.
func (r *Reader) split() ([][]byte, error) {
	r.fields = r.fields[:0]
	// No field gets longer, so that none moves while others are made.
	r.plain = slices.Grow(r.plain[:0], len(r.record))
	if r.format.CSV {
		return r.splitCSV()
	}
	for rest := r.record; ; {
		n := unescaped(rest, r.format.Separator)
		if n < 0 {
			r.fields = append(r.fields, r.unescape(rest))
			return r.fields, nil
		}
		r.fields = append(r.fields, r.unescape(rest[:n]))
		rest = rest[n+1:]
	}
}

// escapes are the characters that stand for another one behind a backslash; all others stand for themselves.
var escapes = [256]byte{'0': 0, 'b': '\b', 'n': '\n', 'r': '\r', 't': '\t', 'Z': 26}

func (r *Reader) unescape(field []byte) []byte {
	n := bytes.IndexByte(field, '\\')
	if n < 0 {
		return field
	}
	if bytes.Equal(field, null) {
		return nil
	}
	from := len(r.plain)
	for ; n >= 0; n = bytes.IndexByte(field, '\\') {
		r.plain = append(r.plain, field[:n]...)
		if n+1 == len(field) {
			// The text's last character: there is nothing for it to change.
			field = field[n:]
			break
		}
		c := field[n+1]
		if plain := escapes[c]; plain != 0 || c == '0' {
			c = plain
		}
		r.plain = append(r.plain, c)
		field = field[n+2:]
	}
	r.plain = append(r.plain, field...)
	return r.plain[from:len(r.plain):len(r.plain)]
}

func (r *Reader) splitCSV() ([][]byte, error) {
	rest := bytes.TrimSuffix(r.record, []byte{'\r'})
	for {
		if len(rest) > 0 && rest[0] == quote {
			n := closingOfWhole(rest)
			if n < 0 {
				return nil, &Error{r.line, fmt.Sprintf("the quotation mark before field %d is not closed", len(r.fields)+1)}
			}
			r.fields = append(r.fields, r.undouble(rest[1:n]))
			if rest = rest[n+1:]; len(rest) == 0 {
				return r.fields, nil
			}
			if rest[0] != r.format.Separator {
				return nil, &Error{r.line, fmt.Sprintf("field %d continues after its closing quotation mark", len(r.fields))}
			}
			rest = rest[1:]
			continue
		}
		n := bytes.IndexByte(rest, r.format.Separator)
		field := rest
		if n >= 0 {
			field = rest[:n]
		}
		if bytes.Equal(field, null) {
			field = nil
		}
		r.fields = append(r.fields, field)
		if n < 0 {
			return r.fields, nil
		}
		rest = rest[n+1:]
	}
}

// closingOfWhole is closing in a record, behind which nothing comes.
func closingOfWhole(record []byte) int {
	if n := closing(record); n >= 0 {
		return n
	}
	// The last quotation mark closes the field unless it is one of a pair, or the one that opens it.
	if last := len(record) - 1; last > 0 && record[last] == quote && bytes.Count(record, []byte{quote})%2 == 0 {
		return last
	}
	return -1
}

func (r *Reader) undouble(field []byte) []byte {
	n := bytes.IndexByte(field, quote)
	if n < 0 {
		return field
	}
	from := len(r.plain)
	for ; n >= 0; n = bytes.IndexByte(field, quote) {
		r.plain = append(r.plain, field[:n+1]...)
		field = field[n+2:]
	}
	r.plain = append(r.plain, field...)
	return r.plain[from:len(r.plain):len(r.plain)]
}
