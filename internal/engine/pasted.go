// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

// Meant is how a specification has a line of an option file, and what was wrong with each of the two as they were written: names
// in lower case and with underscores; values without a comment and quotation marks, and sizes as whole numbers with the suffixes
// that servers know.
func Meant(name, value string) (meant, set string, wrong []string) {
	meant = strings.ReplaceAll(strings.ToLower(strings.TrimLeft(strings.Trim(name, `'"`+" "), "-")), "-", "_")
	if meant != name {
		wrong = append(wrong, "write "+meant+": a name is in lower case and with underscores")
	}
	set, why := meantValue(value)
	if set != value {
		wrong = append(wrong, fmt.Sprintf("write %q in place of %q: %s", set, value, why))
	}
	return meant, set, wrong
}

var (
	commented = regexp.MustCompile(`^(\S+)\s+[#;]`)
	quoted    = regexp.MustCompile(`^(?:'([^']*)'|"([^"]*)")$`)
	sized     = regexp.MustCompile(`^(?i)(\d+)(\.\d+)?\s*([KMGTPE])(i?B)?$`)
)

// meantValue is a value as a server takes it, and why not as written.
func meantValue(value string) (set, why string) {
	set = value
	if found := commented.FindStringSubmatch(set); found != nil {
		set, why = found[1], "what follows is no comment, but part of the value"
	}
	if found := quoted.FindStringSubmatch(set); found != nil {
		set, why = found[1]+found[2], "the quotation marks would be part of the value"
	}
	if found := sized.FindStringSubmatch(set); found != nil && found[2]+found[4] != "" && !strings.EqualFold(found[4], "i") {
		set, why = size(found[1]+found[2], strings.ToUpper(found[3])), "a size is a whole number, with K, M, G, T, P or E"
	}
	return set, why
}

// suffixes of sizes, each 1024 times the one before.
const suffixes = "KMGTPE"

// size is a number of units as a whole number of the largest unit that gives one.
func size(number, suffix string) string {
	n, _ := new(big.Rat).SetString(number)
	unit := strings.Index(suffixes, suffix)
	for ; !n.IsInt() && unit >= 0; unit-- {
		n.Mul(n, big.NewRat(1024, 1))
	}
	whole := new(big.Int).Quo(n.Num(), n.Denom()) // a part of a byte is none
	if unit < 0 {
		return whole.String()
	}
	return whole.String() + suffixes[unit:unit+1]
}
