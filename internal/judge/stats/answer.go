// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Answer is what pairs show, in words.
type Answer struct {
	// Text is a sentence without its full stop; Brief has at most 40 characters, and not the baseline's name.
	Text, Brief string
	// Verdict of the pair or, if they say the same, of all.
	Verdict Verdict
	// Pair that the text begins with; nil: it is about several.
	Pair *Paired
}

// Sentence begins with a capital letter, unless its first word is a name.
func (a Answer) Sentence() string {
	if a.Pair != nil && a.Pair.Answered() || a.Text == "" {
		return a.Text
	}
	r, n := utf8.DecodeRuneInString(a.Text)
	return string(unicode.ToUpper(r)) + a.Text[n:]
}

// tallied counts what pairs say.
type tallied struct {
	n, differ, equal, none int
	// largest is the index of the largest difference, or -1; variants is how many there are.
	largest, variants int
}

func tally(list []Paired) tallied {
	t := tallied{n: len(list), largest: -1}
	variants := map[string]bool{}
	size := func(p *Paired) float64 { return math.Abs(math.Log(p.Ratio)) }
	for i := range list {
		p := &list[i]
		variants[p.Variant] = true
		switch p.Verdict {
		case Faster, Slower:
			if t.differ++; t.largest < 0 || size(p) > size(&list[t.largest]) {
				t.largest = i
			}
		case Equal:
			t.equal++
		case NoDifferenceShown:
			t.none++
		case CannotSay:
		}
	}
	t.variants = len(variants)
	return t
}

func (t *tallied) things() string {
	if t.variants > 1 {
		return " pairs"
	}
	return " points"
}

// differing says how many do, with a word for what they are.
func (t *tallied) differing(what string) string {
	if t.differ == 1 {
		return fmt.Sprintf("%d of %d%s differs", t.differ, t.n, what)
	}
	return fmt.Sprintf("%d of %d%s differ", t.differ, t.n, what)
}

// AnswerOf says what all pairs show: over all points together if that is known, then the largest difference; empty without any.
func AnswerOf(overall, list []Paired) Answer {
	all, t := tally(overall), tally(list)
	switch n := t.n; {
	case n == 0:
		return Answer{}
	case n == 1:
		return answerBy(&list[0], At(list[0].Parameters), "")
	case t.equal == n:
		within := fmt.Sprintf("equal within %d%%", list[0].EquivalencePercent)
		return Answer{fmt.Sprintf("%s for all %d", within, n) + t.things(), within, Equal, nil}
	case all.largest >= 0:
		o := &overall[all.largest]
		return answerBy(o, o.where()+t.besides(list), " overall")
	case len(overall) > 0 && all.equal == len(overall):
		return t.equalOverall(overall, list)
	case t.differ > 0:
		p := &list[t.largest]
		a := answerBy(p, At(p.Parameters)+"; "+t.differing(t.things()), "")
		a.Brief = fitting(append(p.briefs("; "+t.differing("")), p.briefs("")...)...)
		return a
	case t.none == n:
		const none = "no difference shown"
		return Answer{fmt.Sprintf(none+" for any of %d%s", n, t.things()), none, NoDifferenceShown, nil}
	case t.equal+t.none == 0 && len(overall) == 1 && overall[0].measured():
		return answerBy(&overall[0], fmt.Sprintf("; cannot say for any of %d%s", n, t.things()), " overall")
	}
	return t.undecided(list)
}

// answerBy is what a pair says, with something at the end.
func answerBy(p *Paired, end, briefEnd string) Answer {
	return Answer{p.String() + end, fitting(p.briefs(briefEnd)...), p.Verdict, p}
}

// equalOverall is the answer where every variant is equal to the baseline over all points together.
func (t *tallied) equalOverall(overall, list []Paired) Answer {
	o := &overall[0]
	a := answerBy(o, o.where()+t.besides(list), " overall")
	if within := fmt.Sprintf(" within %d%% ", o.EquivalencePercent); len(overall) > 1 {
		text := "all variants are equal to " + o.Baseline + within + "over all points" + t.besides(list)
		a = Answer{text, "all equal" + within + "overall", Equal, nil}
	}
	if t.differ > 0 {
		a.Brief = fitting("equal overall; "+t.differing(t.things()), "equal overall")
	}
	return a
}

// besides is what single points say beside all of them together, as the end of a sentence.
func (t *tallied) besides(list []Paired) string {
	if t.differ == 0 {
		return "; no single point is shown to differ"
	}
	most, who := &list[t.largest], ""
	if t.variants > 1 {
		who = most.Variant + " "
	}
	text, _ := most.brief()
	return fmt.Sprintf("; %s, most %sat %s: %s", t.differing(t.things()), who, Label(most.Parameters), text)
}

// undecided is the answer of several pairs of which none differs and not all are equal: so many are, of so many no
// difference is shown, and of the others nothing can be said.
func (t *tallied) undecided(list []Paired) Answer {
	others := "; cannot say for the others"
	if t.equal+t.none == t.n {
		others = "; no difference shown for the others"
	}
	switch within := fmt.Sprintf("equal within %d%%", list[0].EquivalencePercent); {
	case t.equal > 0:
		some := fmt.Sprintf("%d of %d", t.equal, t.n)
		return Answer{within + " for " + some + t.things() + others, some + " " + within, CannotSay, nil}
	case t.none > 0:
		some := fmt.Sprintf("no difference shown for %d of %d", t.none, t.n)
		return Answer{some + t.things() + others, some, CannotSay, nil}
	case !slices.ContainsFunc(list, func(p Paired) bool { return p.Verdict != CannotSay || p.Why() != list[0].Why() }):
		return Answer{"cannot say: " + list[0].Why(), list[0].briefCause(), CannotSay, nil}
	}
	all := fmt.Sprintf("%d%s", t.n, t.things())
	return Answer{"cannot say for any of " + all, "cannot say for " + all, CannotSay, nil}
}
