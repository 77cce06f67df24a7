// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// decimal is a number as option files have them, with the suffix of a size. Exponents are short: 1e999999999 would be a
// very long number.
var decimal = regexp.MustCompile(`^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)(?:([kKmMgGtTpPeE])i?)?$`)

var hexadecimal = regexp.MustCompile(`^0[xX][0-9a-fA-F]{1,16}$`)

// number reads a number: 134217728, 128M, 128Mi, 1e3, 0.75, 0x10. K, M, G, T, P, E and Ki, Mi … are powers of 1,024, as
// the server reads them.
func number(s string) (*big.Rat, bool) {
	if len(s) > 64 {
		return nil, false
	}
	if hexadecimal.MatchString(s) {
		n, ok := new(big.Int).SetString(s, 0)
		return new(big.Rat).SetInt(n), ok
	}
	parts := decimal.FindStringSubmatch(s)
	if parts == nil {
		return nil, false
	}
	n, ok := new(big.Rat).SetString(parts[1])
	if !ok {
		return nil, false
	}
	if parts[2] != "" {
		power := strings.Index("KMGTPE", strings.ToUpper(parts[2])) + 1
		n.Mul(n, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(10*power))))
	}
	return n, true
}

type switchState int

const (
	neither switchState = iota
	on
	off
)

func boolean(s string) switchState {
	switch strings.ToUpper(s) {
	case "ON", "1", "TRUE", "YES":
		return on
	case "OFF", "0", "FALSE", "NO":
		return off
	}
	return neither
}

// isPath says that a value is compared letter by letter.
func isPath(s string) bool { return strings.ContainsAny(s, `/\`) }

// sameEnum compares the number of an enum's value with its name, whichever of the two is which.
func sameEnum(values []string, a, b string) bool {
	position := func(s string) int {
		if n, err := strconv.Atoi(s); err == nil {
			return n
		}
		return slices.IndexFunc(values, func(value string) bool { return strings.EqualFold(value, s) })
	}
	p := position(a)
	return p >= 0 && p < len(values) && p == position(b)
}

// sameSet compares lists whatever their order. Of a variable that is a list of switches, and of one that was set to a
// combination of several values, only what was asked for is compared: the server has the others too.
func sameSet(name string, combinations []string, requested, effective string) bool {
	want, have := elements(requested), elements(effective)
	partial := strings.HasSuffix(name, "_switch")
	if partial {
		want = slices.DeleteFunc(want, func(s string) bool { return s == "DEFAULT" })
	}
	if partial || slices.ContainsFunc(want, func(s string) bool { return slices.Contains(combinations, s) }) {
		return !slices.ContainsFunc(want, func(s string) bool { return !slices.Contains(have, s) })
	}
	return slices.Equal(want, have)
}

// elements of a list, each once and in upper case, sorted.
func elements(list string) []string {
	var found []string
	for element := range strings.SplitSeq(list, ",") {
		if element = strings.ToUpper(strings.TrimSpace(element)); element != "" {
			found = append(found, element)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
