// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plot_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// at is a value of any parameter that a test names.
func at(text string) map[string]string {
	return map[string]string{"size": text, "mode": text, "x": text}
}

// series of points with the given values of a parameter, each of three repetitions.
func series(name string, values ...string) plot.Series {
	s := plot.Series{Name: name}
	for i, text := range values {
		values := []float64{100 * float64(i+1), 104 * float64(i+1), 97 * float64(i+1)}
		s.Points = append(s.Points, stats.Point{Parameters: at(text), Values: values, Summary: stats.Summarize(values)})
	}
	return s
}

// pairs of a comparison: one faster, one slower, one equal, one without an interval.
func pairs() []stats.Paired {
	var list []stats.Paired
	for i, c := range []stats.Comparison{
		{Verdict: stats.Faster, Ratio: 3, Low: 2.8, High: 3.2},
		{Verdict: stats.Slower, Ratio: 0.9, Low: 0.85, High: 0.94},
		{Verdict: stats.Equal, Ratio: 1, Low: 0.98, High: 1.03},
		{Verdict: stats.CannotSay, Ratio: 1, High: math.Inf(1)},
	} {
		list = append(list, stats.Paired{
			Variant: "lazy", Baseline: "durable", Parameters: map[string]string{"rowsPerCommit": fmt.Sprint(i)},
			Metric:             result.Metric{Name: "rowsPerSecond", Unit: "rows/s", Better: "higher"},
			EquivalencePercent: 5, BaselineValues: []float64{100, 101}, Values: []float64{300, 290, 310}, Comparison: c,
		})
	}
	return list
}

func label(p *stats.Paired) string { return stats.Label(p.Parameters) }

// longLabel takes two lines.
func longLabel(p *stats.Paired) string {
	return "large-buffer, clients=20, rowsPerStatement=2000, statementsPerTransaction=16, " + label(p)
}

// Names of rows do not take the room of the ratios, however long they are.
func TestRatiosOfLongNames(t *testing.T) {
	span := func(p *plot.Plot) float64 {
		text := svg(t, p)
		var xs []float64
		for _, group := range regexp.MustCompile(`(?s)<g class="[lf]\w+ interval" .*?</g>`).FindAllString(text, -1) {
			for _, at := range regexp.MustCompile(`M([\d.]+)`).FindAllStringSubmatch(group, -1) {
				x := must.Get(strconv.ParseFloat(at[1], 64))(t)
				xs = append(xs, x)
			}
		}
		if len(xs) == 0 {
			t.Fatalf("no interval was found in %s", text)
		}
		return slices.Max(xs) - slices.Min(xs)
	}
	short, long := span(plot.Ratios("", pairs(), label)), span(plot.Ratios("", pairs(), longLabel))
	if long < short {
		t.Errorf("the ratios span %.0f pixels beside long names, %.0f beside short ones", long, short)
	}
	for _, line := range []string{">large-buffer, clients=20, rowsPerStatement=2000<", ">statementsPerTransaction=16, rowsPerCommit=0<"} {
		must.Has(t, svg(t, plot.Ratios("", pairs(), longLabel)), line)
	}
}

func svg(t *testing.T, p *plot.Plot) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, p.SVG(&b))
	return b.String()
}

// plots of every kind.
func plots() map[string]*plot.Plot {
	line := []plot.Line{
		{Name: "a", Points: []plot.XY{{X: 1, Y: 10}, {X: 2, Y: 12}, {X: 3, Y: math.NaN()}, {X: 4, Y: 11}}},
		{Name: "b", Points: []plot.XY{{X: 1, Y: 20}, {X: 4, Y: 25}}},
	}
	all := pairs()
	return map[string]*plot.Plot{
		"curve":       plot.Curve("rows/s against size", "size", "rows/s", []plot.Series{series("", "1", "2", "4")}),
		"words":       plot.Curve("by words", "mode", "rows/s", []plot.Series{series("a", "x", "y"), series("b", "x", "y")}),
		"ratios":      plot.Ratios("Ratios", all, label),
		"long names":  plot.Ratios("Ratios", all, longLabel),
		"rounds":      plot.Rounds("lazy", &all[0]),
		"lines":       plot.Lines("Rate over time", "s", "rows/s", "about", line),
		"percentiles": plot.Percentiles("Latency", "about", []plot.Line{{Points: []plot.XY{{X: 0, Y: 100}, {X: 0.5, Y: 200}, {X: 0.99, Y: 900}}}}),
	}
}

// Everything that was measured is in the picture, marked as what it is.
func TestMarks(t *testing.T) {
	elements := regexp.MustCompile(`<(circle|path)`)
	for name, want := range map[string]map[string]int{
		"curve": {"dot": 9, "median": 3, "interval": 9, "curve": 1}, "words": {"dot": 12, "median": 4, "curve": 0},
		"ratios": {"ratio": 3, "band": 1, "interval": 9}, "rounds": {"dot": 4},
		"lines": {"curve": 2, "mark": 5}, "percentiles": {"curve": 1},
	} {
		text := svg(t, plots()[name])
		for class, n := range want {
			got := 0
			for _, group := range regexp.MustCompile(`(?s)<g class="[lf]\w+ `+class+`" .*?</g>`).FindAllString(text, -1) {
				got += len(elements.FindAllString(group, -1))
			}
			must.Same(t, name+": elements of class "+class, n, got)
		}
	}
}

// A plot is well-formed, the same each time, and needs nothing else.
func TestSVG(t *testing.T) {
	again := plots()
	for name, p := range plots() {
		text := svg(t, p)
		must.Same(t, name, text, svg(t, again[name]))
		for d := xml.NewDecoder(strings.NewReader(text)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
		}
		outside := strings.Replace(text, `xmlns="http://www.w3.org/2000/svg"`, "", 1)
		if strings.Contains(outside, "http") || strings.Contains(outside, "url(") || strings.Contains(outside, "href") {
			t.Errorf("%s refers to something outside", name)
		}
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%s has a place that is no number", name)
		}
		if !strings.Contains(text, `role="img" aria-label="`+p.Title+". ") || p.Text == "" {
			t.Errorf("%s says nothing to those who do not see it", name)
		}
	}
}

func TestGolden(t *testing.T) {
	testutil.Golden(t, "curve.svg", []byte(svg(t, plots()["curve"])))
	testutil.Golden(t, "ratios.svg", []byte(svg(t, plots()["ratios"])))
}

// Of nothing there is no plot.
func TestNothing(t *testing.T) {
	for name, p := range map[string]*plot.Plot{
		"curve": plot.Curve("", "", "", nil), "points": plot.Curve("", "", "", []plot.Series{{Name: "a"}}),
		"ratios": plot.Ratios("", pairs()[3:], label), "rounds": plot.Rounds("", &stats.Paired{}), "lines": plot.Lines("", "", "", "", nil),
		"percentiles": plot.Percentiles("", "", nil),
	} {
		if p != nil {
			t.Errorf("%s is a plot of nothing", name)
		}
	}
}

// One value, equal values, zeros and negative numbers are drawn, too.
func TestUnusualValues(t *testing.T) {
	for name, values := range map[string][]float64{"one": {5}, "equal": {5, 5, 5}, "zeros": {0, 0}, "negative": {-3, 4}, "below": {-3, -4}, "huge": {1e300, 2}} {
		s := plot.Series{Points: []stats.Point{{Parameters: at("7"), Values: values, Summary: stats.Summarize(values)}}}
		if text := svg(t, plot.Curve("t", "x", "y", []plot.Series{s})); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%s:\n%s", name, text)
		}
		p := &stats.Paired{Values: values, BaselineValues: values}
		if text := svg(t, plot.Rounds("t", p)); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("rounds of %s:\n%s", name, text)
		}
	}
}

// More repetitions than a plot can show are left out; the medians stay.
func TestManyDots(t *testing.T) {
	var s plot.Series
	for i := range 1000 {
		values := []float64{float64(i), float64(i) + 1, float64(i) + 2, float64(i) + 3}
		s.Points = append(s.Points, stats.Point{Parameters: at(fmt.Sprint(i + 1)), Values: values, Summary: stats.Summarize(values)})
	}
	text := svg(t, plot.Curve("t", "x", "y", []plot.Series{s}))
	if strings.Contains(text, `f0 dot"`) || strings.Count(text, "<title>") != 1001 {
		t.Errorf("%d titles", strings.Count(text, "<title>"))
	}
}

// Series of one colour have different marks, and the plot has room for their names.
func TestMoreSeriesThanColours(t *testing.T) {
	var many []plot.Series
	for i := range plot.MaxLines {
		many = append(many, series(fmt.Sprint("series ", i), "1", "2"))
	}
	text := svg(t, plot.Curve("t", "x", "y", many))
	marks := map[string]bool{}
	for _, group := range regexp.MustCompile(`(?s)<g class="f(\d) median" .*?</g>`).FindAllStringSubmatch(text, -1) {
		for _, mark := range regexp.MustCompile(`<(circle|path d="([MLZ]|[\d. ]+)*")`).FindAllString(group[0], -1) {
			corners := strings.Count(mark, "L")
			first := strings.SplitN(mark, "L", 3)
			shape := fmt.Sprint(group[1], corners)
			if corners == 11 { // the upright cross begins with a horizontal edge, the other one does not
				shape += fmt.Sprint(strings.HasSuffix(first[0], strings.Fields(first[1])[1]))
			}
			marks[shape] = true
		}
	}
	if len(marks) < plot.MaxLines {
		t.Errorf("%d different marks of %d series: %v", len(marks), plot.MaxLines, marks)
	}
	must.Has(t, text, `viewBox="0 0 400 361"`)
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]string{"1": "1", "1000": "1,000", "-1234567.25": "-1,234,567.25", "1e+17": "1e+17", "": "", "999": "999"} {
		must.Same(t, text, want, stats.Grouped(text))
	}
	for v, want := range map[float64]string{250: "250 µs", 1500: "1.5 ms", 2e6: "2 s"} {
		must.Same(t, fmt.Sprint(v), want, plot.Micros(v))
	}
}
