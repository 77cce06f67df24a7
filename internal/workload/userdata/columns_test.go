// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"fmt"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/tproch"
)

func TestCanonicalText(t *testing.T) {
	for sqlType, tc := range map[string]struct{ is, not []string }{
		"varchar(20)":         {[]string{"", "a", " a "}, nil},
		"longblob":            {[]string{"", "\x00\xff"}, nil},
		"char(3)":             {[]string{"", "a", " a"}, []string{"a ", " "}},
		"int(11)":             {[]string{"0", "7", "-7", "1234567890"}, []string{"", "007", "+7", "-0", "7.0", " 7", "7 ", "1e3", "-"}},
		"bigint(20) unsigned": {[]string{"0", "18446744073709551615"}, []string{"00"}},
		"decimal(10,2)":       {[]string{"0.00", "12.50", "-0.01", "-1.00"}, []string{"1", "1.5", "1.500", ".50", "01.50", "-0.00", "1,50", "1.5x", "-.50"}},
		"decimal(10,0)":       {[]string{"12", "-1"}, []string{"12.0"}},
		"date":                {[]string{"1996-01-02"}, []string{"1996-JAN-02", "96-01-02", "1996/01/02", "1996-01-02 00:00:00", ""}},
		"datetime":            {[]string{"1996-01-02 03:04:05"}, []string{"1996-01-02", "1996-01-02T03:04:05", "1996-01-02 03:04:05.0"}},
		"datetime(6)":         {[]string{"1996-01-02 03:04:05.000006"}, []string{"1996-01-02 03:04:05", "1996-01-02 03:04:05.1"}},
		"timestamp(1)":        {[]string{"1996-01-02 03:04:05.6"}, []string{"1996-01-02 03:04:05."}},
		"double":              {nil, []string{"1", "1.5"}},
		"enum('a','b')":       {nil, []string{"a"}},
		"int(4) zerofill":     {nil, []string{"7", "0007"}},
		"binary(4)":           {nil, []string{"abcd"}},
	} {
		k := KindOf(sqlType)
		for _, text := range tc.is {
			if !k.canonical([]byte(text)) {
				t.Errorf("%s: %q comes back as it is", sqlType, text)
			}
		}
		for _, text := range tc.not {
			if k.canonical([]byte(text)) {
				t.Errorf("%s: %q may come back otherwise", sqlType, text)
			}
		}
	}
}

func TestColumnsThatGiveTheSameText(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		same bool
	}{
		{"VARCHAR(10)", "char(25)", true},
		{"VARCHAR(10)", "longtext", true},
		{"int(11)", "BIGINT", true},
		{"DECIMAL(10,2)", "decimal(15,2)", true},
		{"decimal(10,2)", "decimal(10,3)", false},
		{"decimal(10,0)", "int", false},
		{"datetime(6)", "timestamp(6)", true},
		{"datetime(6)", "datetime", false},
		{"date", "datetime", false},
		{"int", "varchar(10)", false},
		{"double", "double", false},
	} {
		must.Same(t, fmt.Sprintf("%s and %s", tc.a, tc.b), tc.same, KindOf(tc.a).sameText(KindOf(tc.b)))
	}
	// Every column of Benchrun's own tables is one whose text can be compared.
	columns := 0
	for _, table := range tproch.Tables() {
		for i, sqlType := range table.Types() {
			if KindOf(sqlType).family == incomparable {
				t.Errorf("%s has the type %q", table.Columns()[i], sqlType)
			}
			columns++
		}
	}
	must.Same(t, "types", 61, columns)
}

func TestComparisonLeavesOutWhatComesBackOtherwise(t *testing.T) {
	c := NewComparison([]Column{
		{Name: "a", Kind: KindOf("int"), sqlType: "int"},
		{Name: "b", Kind: KindOf("double"), sqlType: "double"},
		{Name: "c`", Kind: KindOf("varchar(9)"), sqlType: "varchar(9)", encoded: true},
		{Name: "d", Kind: KindOf("date"), sqlType: "date"},
	})
	c.look([][]byte{[]byte("1"), []byte("1.5"), []byte("x"), []byte("2024-01-02")})
	c.look([][]byte{nil, nil, nil, nil})
	c.look([][]byte{[]byte("2"), nil, nil, []byte("2024-JAN-02")})
	const want = `compared by their text: a, c` + "`" + `; not compared: b (its type is double), d (a date is written "2024-JAN-02")`
	if got := c.String(); got != want || !c.Compared() {
		t.Errorf("%s, want %s", got, want)
	}
	must.Same(t, "text", "7:NULL", string(c.appendText(nil, [][]byte{[]byte("7"), []byte("8"), nil, []byte("9")})))
	const sql = "CONCAT_WS(':', COALESCE(CAST(`a` AS BINARY), 'NULL'), COALESCE(CAST(CONVERT(`c``` USING utf8mb4) AS BINARY), 'NULL'))"
	must.Same(t, "expression", sql, c.Expression())
	none := NewComparison([]Column{{Name: "b", sqlType: "double"}})
	if none.Compared() || !strings.HasPrefix(none.String(), "no values were compared; not compared: b") {
		t.Errorf("%s", none)
	}
}

// A value that the server would store as another one, without an error, is not loaded.
func TestValuesThatWouldBeRounded(t *testing.T) {
	for sqlType, tc := range map[string]struct{ kept, rounded []string }{
		"int(11)":       {[]string{"7", "007", "+7", "7.0", "7.000", "1e3", "1.5e1", "10e-1", "x", "", "0.0"}, []string{"7.5", "-0.1", ".5", "1e-1", "1.55e1"}},
		"decimal(10,2)": {[]string{"1", "1.5", "1.500", "1.555e1", "1,555"}, []string{"1.555", "-0.001", "1.55e-1"}},
		"date":          {[]string{"2024-01-02", "2024-01-02 00:00:00", "02.01.2024"}, []string{"2024-01-02 03:04:05", "2024-01-02T03:04"}},
		"datetime":      {[]string{"2024-01-02", "2024-01-02 03:04:05", "2024-01-02T03:04:05.000"}, []string{"2024-01-02 03:04:05.5"}},
		"timestamp(3)":  {[]string{"2024-01-02 03:04:05.123", "2024-01-02 03:04:05.1230"}, []string{"2024-01-02 03:04:05.1234"}},
		"varchar(9)":    {[]string{"1.5", "2024-01-02 03:04:05.5"}, nil},
		"double":        {[]string{"0.1"}, nil},
	} {
		for _, text := range tc.kept {
			if KindOf(sqlType).rounds([]byte(text)) {
				t.Errorf("%s keeps %q", sqlType, text)
			}
		}
		for _, text := range tc.rounded {
			if !KindOf(sqlType).rounds([]byte(text)) {
				t.Errorf("%s rounds %q", sqlType, text)
			}
		}
	}
	c := NewComparison([]Column{
		{Name: "a", Kind: KindOf("int"), sqlType: "int"}, {Name: "b", Kind: KindOf("varchar(9)"), encoded: true}, {Name: "c", binary: true},
	})
	for want, row := range map[string][]string{
		"": {"1", "ü", "\xff"},
		"line 7: field 1 (column a): 1.5 would be rounded or cut to int: round it in the file, or change the column's type": {"1.5", "", ""},
		`line 7: field 2 (column b): "\xfc\xdf" is not UTF-8: convert the file, for example with iconv`:                     {"1", "\xfc\xdf", ""},
	} {
		err := c.check(7, [][]byte{[]byte(row[0]), []byte(row[1]), []byte(row[2])})
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", row, err)
		}
	}
}

func TestLiterals(t *testing.T) {
	fields := [][]byte{[]byte("a"), nil, {}, []byte(`it's C:\new`), []byte("\x00\n\"")}
	for want, q := range map[string]Quoting{
		`('a',NULL,'','it''s C:\\new','` + "\x00\n\"')": {},
		`('a',NULL,'','it''s C:\new','` + "\x00\n\"')":  {verbatim: true},
	} {
		must.Same(t, "row", want, string(q.appendRow(nil, fields)))
	}
	dst := make([]byte, 0, 1000)
	must.Same(t, "allocations for a row", 0.0, testing.AllocsPerRun(100, func() { Quoting{}.appendRow(dst, fields) }))
}
