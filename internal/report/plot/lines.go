// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/benchrun-dev/benchrun/internal/stats"
)

// XY is a point of a line.
type XY struct{ X, Y float64 }

// Line is a line of a plot.
type Line struct {
	Name   string
	Points []XY
	// Marked: every point has a mark.
	Marked bool
}

// Lines shows lines on two axes of numbers that begin at zero. Points that are not numbers are left out.
func Lines(title, x, y, about string, lines []Line) *Plot {
	p := newPlot(title, x, y, names(lines))
	p.Text = about
	xs, ys := spans(lines)
	if len(xs) == 0 {
		return nil
	}
	p.frame.X.Min, p.frame.X.Max = 0, slices.Max(xs)
	if p.frame.X.Max <= 0 {
		p.frame.X.Max = 1
	}
	p.frame.X.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick {
		return spaced{ticks: steps(low, high), room: horizontalRoom}.Ticks(low, high)
	})
	valueAxis(&p.frame.Y, ys)
	p.frame.Add(plotter(grid), drawn(lines))
	return p
}

// Percentiles shows the distribution of latencies: what share of the operations took no longer. X of the points is the part of
// the operations, below 1, and Y the latency in microseconds.
func Percentiles(title, about string, lines []Line) *Plot {
	p := newPlot(title, "percentile", "latency", names(lines))
	p.Text = about
	for i := range lines {
		lines[i].Points = slices.Clone(lines[i].Points)
		for j := range lines[i].Points {
			lines[i].Points[j].X = 1 / (1 - lines[i].Points[j].X)
		}
	}
	xs, ys := spans(lines)
	if len(xs) == 0 {
		return nil
	}
	axis := &p.frame.X
	axis.Scale = plot.LogScale{}
	axis.Min, axis.Max = 1, max(100, slices.Max(xs))
	axis.Tick.Marker = plot.ConstantTicks{
		{Value: 1, Label: "min"},
		{Value: 2, Label: "50"},
		{Value: 10, Label: "90"},
		{Value: 100, Label: "99"},
		{Value: 1e3, Label: "99.9"},
		{Value: 1e4, Label: "99.99"},
		{Value: 1e5, Label: "99.999"},
		{Value: 1e6, Label: "99.9999"},
	}
	for i := range ys {
		ys[i] = max(ys[i], 1)
	}
	p.frame.Y.Scale = plot.LogScale{}
	p.frame.Y.Min, p.frame.Y.Max = slices.Min(ys)/1.3, slices.Max(ys)*1.3
	p.frame.Y.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick {
		ticks := decades(low, high)
		for i := range ticks {
			ticks[i].Label = Micros(ticks[i].Value)
		}
		return ticks
	})
	p.frame.Add(plotter(grid), drawn(lines))
	return p
}

// Micros is a time in the unit that suits it.
func Micros(v float64) string {
	switch {
	case v >= 1e6:
		return stats.Format(v/1e6) + " s"
	case v >= 1e3:
		return stats.Format(v/1e3) + " ms"
	}
	return stats.Format(v) + " µs"
}

func names(lines []Line) []string {
	var list []string
	for _, l := range lines {
		list = append(list, l.Name)
	}
	return list
}

// spans are all coordinates of lines.
func spans(lines []Line) (xs, ys []float64) {
	for _, l := range lines {
		for _, p := range l.Points {
			if number := p.X + p.Y; !math.IsNaN(number) && !math.IsInf(number, 0) {
				xs, ys = append(xs, p.X), append(ys, p.Y)
			}
		}
	}
	return xs, ys
}

// drawn draws lines.
func drawn(lines []Line) plotter {
	return func(c draw.Canvas, f *plot.Plot) {
		for i, l := range lines {
			var through []vg.Point
			for _, p := range l.Points {
				if number := p.X + p.Y; !math.IsNaN(number) && !math.IsInf(number, 0) {
					through = append(through, vg.Point{X: c.X(f.X.Norm(p.X)), Y: c.Y(f.Y.Norm(max(p.Y, f.Y.Min)))})
				}
			}
			if len(through) > 1 {
				marking(c, "curve", "", func() { c.StrokeLines(line(palette[i%len(palette)], 1.5), through) })
			}
			c.SetColor(palette[i%len(palette)])
			// A mark now and then tells lines apart where colours do not.
			every := 1
			if !l.Marked {
				every = max(1, len(through)/6)
			}
			for n := every / 2; n < len(through); n += every {
				marking(c, "mark", "", func() { mark(c, i, through[n], 3) })
			}
		}
	}
}

// Bar is a part of the work, with a value for each series: not a number if there is none.
type Bar struct {
	Name   string
	Values []float64
}

// Bars shows values of parts of the work, for example of tables, one below the other.
func Bars(title, unit string, series []string, bars []Bar) *Plot {
	if len(bars) == 0 {
		return nil
	}
	p := newPlot(title, unit, "", series)
	p.Text = fmt.Sprintf("Medians in %s by part.", unit)
	n := max(1, len(series))
	const thick, gap = 10, 9
	p.height = vg.Length(60 + len(bars)*(n*thick+gap))
	if n > 1 {
		p.height += lineHeight
	}
	var ticks plot.ConstantTicks
	most := 0.0
	for i, b := range bars {
		ticks = append(ticks, plot.Tick{Value: float64(-i), Label: b.Name})
		for _, v := range b.Values {
			if v > most { // which a value that is not known is not
				most = v
			}
		}
	}
	f := p.frame
	f.Y.Tick.Marker, f.Y.Min, f.Y.Max = ticks, 0.5-float64(len(bars)), 0.5
	f.Y.Tick.Label.Color = ink
	f.X.Min, f.X.Max, f.X.Padding = 0, max(most*1.14, math.SmallestNonzeroFloat32), 0
	f.X.Tick.Marker = plot.TickerFunc(steps)
	f.Add(plotter(func(c draw.Canvas, f *plot.Plot) {
		for i, b := range bars {
			top := c.Y(f.Y.Norm(float64(-i))) + thick*vg.Length(n)/2
			for j, v := range b.Values {
				if math.IsNaN(v) {
					continue
				}
				y := top - thick*vg.Length(j)
				end := c.X(f.X.Norm(v))
				marking(c, "bar", "", func() {
					rectangle(c, palette[j%len(palette)], vg.Point{X: c.Min.X, Y: y - 1}, vg.Point{X: end, Y: y - thick + 1})
				})
				c.FillText(styled(smallSize-1, soft, text.XLeft, text.YCenter), vg.Point{X: end + 3, Y: y - thick/2}, Number(v))
			}
		}
	}))
	return p
}
