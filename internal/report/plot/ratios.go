// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

// MaxRatios is how many pairs a forest plot has room for.
const MaxRatios = 40

// verdictMarks are the colour and the shape of a verdict, as indexes of the palette and of the shapes.
var verdictMarks = map[stats.Verdict]int{
	stats.Faster: 0, stats.Slower: 1, stats.Equal: 2, stats.NoDifferenceShown: 3, stats.CannotSay: 3,
}

// Ratios is a forest plot: for each pair the ratio with its interval, on a logarithmic axis around 1, and the band of
// differences that count as none. A comparison without an interval has none to show.
func Ratios(title string, pairs []stats.Paired, name func(*stats.Paired) string) *Plot {
	var shown []*stats.Paired
	var names []string
	for i := range pairs {
		if pairs[i].Bounded() && len(shown) < MaxRatios {
			shown, names = append(shown, &pairs[i]), append(names, name(&pairs[i]))
		}
	}
	if len(shown) == 0 {
		return nil
	}
	m := shown[0].Metric
	within := float64(shown[0].EquivalencePercent) / 100
	about := fmt.Sprintf("The ratio of each pair with its interval; the band is where two count as equal, within %d%%.",
		shown[0].EquivalencePercent)
	y := fmt.Sprintf("ratio to %s (%s, the %s the better)", shown[0].Baseline, m.Name, m.Better)
	p := newPlot(title, about, "", y, []string{"faster", "slower", "equal", "cannot say"})
	ratioAxis(&p.frame.X, shown, within)
	above := p.nameRows(names)
	p.frame.Add(plotter(func(c draw.Canvas, f *plot.Plot) {
		at := func(ratio float64) vg.Length { return c.X(f.X.Norm(ratio)) }
		low, high := at(1/(1+within)), at(1+within)
		marking(c, "band", "", func() {
			c.FillPolygon(faint, []vg.Point{{X: low, Y: c.Min.Y}, {X: high, Y: c.Min.Y}, {X: high, Y: c.Max.Y}, {X: low, Y: c.Max.Y}})
		})
		c.StrokeLine2(line(soft, 1), at(1), c.Min.Y, at(1), c.Max.Y)
		for i, pair := range shown {
			y := c.Y(f.Y.Norm(float64(-i)))
			kind, known := verdictMarks[pair.Verdict]
			if !known {
				kind = verdictMarks[stats.CannotSay]
			}
			marking(c, "interval", "", func() {
				bar(c, palette[kind], vg.Point{X: at(pair.Low), Y: y}, vg.Point{X: at(pair.High), Y: y})
			})
			marking(c, "ratio", pair.String(), func() { mark(c, kind, vg.Point{X: at(pair.Ratio), Y: y}, 4) })
			for n, words := range above[i] {
				c.FillText(rowName, vg.Point{X: c.Min.X, Y: y + nameGap + nameHeight*(vg.Length(len(above[i])-n)-0.5)}, words)
			}
		}
	}))
	return p
}

const (
	rowHeight, nameHeight = vg.Length(22), vg.Length(14)
	// nameGap is between a mark and a name above it.
	nameGap = vg.Length(6)
	// besideShare of the width is the most that names beside the rows may take.
	besideShare = 0.45
)

var rowName = styled(smallSize, ink, text.XLeft, text.YCenter)

// nameRows gives each row its name: beside it or, where names are so long that they would leave no room for the ratios, above it,
// in as many lines as it takes. It returns the lines that are to be drawn above the rows.
func (p *Plot) nameRows(names []string) [][]string {
	longest, lines := vg.Length(0), 0
	above := make([][]string, len(names))
	for i, name := range names {
		longest = max(longest, rowName.Width(name))
		above[i] = wrap(name, p.width-4*margin)
		lines = max(lines, len(above[i]))
	}
	y := &p.frame.Y
	y.Min, y.Max = 0.5-float64(len(names)), 0.5
	y.Tick.Label.Color = ink
	if nameStretch*longest > besideShare*p.width {
		pitch := rowHeight + nameHeight*vg.Length(lines)
		first := max(0, nameGap+nameHeight*vg.Length(lines)-pitch/2) // the first row's name has no row above it
		y.Tick.Marker, p.height = plot.ConstantTicks(nil), 86+first+pitch*vg.Length(len(names))
		y.Max += float64(first / pitch)
		return above
	}
	var ticks plot.ConstantTicks
	for i, name := range names {
		ticks = append(ticks, plot.Tick{Value: float64(-i), Label: name})
	}
	y.Tick.Marker, p.height = ticks, 86+rowHeight*vg.Length(len(names))
	return make([][]string, len(names))
}

// nameStretch allows for fonts that are wider than ours.
const nameStretch = 1.2

// wrap breaks a name between its parts, so that each line has that width at most; a part that is wider has a line of its own.
func wrap(name string, width vg.Length) []string {
	var lines []string
	for part := range strings.SplitSeq(name, ", ") {
		if last := len(lines) - 1; last >= 0 && nameStretch*rowName.Width(lines[last]+", "+part) <= width {
			lines[last] += ", " + part
			continue
		}
		lines = append(lines, part)
	}
	return lines
}

// ratioAxis reaches as far to one side of 1 as to the other, unless all is on one side of it.
func ratioAxis(axis *plot.Axis, pairs []*stats.Paired, within float64) {
	low, high := 1/(1+2*within), 1+2*within
	for _, p := range pairs {
		low, high = min(low, p.Low), max(high, p.High)
	}
	axis.Scale = plot.LogScale{}
	axis.Min, axis.Max = low/1.02, high*1.02
	var ticks []plot.Tick
	for _, v := range ratioSteps(high / low) {
		if v >= axis.Min && v <= axis.Max {
			ticks = append(ticks, plot.Tick{Value: v, Label: stats.Format(v)})
		}
	}
	const room = 34
	axis.Tick.Marker = spaced{ticks: ticks, room: room, log: true}
}

// ratioSteps are round ratios, the finer the less they span.
func ratioSteps(span float64) []float64 {
	var list []float64
	switch {
	case span > 6:
		for p := -4.0; p <= 4; p++ {
			for _, n := range []float64{1, 2, 5} {
				list = append(list, n*math.Pow(10, p))
			}
		}
	case span > 1.6:
		list = []float64{0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6}
	default:
		for n := 50; n <= 200; n += 5 {
			list = append(list, float64(n)/100)
		}
	}
	return list
}

// Rounds shows what was measured of a pair, round by round: two dots in each, and between them a line.
func Rounds(title string, pair *stats.Paired) *Plot {
	n := min(len(pair.Values), len(pair.BaselineValues))
	if n == 0 {
		return nil
	}
	both := [][]float64{pair.BaselineValues[:n], pair.Values[:n]}
	about := fmt.Sprintf("%s in each round, %s beside %s.", pair.Metric.Unit, pair.Variant, pair.Baseline)
	p := newPlot(title, about, "round", pair.Metric.Unit, []string{pair.Baseline, pair.Variant})
	p.height = 220
	x := &p.frame.X
	x.Min, x.Max = 0.5, float64(n)+0.5
	var ticks []plot.Tick
	for round := 1; round <= n; round++ {
		ticks = append(ticks, plot.Tick{Value: float64(round), Label: strconv.Itoa(round)})
	}
	x.Tick.Marker = spaced{ticks: ticks, room: horizontalRoom}
	fittedAxis(&p.frame.Y, slices.Concat(both...))
	p.frame.Add(plotter(grid), plotter(func(c draw.Canvas, f *plot.Plot) {
		for round := range n {
			x := c.X(f.X.Norm(float64(round + 1)))
			c.StrokeLine2(line(soft, 0.8), x, c.Y(f.Y.Norm(both[0][round])), x, c.Y(f.Y.Norm(both[1][round])))
			for i := range both {
				tip := fmt.Sprintf("round %d: %s %s", round+1, stats.Number(both[i][round]), pair.Metric.Unit)
				marking(c, "dot", tip, func() { mark(c, i, vg.Point{X: x, Y: c.Y(f.Y.Norm(both[i][round]))}, 3.4) })
			}
		}
	}))
	return p
}
