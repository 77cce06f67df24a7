// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/workload"
)

// Column of a table, as the server describes it.
type Column struct {
	Name string
	// Kind is what the text of its values depends on; text that is not a server's own comes back as another one.
	Kind    Kind
	sqlType string
	// encoded columns have a character set, which may not be the connection's.
	encoded bool
	binary  bool
	// derived columns are computed by the server, or not seen unless they are named: nothing is loaded into them unasked.
	derived bool
}

// Kind of a column's type. Columns of the same kind give the same text back for the same value.
type Kind struct {
	family family
	digits int
}

type family int

const (
	// incomparable: the text depends on more than the value.
	incomparable family = iota
	textual
	// padded text loses spaces at its end.
	padded
	integral
	decimal
	calendar
	instant
)

// families of SQL types. Those that are not here are incomparable: floating point, ENUM, BIT and others.
var families = map[string]family{
	"varchar": textual, "tinytext": textual, "text": textual, "mediumtext": textual, "longtext": textual,
	"varbinary": textual, "tinyblob": textual, "blob": textual, "mediumblob": textual, "longblob": textual,
	"char": padded, "tinyint": integral, "smallint": integral, "mediumint": integral, "int": integral, "bigint": integral,
	"decimal": decimal, "date": calendar, "datetime": instant, "timestamp": instant,
}

// KindOf reads a type as CREATE TABLE and information_schema write it, for example "decimal(10,2)".
func KindOf(sqlType string) Kind {
	name, rest, _ := strings.Cut(strings.ToLower(sqlType), "(")
	name, attributes, _ := strings.Cut(name, " ")
	k := Kind{family: families[name]}
	if strings.Contains(attributes+rest, "zerofill") {
		return Kind{}
	}
	arguments, _, _ := strings.Cut(rest, ")")
	if k.family == decimal {
		_, arguments, _ = strings.Cut(arguments, ",")
	}
	if k.family == decimal || k.family == instant {
		k.digits, _ = strconv.Atoi(strings.TrimSpace(arguments)) // none is 0
	}
	return k
}

// sameText says whether columns of both kinds give the same text back, for values without spaces at their end.
func (k Kind) sameText(other Kind) bool {
	if k.family == padded {
		k.family = textual
	}
	if other.family == padded {
		other.family = textual
	}
	return k.family != incomparable && k == other
}

// canonical says whether a value that was given as this text comes back as the same.
func (k Kind) canonical(text []byte) bool {
	switch k.family {
	case textual:
		return true
	case padded:
		return !bytes.HasSuffix(text, []byte{' '})
	case integral:
		return canonicalNumber(text, 0)
	case decimal:
		return canonicalNumber(text, k.digits)
	case calendar:
		return LooksLike(text, "0000-00-00")
	case instant:
		layout := "0000-00-00 00:00:00.000000"
		if k.digits == 0 {
			return LooksLike(text, layout[:19])
		}
		return LooksLike(text, layout[:20+k.digits])
	default:
		return false
	}
}

// canonicalNumber says whether text is a number as a server writes it, with so many digits behind the point.
func canonicalNumber(text []byte, digits int) bool {
	whole, negative := bytes.CutPrefix(text, []byte{'-'})
	if digits > 0 {
		point := len(whole) - digits - 1
		if point < 1 || whole[point] != '.' || !isDigits(whole[point+1:]) {
			return false
		}
		if negative && len(bytes.Trim(whole, "0.")) == 0 {
			return false
		}
		whole = whole[:point]
	} else if negative && string(whole) == "0" {
		return false
	}
	return isDigits(whole) && (len(whole) == 1 || whole[0] != '0')
}

func isDigits(text []byte) bool {
	return len(text) > 0 && !slices.ContainsFunc(text, func(c byte) bool { return c < '0' || c > '9' })
}

// LooksLike says whether text has a digit wherever the layout has a 0, and is the layout everywhere else.
func LooksLike(text []byte, layout string) bool {
	if len(text) != len(layout) {
		return false
	}
	for i, c := range text {
		if digit := c >= '0' && c <= '9'; digit != (layout[i] == '0') || !digit && c != layout[i] {
			return false
		}
	}
	return true
}

var (
	binaryType = regexp.MustCompile(`(?i)blob|binary|^bit|vector|geometry|point|linestring|polygon`)
	number     = regexp.MustCompile(`^ *[-+]?([0-9]*)\.?([0-9]*)(?:[eE]([-+]?[0-9]{1,4}))? *$`)
	dateTime   = regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}[ T]([0-9:]*)\.?([0-9]*)$`)
)

// rounds says whether the server would round the value, or cut it, without an error: it has more decimals than the column, or a
// time of the day where the column has none.
func (k Kind) rounds(text []byte) bool {
	switch k.family {
	case integral, decimal:
		parts := number.FindSubmatch(text)
		if parts == nil {
			return false
		}
		mantissa := string(parts[1]) + string(parts[2])
		significant := strings.TrimRight(mantissa, "0")
		exponent, _ := strconv.Atoi(string(parts[3])) // none is 0
		return significant != "" && len(parts[2])-(len(mantissa)-len(significant))-exponent > k.digits
	case calendar, instant:
		parts := dateTime.FindSubmatch(text)
		if parts == nil {
			return false
		}
		decimals := len(bytes.TrimRight(parts[2], "0"))
		return decimals > k.digits || k.family == calendar && bytes.ContainsAny(parts[1], "123456789")
	default:
		return false
	}
}

func columnsOf(ctx context.Context, db *sql.DB, table string) (all []Column, err error) {
	const query = "SELECT column_name, column_type, character_set_name IS NOT NULL, extra FROM information_schema.columns" +
		" WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position"
	err = workload.EachRow(ctx, db, func(row *sql.Rows) error {
		var c Column
		var extra string
		if err := row.Scan(&c.Name, &c.sqlType, &c.encoded, &extra); err != nil {
			return err
		}
		c.Kind = KindOf(c.sqlType)
		c.binary = binaryType.MatchString(c.sqlType)
		extra = strings.ToUpper(extra)
		c.derived = slices.ContainsFunc([]string{"VIRTUAL GENERATED", "STORED GENERATED", "INVISIBLE"},
			func(word string) bool { return strings.Contains(extra, word) })
		all = append(all, c)
		return nil
	}, query, table)
	if err != nil {
		return nil, fmt.Errorf("reading the columns of %s: %w", table, err)
	}
	return all, nil
}

// Unlike says which columns give back another text than those of the types would.
func Unlike(found []Column, sqlTypes []string) []string {
	var unlike []string
	for i, c := range found {
		if !c.Kind.sameText(KindOf(sqlTypes[i])) {
			unlike = append(unlike, fmt.Sprintf("%s is %s", c.Name, c.sqlType))
		}
	}
	return unlike
}
