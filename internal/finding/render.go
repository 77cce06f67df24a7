// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// String is the finding for people, in a line. It says how many trials and measurements it is about, if not about all of them.
func (f Finding) String() string {
	text := f.Text()
	if f.Trials != f.Of {
		text += fmt.Sprintf(" (%d of %d trials)", f.Trials, f.Of)
	}
	if f.Runs != f.OfRuns {
		text += fmt.Sprintf(" (%d of %d measurements)", f.Runs, f.OfRuns)
	}
	return text
}

// Text is the finding for people, whatever it is about.
func (f Finding) Text() string {
	e, known := Table[f.Code]
	if !known {
		return f.bare()
	}
	text, _ := f.fill(e.Text)
	return text
}

// Texts are findings for people, a line for each.
func Texts(list []Finding) []string {
	var texts []string
	for _, f := range list {
		texts = append(texts, f.String())
	}
	return texts
}

// bare is a finding that has no text here: a later release has made it.
func (f Finding) bare() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(f.Where)) {
		parts = append(parts, name+" "+f.Where[name])
	}
	for _, m := range f.Measures {
		unit := m.Unit
		if unit != "" && unit != percent {
			unit = " " + unit
		}
		parts = append(parts, m.Name+" "+m.text(significant)+unit)
	}
	code := cmp.Or(string(f.Code), unknown) // a text is never empty: a status with an empty warning would be refused
	if len(parts) == 0 {
		return code
	}
	return fmt.Sprintf("%s (%s)", code, strings.Join(parts, ", "))
}

// fill a template: {name} is a name or a measure, {name:1} a measure with one decimal place, {name:µs} one in microseconds with
// its unit, {low–high} the range from one measure to another, and {name:+} a name and all measures after it: a/x, 3 from Jobs.
// What is between brackets is left out unless the finding has all that is in it. ok says that it has all that is outside.
func (f Finding) fill(template string) (text string, ok bool) {
	var b strings.Builder
	ok = true
	for template != "" {
		at := strings.IndexAny(template, "{[")
		if at < 0 {
			b.WriteString(template)
			break
		}
		b.WriteString(template[:at])
		end := at + strings.IndexByte(template[at:], closing[template[at]])
		inside := template[at+1 : end]
		if template[at] == '[' {
			if part, whole := f.fill(inside); whole {
				b.WriteString(part)
			}
		} else {
			value, found := f.value(inside)
			b.WriteString(value)
			ok = ok && found
		}
		template = template[end+1:]
	}
	return b.String(), ok
}

var closing = map[byte]byte{'{': '}', '[': ']'}

// unknown stands where a finding lacks a name or a measure, as one whose measure was not a number does.
const unknown = "unknown"

func (f Finding) value(placeholder string) (text string, found bool) {
	name, format, _ := strings.Cut(placeholder, ":")
	if format == "+" {
		return f.list(name)
	}
	if where, is := f.Where[name]; is {
		return where, true
	}
	from, to, ranges := strings.Cut(name, "–")
	low, found := f.measure(from)
	if high, second := f.measure(to); ranges {
		low.High, found = high.High, found && second
	}
	if !found {
		return unknown, false
	}
	return low.text(format), true
}

func (f Finding) measure(name string) (m Measure, found bool) {
	i := slices.IndexFunc(f.Measures, func(m Measure) bool { return m.Name == name })
	if i < 0 {
		return m, false
	}
	return f.Measures[i], true
}

// list is a name, if there is one, and what was counted besides.
func (f Finding) list(name string) (text string, found bool) {
	var parts []string
	if where, is := f.Where[name]; is {
		parts = append(parts, where)
	}
	if _, are := f.Where[others]; are {
		parts = append(parts, "and others")
	}
	for _, m := range f.Measures {
		parts = append(parts, m.text("")+" "+m.Name)
	}
	return strings.Join(parts, ", "), len(parts) > 0
}

// text is the number, or the two ends of the range.
func (m Measure) text(format string) string {
	if format == micros {
		return Micros(m.Low, m.High)
	}
	low, high := written(m.Low, format), written(m.High, format)
	if low == high {
		return low
	}
	return low + "–" + high
}

// significant is the format of a number with four significant digits.
const significant = "g"

// Micros is a time, or the range of it, given in microseconds: from 100000 on in milliseconds, from a million on in seconds.
func Micros(low, high float64) string {
	unit, scale := MicrosUnit(high)
	return Measure{Low: low / scale, High: high / scale}.text(significant) + " " + unit
}

// MicrosUnit is the unit in which times of up to so many microseconds are written, and how many of them it is.
func MicrosUnit(most float64) (unit string, scale float64) {
	const milli, second, rounded = 1e3, 1e6, 0.99995 // four significant digits
	switch {
	case most < rounded*100*milli:
		return micros, 1
	case most < rounded*second:
		return "ms", milli
	}
	return "s", second
}

// written is a number with so many decimal places, none by default, or with four significant digits.
func written(v float64, format string) string {
	if format != significant {
		places, _ := strconv.Atoi(format) // empty is none
		return strconv.FormatFloat(v, 'f', places, 64)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 3, 64), 64) // it was just written
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// Entry is what the table says of a code. docs/reference/findings.md has what it means for the number, and what to do.
type Entry struct {
	Severity Severity
	// Text is the template of the line: see fill.
	Text string
}

// Pattern is the text of a code with capitals for what is measured or named. What is between brackets is not always there.
func (e Entry) Pattern() string {
	var b strings.Builder
	for i, part := range strings.Split(e.Text, "{") {
		if i > 0 {
			inside, after, _ := strings.Cut(part, "}")
			name, _, _ := strings.Cut(inside, ":")
			part = strings.ToUpper(name) + after
		}
		b.WriteString(part)
	}
	return b.String()
}

// Table has every code: those that the loader and the workloads make, and then those that the operator makes, of an attempt's
// place and of several trials.
var Table = map[Code]Entry{
	ShortMeasurement:    {Warning, "the measured phase took less than a second: use more rows"},
	ShortProgram:        {Warning, "the measured phase took less than a second: give the program more work"},
	TransactionsRetried: {Warning, "{retried} transactions ({share:1}% of all) were rolled back and retried"},
	EventsGivenUp: {Warning, "{events} events ({share:1}% of all) were given up because of errors that sysbench ignores, and " +
		"begun anew"},
	ClientBusy: {Warning, "the client[ of Pod {pod}] used {share:0}% of [{connections} CPUs, one per connection][the node's " +
		"{cpus} CPUs][its CPU limit of {limitMillis}m]: it may have been the bottleneck"},
	ClientBusyOneConnection: {Warning, "the client[ of Pod {pod}] used {share:0}% of one CPU, the most that one connection can " +
		"use: it may have been the bottleneck"},
	ClientThrottled: {Warning, "the client[ of Pod {pod}] was throttled at its CPU limit for {share:1}% of the time"},
	LateAnswers: {Warning, "{latencies} insert latencies are too high: they include the client's work on its next statement, " +
		"because its kernel does not report when an answer arrives"},
	CommitsNotDurable:   {Notice, "commits are not durable: {variable} is {value}"},
	BinaryLogNotDurable: {Notice, "the binary log is not durable: {variable} is {value}"},
	SettingRounded:      {Notice, "the server rounded {variable}={requested} to {effective}, which is {share:1}% off"},
	SettingNotVerifiable: {Notice, "the server was started with {option}={value}, and has no variable that shows it: it cannot be " +
		"verified"},
	ServerNotAtRest:  {Warning, "the server did not settle: after {seconds} s it still had {amount} {debt} (goal: {goal})"},
	LongTransactions: {Warning, "transactions under way at the end of a slice took up to {seconds:1} s to end, longer than a slice"},
	WrittenInPauses: {Warning, "the server wrote {pages} pages back in the pauses between its slices, {share:0}% of all: a load " +
		"without pauses may be slower"},
	BusyInPauses:   {Warning, "the server used {share:0}% of its machine's CPUs while other variants were measured"},
	ObserverSilent: {Warning, "the observer in the database Pod did not answer: the server's resource usage is unknown"},
	SchemaLeft:     {Warning, "the schema {schema} may still be on the server, because dropping it failed: {error}"},
	SchemaDropped:  {Warning, "the program dropped the run's schema {schema}: give it another one"},
	DataNotCopied:  {Warning, "no copy of the prepared data could be made: {error}"},
	StoppedByLimit: {Notice, "stopped at the limit of {seconds} s[, after {rows} of {planned} rows][; at the terminal rate, all " +
		"rows would take {estimate:0} s]"},
	RateNotReached: {Warning, "the rate of {rate} {unit} was not reached: {reached:1} {unit}, {share:1}% of the offered load[; " +
		"{waiting} were still queued at the end and have no latency]"},
	Reconnected:       {Warning, "{program} reconnected {times}× during the measurement"},
	InputNotUsedWhole: {Notice, "bulkInsert.rows uses only the first {rows} of {available} rows of {file}"},
	ContestRows:       {Notice, "deviates from {contest}: {rows} rows instead of {required}"},
	ContestServer:     {Notice, "deviates from {contest}: server version {version} instead of {required}"},
	ContestHardware: {Notice, "deviates from {contest}: the hardware is not limited to 8 cores, 16 GB of memory and 8 drives (see " +
		"the environment)"},
	ProgramWarning: {Warning, "{text}"},

	PodsArrived:  {Warning, "Pods started on the database node during the attempt: {pods:+}"},
	PodsDeparted: {Warning, "Pods left the database node during the attempt: {pods:+}"},
	PodsUnread: {Warning, "more Pods are on the database node than the operator reads: which came or left is not known ({read} " +
		"were read)"},
	NodeConditions:    {Warning, "the database node was short of resources: {conditions}"},
	PodsNotGuaranteed: {Warning, "Pods are not Guaranteed ({pods}): other Pods on their nodes may take CPU and memory from them"},
	ForeignContainers: {Warning, "other containers ran in the Pods: {containers}"},
	VolumesRetained:   {Notice, "the database's volumes were not deleted: the reclaim policy of storage class {class} is Retain"},
	ServerThrottled: {Warning, "the server was throttled at its CPU limit for {share:0}% of the measured phase: the number " +
		"depends on that limit"},
	SettingNotExercised: {Warning, "{variant} and {baseline} differ in {variable}, and the load used at most {used:0} MiB of it: " +
		"the smaller one has {smaller:0} MiB"},
	SummaryTooLarge: {Notice, "the summary of the result document has {bytes} bytes, of which at most {most} are kept: see {file} " +
		"for all findings, settings and latencies"},
	WideSpread: {Warning, "the values span more than {bound}% of their median"},
	DiskVaried: {Warning, "disk probe: fdatasync took {fast:µs} (p95 {fastP95:µs}) before trial {first} and {slow:µs} (p95 " +
		"{slowP95:µs}) before trial {last}"},
	CPUVaried:    {Warning, "CPU probe: {fast–slow:µs} (fastest before trial {first}, slowest before trial {last})"},
	InputChanged: {Warning, "input {input} changed between trials: {versions}"},
	TooFewRounds: {Warning, "rounds.atMost ({rounds}) is too small for a verdict: the first is possible after {first} rounds " +
		"(pairs: {pairs})"},
	CapacityOutsideRates: {Warning, "the capacity[ of {variant}] is {where} the rates that may be offered, {lowest} to {highest} " +
		"{unit}, in {rounds} of {of} rounds"},
	EnvironmentsDiffer: {Warning, "{runs} had different {property}: {values}"},
	Unrequested:        {Warning, "{runs} had different {property} although the specification is the same: {values}"},
	BinaryLogDiffers:   {Notice, "{with} writes a binary log and {without} does not: the difference includes the cost of the log"},
}
