// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package delimited

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

var (
	tsv     = Format{Separator: '\t'}
	rfc4180 = Format{Separator: ',', CSV: true}
)

// null marks NULL in the tests' tables.
const nullMark = "(null)"

// readAll is all records, and the error that ended them.
func readAll(src io.Reader, format Format) (all [][]string, lines []int64, err error) {
	r := NewReader(src, format)
	for {
		fields, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, lines, nil
		}
		if err != nil {
			return all, lines, err
		}
		var record []string
		for _, f := range fields {
			if f == nil {
				record = append(record, nullMark)
				continue
			}
			record = append(record, string(f))
		}
		all, lines = append(all, record), append(lines, r.Line())
	}
}

func TestReader(t *testing.T) {
	long := strings.Repeat("x", 3*bufferBytes)
	for name, tc := range map[string]struct {
		format Format
		text   string
		want   [][]string
		lines  []int64
	}{
		"tsv":                      {tsv, "a\tb\nc\td\n", [][]string{{"a", "b"}, {"c", "d"}}, []int64{1, 2}},
		"tsv, no last line feed":   {tsv, "a\tb\nc\td", [][]string{{"a", "b"}, {"c", "d"}}, []int64{1, 2}},
		"tsv, empty fields":        {tsv, "\t\n\n", [][]string{{"", ""}, {""}}, []int64{1, 2}},
		"tsv, null":                {tsv, "\\N\tN\t\n", [][]string{{nullMark, "N", ""}}, []int64{1}},
		"tsv, empty is null":       {Format{Separator: '\t', EmptyIsNull: true}, "\ta\t\n", [][]string{{nullMark, "a", nullMark}}, []int64{1}},
		"tsv, escapes":             {tsv, `C:\\temp\\new\0` + "\n", [][]string{{"C:\\temp\\new\x00"}}, []int64{1}},
		"tsv, byte order mark":     {tsv, "\ufeffa\t\ufeffb\n\ufeffc\n", [][]string{{"a", "\ufeffb"}, {"\ufeffc"}}, []int64{1, 2}},
		"csv, byte order mark":     {rfc4180, "\ufeffAdele,Bonn\n", [][]string{{"Adele", "Bonn"}}, []int64{1}},
		"csv, mark and quotes":     {rfc4180, "\ufeff\"Adele, Bonn\"\n", [][]string{{"Adele, Bonn"}}, []int64{1}},
		"a byte order mark alone":  {rfc4180, "\ufeff", nil, nil},
		"csv, empty is null":       {Format{Separator: ',', CSV: true, EmptyIsNull: true}, "1,,\"\",\r\n", [][]string{{"1", nullMark, "", nullMark}}, []int64{1}},
		"csv, backslashes by tabs": {Format{Separator: '\t', CSV: true}, "1\tC:\\temp\\new\r\n", [][]string{{"1", "C:\\temp\\new"}}, []int64{1}},
		"tsv, carriage within":     {tsv, "a\rb\tc\n", [][]string{{"a\rb", "c"}}, []int64{1}},
		"tsv, escaped line feed":   {tsv, "a\\\nb\tc\nd\te\n", [][]string{{"a\nb", "c"}, {"d", "e"}}, []int64{1, 3}},
		"tsv, escaped separator":   {tsv, "a\\\tb\tc\n", [][]string{{"a\tb", "c"}}, []int64{1}},
		"tsv, backslash before":    {tsv, "a\\\\\tb\\\\\nc\n", [][]string{{"a\\", "b\\"}, {"c"}}, []int64{1, 2}},
		"tsv, quotes are text":     {tsv, "\"a\t\"\n", [][]string{{"\"a", "\""}}, []int64{1}},
		"tsv, other separator":     {Format{Separator: '|'}, "a|b\tc\n", [][]string{{"a", "b\tc"}}, []int64{1}},
		"tsv, longer than buffer":  {tsv, long + "\t" + long + "\nb\tc\n", [][]string{{long, long}, {"b", "c"}}, []int64{1, 2}},
		"csv":                      {rfc4180, "a,b\nc,d\n", [][]string{{"a", "b"}, {"c", "d"}}, []int64{1, 2}},
		"csv, no last line feed":   {rfc4180, "a,b\nc,\"d\"", [][]string{{"a", "b"}, {"c", "d"}}, []int64{1, 2}},
		"csv, empty fields":        {rfc4180, ",\"\",\n\"\"", [][]string{{"", "", ""}, {""}}, []int64{1, 2}},
		"csv, carriage returns":    {rfc4180, "a,b\r\n\"c\",\"d\"\r\n", [][]string{{"a", "b"}, {"c", "d"}}, []int64{1, 2}},
		"csv, enclosed separators": {rfc4180, "\"a,b\",\"c\nd\"\ne,f\n", [][]string{{"a,b", "c\nd"}, {"e", "f"}}, []int64{1, 3}},
		"csv, doubled quotes":      {rfc4180, "\"\"\"a\"\"b\"\"\",c\n\"\"\"\"\n", [][]string{{"\"a\"b\"", "c"}, {"\""}}, []int64{1, 2}},
		"csv, doubled at the end":  {rfc4180, "x,\"\"\"\"", [][]string{{"x", "\""}}, []int64{1}},
		"csv, quotes within":       {rfc4180, "5\" disk,a\"\nb,c\n", [][]string{{"5\" disk", "a\""}, {"b", "c"}}, []int64{1, 2}},
		"csv, backslashes":         {rfc4180, "C:\\new,\\N,\"\\N\"\n", [][]string{{"C:\\new", nullMark, "\\N"}}, []int64{1}},
		"csv, longer than buffer":  {rfc4180, "\"" + long + "\n\"," + long + "\nb,c\n", [][]string{{long + "\n", long}, {"b", "c"}}, []int64{1, 3}},
		"nothing":                  {rfc4180, "", nil, nil},
	} {
		for kind, src := range map[string]io.Reader{
			"whole": strings.NewReader(tc.text), "byte by byte": iotest.OneByteReader(strings.NewReader(tc.text)),
			"with the end": iotest.DataErrReader(strings.NewReader(tc.text)),
		} {
			if kind == "byte by byte" && len(tc.text) > bufferBytes {
				continue // takes the square of it
			}
			got, lines, err := readAll(src, tc.format)
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%s, %s: %v, records (-want +got):\n%s", name, kind, err, diff)
			}
			must.Same(t, name+", "+kind+": lines", tc.lines, lines)
		}
	}
}

func TestReaderRefuses(t *testing.T) {
	for want, text := range map[string]string{
		"line 2: the quotation mark before field 2 is not closed":    "a,b\nc,\"d\ne,f\n",
		"line 1: the quotation mark before field 1 is not closed":    "\"",
		"line 3: field 2 continues after its closing quotation mark": "\"a\n\",b\nc,\"d\"e\n",
		"line 2: the record does not end within 16777216 bytes":      "a\n\"" + strings.Repeat("b\n", MaxRecord),
	} {
		_, _, err := readAll(strings.NewReader(text), rfc4180)
		must.Same(t, "error", want, must.Text(err))
	}
	for text, want := range map[string]string{
		"1\tC:\\temp\\new\n":           `line 1: field 2 has \temp\new: in format TSV a backslash is written \\`,
		"1\ta\n2\t^(?:AD)*(\\d{3})$\n": `set format to CSV and separator to "\t"`,
		"a\\Nb\n":                      "field 1 has \\Nb",
		"a\n\\b\n":                     "line 2: field 1 has \\b",
		"a\\":                          "field 1 has \\:",
		"\\\\server\\share\n":          "field 1 has \\share",
		"1\tHalle 1\r\n":               "line 1: it ends with a carriage return and a line feed",
		"a\n\x00b\n":                   "line 2: there is a NUL byte: a file in UTF-16 has many",
	} {
		if _, _, err := readAll(strings.NewReader(text), tsv); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, _, err := readAll(strings.NewReader(`a\`), Format{Separator: 'x'}); err == nil || !strings.Contains(err.Error(), `field 1 has \:`) {
		t.Errorf("a backslash at the end of a field, between letters: %v", err)
	}
	for text, want := range map[string]string{
		"a\x00,b\n":            "line 1: there is a NUL byte",
		`1,"a \"b\" c"` + "\n": `line 1: field 2 continues after its closing quotation mark: a quotation mark within a field is doubled`,
	} {
		if _, _, err := readAll(strings.NewReader(text), rfc4180); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	broken := errors.New("the disk is gone")
	if _, _, err := readAll(io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(broken)), tsv); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// Where a record begins is where a reader that is told so finds it again.
func TestReaderOffsets(t *testing.T) {
	for _, format := range []Format{tsv, rfc4180} {
		text := strings.Repeat("some text\tmore,text\n\"b\",\\\n,c\n", 10000)
		r := NewReader(strings.NewReader(text), format)
		var offsets []int64
		var records []string
		for {
			fields, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			must.Do(t, err)
			offsets, records = append(offsets, r.Offset()), append(records, string(fields[0]))
		}
		if len(offsets) < 20000 {
			t.Fatalf("%d records", len(offsets))
		}
		for i := len(offsets) - 1; i >= 0; i -= 777 {
			r.Reset(strings.NewReader(text[offsets[i]:]), offsets[i], 7)
			fields, err := r.Next()
			if err != nil || string(fields[0]) != records[i] || r.Offset() != offsets[i] || r.Line() != 7 {
				t.Fatalf("record %d at %d: %q, %v, want %q", i, offsets[i], fields, err, records[i])
			}
		}
	}
}

// What encoding/csv takes, this reads alike; and no text makes it panic or read for ever.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{"\ufeffa,b\n", "1\tC:\\t\r\n", "a,b\n", "\"a\"\"b\",c\r\n", "\"a\nb\"", "\\N\ta\\\n", "\"\"\"\"", ",\n\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, _, err := readAll(strings.NewReader(text), tsv); err == nil && !strings.Contains(text, "\\") {
			// What has no backslash is kept as it is.
			var lines []string
			for _, record := range got {
				lines = append(lines, strings.Join(record, "\t"))
			}
			must.Same(t, fmt.Sprintf("%q: %q", text, got), strings.TrimSuffix(strings.TrimPrefix(text, Mark), "\n"), strings.Join(lines, "\n"))
		}
		got, _, err := readAll(strings.NewReader(text), rfc4180)
		if strings.Contains(text, "\\N") || strings.ContainsAny(text, "\r\x00\ufeff") {
			return // a NULL, carriage returns that encoding/csv leaves out, what it keeps
		}
		std := csv.NewReader(strings.NewReader(text))
		std.FieldsPerRecord = -1
		want, stdErr := std.ReadAll()
		if stdErr != nil {
			return
		}
		// encoding/csv leaves out empty lines.
		var kept [][]string
		for _, record := range got {
			if len(record) > 1 || record[0] != "" {
				kept = append(kept, record)
			}
		}
		var wanted [][]string
		for _, record := range want {
			if len(record) > 1 || record[0] != "" {
				wanted = append(wanted, record)
			}
		}
		if diff := cmp.Diff(wanted, kept); diff != "" || err != nil {
			t.Errorf("%q: %v (-encoding/csv +got):\n%s", text, err, diff)
		}
	})
}
