// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

// ComparedFormat is a printed form of a comparison. Print writes what it is given and nothing else.
type ComparedFormat struct {
	// Name is what -o takes.
	Name  string
	Print func(io.Writer, *Compared) error
}

// ComparedFormats are all of them.
func ComparedFormats() []ComparedFormat {
	return []ComparedFormat{{"text", ComparedText}, {"markdown", ComparedMarkdown}, {"json", ComparedJSON}, {"junit", ComparedJUnit}}
}

func (r Ruling) inWords() string {
	switch r {
	case Undecided:
		return "CANNOT SAY"
	case Regression, Reproduced, Different:
		return strings.ToUpper(string(r))
	case Fine:
	}
	return "OK"
}

// answer of all pairs in a sentence: the worst regression, or what a run says of its pairs.
func (c *Compared) answer() string {
	if c.within != nil {
		return c.reproduced()
	}
	pairs := titled(c.Pairs, c.titles)
	text := stats.AnswerOf(titled(c.Overall, c.titles), pairs).Text
	slower := slices.DeleteFunc(pairs, func(p stats.Paired) bool { return c.Of(&p) != Regression })
	if len(slower) == 0 || len(c.Pairs) == 1 {
		return text
	}
	worst := slices.MaxFunc(slower, func(a, b stats.Paired) int { return cmp.Compare(loss(&a), loss(&b)) })
	regression := "slower by more than %s%%"
	if c.FailOn == Possible {
		regression = "slower, and possibly by more than %s%%,"
	}
	return fmt.Sprintf("%s%s; "+regression+" at %d of %d points", worst.String(), stats.At(worst.Parameters),
		stats.Format(100*c.Threshold), len(slower), len(c.Pairs))
}

// rule says which points are regressions.
func (c *Compared) rule() string {
	switch {
	case c.within != nil && *c.within > 0:
		return fmt.Sprintf("A point is reproduced if its interval excludes a difference of %[1]s%%, and different if the interval is "+
			"beyond %[1]s%%.", stats.Format(100**c.within))
	case c.within != nil:
		return "A point is reproduced if no difference is shown, and its interval excludes a factor of two."
	case c.Threshold < 0:
		return ""
	}
	worse := "its ratio is worse by more than %s%%"
	if c.FailOn == Possible {
		worse = "the interval does not exclude a loss of more than %s%%"
	}
	return fmt.Sprintf("A point is a regression if its whole interval is on the worse side and "+worse+".",
		stats.Format(100*c.Threshold))
}

func loss(p *stats.Paired) float64 {
	l, _, _ := p.Loss()
	return l
}

// headline of a comparison: what was compared, the answer, how much it is made of, and the ruling.
func (c *Compared) headline() string {
	return fmt.Sprintf("%s: %s, %s  %s", c.Title, c.answer(), c.size(), c.Ruling().inWords())
}

func (c *Compared) size() string {
	least, most := math.MaxInt, 0
	for _, p := range c.Pairs {
		least, most = min(least, len(p.Values), len(p.BaselineValues)), max(most, len(p.Values), len(p.BaselineValues))
	}
	unit := " rounds"
	if c.Pairs[0].Separate {
		unit = " trials each"
	}
	if least == most {
		return strconv.Itoa(most) + unit
	}
	return fmt.Sprintf("%d to %d%s", least, most, unit)
}

// blocks of a comparison: the table, how it was made, and what must be read with it.
func (c *Compared) blocks() []block {
	table := block{rows: c.table().Texts()}
	if m := c.Pairs[0].Metric; m.Better != "" {
		table.lines = []string{fmt.Sprintf("Values are medians of %s in %s (%s is better).", m.Name, m.Unit, m.Better)}
	}
	table.lines = stats.AppendNew(append(table.lines, c.Method...), c.rule())
	var open []string
	for _, p := range c.Pairs {
		if c.Of(&p) == Undecided {
			open = append(open, label(p.Parameters)+p.String())
		}
	}
	title, differences := "Differences", c.Differences
	switch {
	case len(c.Otherwise) > 0:
		title = "Other differences"
	case len(differences) == 0:
		differences = []string{"none recorded"}
	}
	return []block{
		table,
		listed("Points without an answer", open),
		listed("Points measured on one side only, which are not compared", c.onlyOne()),
		listed("The two did not measure the same thing", c.Otherwise),
		listed(title, differences),
		listed("Warnings", inLines(c.Findings)),
	}
}

func (c *Compared) onlyOne() []string {
	var list []string
	for _, p := range c.Unpaired {
		list = append(list, fmt.Sprintf("%s: only in %s", cmp.Or(stats.Label(p.Parameters), "the only point"), p.Of))
	}
	return list
}

// table has a row per comparison, with the ruling in the last column.
func (c *Compared) table() *Table {
	variants := slices.ContainsFunc(c.Pairs, func(p stats.Paired) bool { return p.Variant != c.Pairs[0].Variant })
	t := pairsTable(nil, c.Pairs, variants)
	t.addText("", func(i int) string { return c.Of(&c.Pairs[i]).inWords() })
	return t
}

// ComparedText writes a comparison for a terminal.
func ComparedText(w io.Writer, c *Compared) error { return textForm.write(w, c.headline(), c.blocks()) }

const comparedVersion = 1

// comparedDocument is the layout of a comparison in JSON.
type comparedDocument struct {
	Version int    `json:"version"`
	Ruling  Ruling `json:"ruling"`
	Answer  string `json:"answer"`
	// ThresholdPercent is left out if nothing is a regression.
	ThresholdPercent *float64 `json:"thresholdPercent,omitempty"`
	// WithinPercent is the difference that counts as none from what was measured elsewhere; left out of other comparisons.
	WithinPercent *float64 `json:"withinPercent,omitempty"`
	// FailOn is how sure a loss of more than that must be.
	FailOn Certainty `json:"failOn,omitempty"`
	// BetweenRunsPercent is the standard deviation between equal runs that was assumed; left out if the two were interleaved.
	BetweenRunsPercent *float64 `json:"betweenRunsPercent,omitempty"`
	*Compared
	Pairs []ruledCompare `json:"pairs"`
}

// ruledCompare is a pair as in results.json, with the ruling. Of separate runs, rounds are trials on the smaller side.
type ruledCompare struct {
	Ruling Ruling `json:"ruling"`
	pairDocument
}

// ComparedJSON writes everything about a comparison.
func ComparedJSON(w io.Writer, c *Compared) error {
	d := comparedDocument{Version: comparedVersion, Ruling: c.Ruling(), Answer: c.answer(), Compared: c}
	if c.Threshold >= 0 {
		d.ThresholdPercent, d.FailOn = percentOf(c.Threshold), cmp.Or(c.FailOn, Probable)
	}
	if c.within != nil {
		d.WithinPercent = percentOf(*c.within)
	}
	if c.BetweenRuns != nil {
		d.BetweenRunsPercent = percentOf(*c.BetweenRuns)
	}
	for _, p := range c.Pairs {
		d.Pairs = append(d.Pairs, ruledCompare{c.Of(&p), encodePair(&p)})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(d)
}

// percentOf a fraction as it was written: 0.05 times 100 is not 5.
func percentOf(fraction float64) *float64 {
	percent, _ := strconv.ParseFloat(stats.Format(100*fraction), 64) // which cannot fail on what was just written
	return &percent
}

// ComparedJUnit writes a test case for each point: failed for a regression, skipped without an answer or on one side only.
func ComparedJUnit(w io.Writer, c *Compared) error {
	class := c.Title + "." + cmp.Or(c.Variant, "pairs")
	var cases []junitCase
	for _, p := range c.Pairs {
		cases = append(cases, pairCase(class, &p, c.Of(&p)))
	}
	for _, text := range c.onlyOne() {
		cases = append(cases, junitCase{Name: text, ClassName: class, Skipped: reason("", text)})
	}
	return writeJUnit(w, c.Title, time.Time{}, cases)
}
