// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/result"
)

var (
	// maxRounding is the largest relative difference that passes for the server's own rounding; beyond warnRounding it is said.
	maxRounding  = big.NewRat(10, 100)
	warnRounding = big.NewRat(1, 100)
	// shownFraction is to what the server rounds numbers with a fraction.
	shownFraction = big.NewRat(1, 1_000_000)
)

// CompareSettings puts each requested setting beside the server's variables, which are by lower-case name, and an option that is
// no variable beside what the server took.
func CompareSettings(
	e *engine.Engine, requested []result.Setting, variables map[string]string, taken *Taken,
) []result.AppliedSetting {
	applied := make([]result.AppliedSetting, 0, len(requested))
	for _, setting := range requested {
		a := result.AppliedSetting{Name: setting.Name, Requested: setting.Value}
		o := find(e, setting, variables)
		switch {
		case o.known:
			a.Effective = o.effective
			a.Outcome = compareValues(e, variables, o.variable, o.want, o.effective)
		case taken.has(setting):
			a.Outcome = result.SettingNotVerifiable
		case o.loose:
			a.Outcome = result.SettingIgnored
		default:
			a.Outcome = result.SettingRefused
		}
		applied = append(applied, a)
	}
	return applied
}

// option is a setting as the server understands it.
type option struct {
	variable, want, effective string
	known, loose              bool
}

func find(e *engine.Engine, setting result.Setting, variables map[string]string) option {
	o := option{want: setting.Value}
	o.variable, o.loose = optionName(setting.Name)
	o.loose = o.loose || setting.Loose
	if o.effective, o.known = lookUp(e, o.variable, variables); o.known {
		if o.want == "" && boolean(o.effective) != "" {
			// An option without a value switches on.
			o.want = "ON"
		}
		return o
	}
	// An option without a variable of its own name is a switch for another one: skip_x is x=OFF.
	if other, skips := strings.CutPrefix(o.variable, "skip_"); skips {
		o.variable, o.want = other, "OFF"
		if boolean(setting.Value) == "OFF" {
			o.want = "ON"
		}
		o.effective, o.known = lookUp(e, other, variables)
	}
	return o
}

// optionName is an option's name as a variable's: in lower case and with underscores, without loose_.
func optionName(name string) (variable string, loose bool) {
	variable = strings.ReplaceAll(strings.ToLower(strings.TrimLeft(name, "-")), "-", "_")
	return strings.CutPrefix(variable, "loose_")
}

// lookUp finds what belongs to a variable under this name, or another one of it.
func lookUp[V any](e *engine.Engine, name string, of map[string]V) (value V, known bool) {
	if value, known = of[name]; !known {
		value, known = of[e.Variables.Synonyms[name]]
	}
	return value, known
}

// compareValues compares two values of a variable as values: 128M is 134217728, ON is 1, the order of sets does not
// count. What a value is rounded to may be in another one of the variables.
func compareValues(e *engine.Engine, variables map[string]string, name, requested, effective string) result.SettingOutcome {
	if requested == effective {
		return result.SettingEffective
	}
	if unit, has := lookUp(e, name, e.Variables.Units); has {
		want, isOne := e.Variables.Quantity(requested, unit)
		have, isAnother := e.Variables.Quantity(effective, unit)
		if step, _ := e.Variables.Quantity("1", unit); isOne && isAnother {
			return compareNumbers(want, have, step)
		}
	}
	want, wantNumber := number(requested)
	have, haveNumber := number(effective)
	if wantNumber && haveNumber {
		step := roundedTo(e, variables, name)
		if strings.Contains(effective, ".") {
			step = shownFraction
		}
		return compareNumbers(want, have, step)
	}
	if b := boolean(requested); b != "" && b == boolean(effective) {
		return result.SettingEffective
	}
	if isPath(requested) || isPath(effective) {
		return result.SettingRefused
	}
	enum, _ := lookUp(e, name, e.Variables.Enums)
	if strings.EqualFold(requested, effective) ||
		sameEnum(enum, requested, effective) ||
		sameSet(name, e.Variables.Combinations[name], requested, effective) {
		return result.SettingEffective
	}
	return result.SettingRefused
}

// compareNumbers compares numbers of which the server takes multiples of step only; nil if it takes all.
func compareNumbers(want, have, step *big.Rat) result.SettingOutcome {
	absolute := new(big.Rat).Sub(have, want)
	absolute.Abs(absolute)
	relative := difference(want, have)
	switch {
	case absolute.Sign() == 0:
		return result.SettingEffective
	case step == nil || absolute.Cmp(step) >= 0, have.Sign() == 0, relative == nil || relative.Cmp(maxRounding) > 0:
		return result.SettingRefused
	}
	return result.SettingAdjusted
}

// roundedTo is what the server takes multiples of as values of a variable; nil if it takes all values.
func roundedTo(e *engine.Engine, variables map[string]string, name string) *big.Rat {
	rounding, rounded := lookUp(e, name, e.Variables.Rounded)
	if !rounded {
		return nil
	}
	step, by := new(big.Rat).SetInt64(rounding.To), big.NewRat(1, 1)
	for _, name := range rounding.By {
		// A server without the variable, for example without instances of the buffer pool, does not round by it.
		if factor, isNumber := number(variables[name]); isNumber {
			by.Mul(by, factor)
		}
	}
	if by.Cmp(step) > 0 {
		return by
	}
	return step
}

// difference of two numbers relative to the first; nil if that is zero and the other one is not.
func difference(want, have *big.Rat) *big.Rat {
	d := new(big.Rat).Sub(have, want)
	switch {
	case d.Sign() == 0:
		return d
	case want.Sign() == 0:
		return nil
	}
	d.Quo(d, want)
	return d.Abs(d)
}

// RefusedSettings is the error that names every setting that is not effective; nil if there is none.
func RefusedSettings(
	e *engine.Engine, requested []result.Setting, applied []result.AppliedSetting, variables map[string]string,
) error {
	var refused []string
	for i, a := range applied {
		if a.Outcome != result.SettingRefused {
			continue
		}
		server := "the server has no such variable"
		if find(e, requested[i], variables).known { //nolint:gosec // applied is as long as requested
			server = fmt.Sprintf("the server has %q", a.Effective)
		}
		refused = append(refused, fmt.Sprintf("%s=%s was requested, but %s", a.Name, a.Requested, server))
	}
	if len(refused) == 0 {
		return nil
	}
	return failure.Newf(result.CauseSettingNotEffective, "%s", strings.Join(refused, "; "))
}

// Adjustments are the settings that the server rounded by more than 1%.
func Adjustments(applied []result.AppliedSetting) []finding.Finding {
	var found []finding.Finding
	for _, a := range applied {
		want, wantNumber := number(a.Requested)
		have, haveNumber := number(a.Effective)
		if a.Outcome != result.SettingAdjusted || !wantNumber || !haveNumber {
			continue
		}
		if d := difference(want, have); d != nil && d.Cmp(warnRounding) > 0 {
			percent, _ := new(big.Rat).Mul(d, big.NewRat(100, 1)).Float64()
			found = append(found, finding.Rounded(a.Name, a.Requested, a.Effective, percent))
		}
	}
	return found
}

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

// boolean is ON or OFF, whatever the value calls it; empty if it is neither.
func boolean(s string) string {
	switch strings.ToUpper(s) {
	case "ON", "1", "TRUE", "YES":
		return "ON"
	case "OFF", "0", "FALSE", "NO":
		return "OFF"
	}
	return ""
}

// isPath says that a value is compared letter by letter.
func isPath(s string) bool { return strings.ContainsAny(s, `/\`) }

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
