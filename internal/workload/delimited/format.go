// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package delimited

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
)

// Format of a text. A field that is just \N is NULL in both dialects.
type Format struct {
	// Separator stands between two fields: an ASCII character, and neither a line break, a backslash nor a quotation mark.
	Separator byte
	// CSV is the dialect of RFC 4180: a field may be enclosed in quotation marks, which are doubled within it; lines end with a
	// line feed, or carriage return and line feed. Otherwise it is that of SELECT … INTO OUTFILE and LOAD DATA: a backslash
	// stands before a separator, a line feed or a backslash that is text, \0 is a NUL byte, and lines end with a line feed.
	CSV bool
	// EmptyIsNull makes NULL of an empty field, in CSV only without quotation marks.
	EmptyIsNull bool
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

func (r *Reader) split() ([][]byte, error) {
	r.fields = r.fields[:0]
	// No field gets longer, so that none moves while others are made.
	r.plain = slices.Grow(r.plain[:0], len(r.record))
	if bytes.IndexByte(r.record, 0) >= 0 {
		return nil, r.wrong("there is a NUL byte: a file in UTF-16 has many; convert it with iconv -f UTF-16LE -t UTF-8. " +
			`In format TSV, \0 is a NUL byte`)
	}
	if r.format.CSV {
		return r.splitCSV()
	}
	if bytes.HasSuffix(r.record, []byte{'\r'}) {
		return nil, r.wrong("it ends with a carriage return and a line feed, which would become a part of the last value: remove " +
			"carriage returns with dos2unix, or set format to CSV, where lines may end so")
	}
	for rest, more := r.record, true; more; {
		field := rest
		n := unescaped(rest, r.format.Separator)
		if more = n >= 0; more {
			field, rest = rest[:n], rest[n+1:]
		}
		plain, err := r.unescape(field)
		if err != nil {
			return nil, err
		}
		r.fields = append(r.fields, plain)
	}
	return r.fields, nil
}

func (r *Reader) wrong(reason string) error { return &Error{r.line, reason} }

// unescape takes out the backslashes that SELECT … INTO OUTFILE writes. It writes no others: they are of a file whose backslashes
// mean themselves, or of a tool that has more escapes than these, and nothing in the file says which.
func (r *Reader) unescape(field []byte) ([]byte, error) {
	n := bytes.IndexByte(field, '\\')
	if n < 0 {
		return r.plainField(field), nil
	}
	if bytes.Equal(field, null) {
		return nil, nil
	}
	from := len(r.plain)
	for ; n >= 0; n = bytes.IndexByte(field, '\\') {
		r.plain = append(r.plain, field[:n]...)
		if n+1 == len(field) {
			return nil, r.wrongEscape(field[n:])
		}
		switch c := field[n+1]; c {
		case r.format.Separator, '\n', '\\':
			r.plain = append(r.plain, c)
		case '0':
			r.plain = append(r.plain, 0)
		default:
			return nil, r.wrongEscape(field[n:])
		}
		field = field[n+2:]
	}
	r.plain = append(r.plain, field...)
	return r.plain[from:len(r.plain):len(r.plain)], nil
}

func (r *Reader) wrongEscape(text []byte) error {
	const shown = 10
	return r.wrong(fmt.Sprintf("field %d has %s: in format TSV a backslash is written \\\\, and stands alone only before a "+
		"separator, a line feed or 0, and in \\N. If backslashes are text in this file, set format to CSV and separator to %s",
		len(r.fields)+1, bytes.ToValidUTF8(text[:min(len(text), shown)], nil), strconv.Quote(string(r.format.Separator))))
}

func (r *Reader) plainField(field []byte) []byte {
	if len(field) == 0 && r.format.EmptyIsNull {
		return nil
	}
	return field
}

func (r *Reader) splitCSV() ([][]byte, error) {
	rest := bytes.TrimSuffix(r.record, []byte{'\r'})
	for {
		if len(rest) > 0 && rest[0] == quote {
			n := closingOfWhole(rest)
			if n < 0 {
				return nil, r.wrong(fmt.Sprintf("the quotation mark before field %d is not closed", len(r.fields)+1))
			}
			r.fields = append(r.fields, r.undouble(rest[1:n]))
			if rest = rest[n+1:]; len(rest) == 0 {
				return r.fields, nil
			}
			if rest[0] != r.format.Separator {
				reason := fmt.Sprintf("field %d continues after its closing quotation mark", len(r.fields))
				if last := r.fields[len(r.fields)-1]; bytes.HasSuffix(last, []byte{'\\'}) {
					reason += `: a quotation mark within a field is doubled, and not written \"`
				}
				return nil, r.wrong(reason)
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
		r.fields = append(r.fields, r.plainField(field))
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
