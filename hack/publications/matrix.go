// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// ours is how the statement of a claim begins that is not in the publication's words.
const ours = "from the figures: "

type conclusion struct {
	*claims.Judgement
	// in is the report that has it; nil if only the full file tests it.
	in *reported
}

// conclusions of a publication: those that were judged here, and those that only the full file can judge.
func (p *publication) conclusions() []conclusion {
	var list []conclusion
	known := func(j *claims.Judgement) bool {
		return slices.ContainsFunc(list, func(c conclusion) bool {
			return c.Name == j.Name || j.Statement != "" && c.Statement == j.Statement
		})
	}
	for i := range p.reports {
		r := &p.reports[i]
		for k := range r.Claims {
			list = append(list, conclusion{&r.Claims[k], r})
		}
	}
	for i := range p.full.objects {
		judged := byFigures(&p.full.objects[i], p.reports[0].headline)
		for k := range judged {
			if j := &judged[k]; !known(j) {
				list = append(list, conclusion{j, nil})
			}
		}
	}
	return list
}

// byFigures are the claims of an object by the published figures alone.
func byFigures(o *object, headline result.Metric) []claims.Judgement {
	plans := map[string]*plan.Plan{}
	for _, v := range o.variants {
		plans[v.name] = v.plan
	}
	return judge.ByFigures(o.run.Spec.Claims, plans, func(name string) result.Metric {
		if name == "" || name == headline.Name {
			return headline
		}
		m := result.Metric{Name: name, Better: "higher"}
		if strings.HasSuffix(name, "Seconds") || strings.HasSuffix(name, "Micros") {
			m.Better = "lower"
		}
		return m
	})
}

// verdictCell is a verdict in a word or two, with a colour that a reader sees wherever this is shown; empty if there is none.
func verdictCell(v claims.Verdict) string {
	circles := map[claims.Verdict]string{
		claims.Holds: "🟢", claims.DoesNotHold: "🔴", claims.CannotSay: "⚪", claims.PremiseMissing: "🟡",
	}
	if v == "" {
		return "–"
	}
	words := stats.Words(v)
	return circles[v] + " " + strings.ToUpper(words[:1]) + words[1:]
}

// maxQuote is how much of a sentence the matrix shows.
const maxQuote = 90

// quote of a conclusion, shortened at a word: its author's sentence in quotation marks, or ours without.
func (c *conclusion) quote() string {
	text, byUs := strings.CutPrefix(c.Statement, ours)
	if text == "" {
		return ""
	}
	if runes := []rune(text); len(runes) > maxQuote {
		text = string(runes[:maxQuote])
		text = strings.TrimRight(text[:strings.LastIndex(text, " ")], " ,.;:(") + "…"
	}
	if byUs {
		return text
	}
	return "“" + text + "”"
}

func (c *conclusion) byUs() bool { return strings.HasPrefix(c.Statement, ours) || c.Statement == "" }

// matrix of the authors' sentences, and of what we read from their figures.
func matrix(list []*publication) string {
	return conclusionsOf(list, false) + "\n## What we read from their figures\n\n" + conclusionsOf(list, true)
}

// conclusionsOf publications, by us or by their authors, with a line that counts them.
func conclusionsOf(list []*publication, byUs bool) string {
	rows := [][]string{{"publication", "conclusion", "by its own figures", "here"}}
	count, fullOnly := map[claims.Verdict]int{}, 0
	for _, p := range list {
		for _, c := range p.conclusions() {
			if c.byUs() != byUs {
				continue
			}
			number, _, _ := strings.Cut(p.name, "-")
			page := filepath.Base(reportsFolder) + "/" + p.pageFile()
			at, here := page, "in full only"
			if c.in == nil {
				fullOnly++
			} else {
				at, here = page+"#"+c.in.of.name, verdictCell(c.Verdict)
				count[c.Verdict]++
			}
			link := fmt.Sprintf("[%s](%s)", c.Name, at)
			if quote := c.quote(); quote != "" {
				link += ": " + plain(quote)
			}
			rows = append(rows, []string{fmt.Sprintf("[%s](%s)", number, page), link, verdictCell(c.Published), here})
		}
	}
	decided := count[claims.Holds] + count[claims.DoesNotHold]
	return table(rows) + fmt.Sprintf("\n%d of %d are decided here (hold: %d, do not hold: %d). "+
		"Premise missing: %d; cannot say: %d; in full only: %d.\n", decided, len(rows)-1, count[claims.Holds],
		count[claims.DoesNotHold], count[claims.PremiseMissing], count[claims.CannotSay], fullOnly)
}
