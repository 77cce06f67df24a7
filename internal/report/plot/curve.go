// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

// Series is one line of a curve: a variant, or a value of a second swept parameter.
type Series struct {
	Name   string
	Points []stats.Point
}

// maxAside is how far beside its median a repetition stands, so that both are seen.
const maxAside vg.Length = 7

// maxApart is how far series stand apart that have no lines.
const maxApart vg.Length = 14

// maxPoints is how many points have their repetitions drawn. Of more, only medians and intervals are, and these are fine: else
// they would be one blot.
const maxPoints = 200

// Curve shows values against a swept parameter: each repetition a dot, the medians a line, their intervals bars. Where the values
// of the parameter are no numbers, there is no line.
func Curve(title, parameter, unit string, series []Series) *Plot {
	var names, texts []string
	var values []float64
	count := 0
	for _, s := range series {
		names = append(names, s.Name)
		for _, point := range s.Points {
			texts = append(texts, point.Parameters[parameter])
			values = append(append(values, point.Values...), point.Summary.Low, point.Summary.High)
			count++
		}
	}
	if len(values) == 0 {
		return nil
	}
	dots, shown := count <= maxPoints, "the medians"
	if dots {
		shown = "a dot for each repetition, the medians marked"
	}
	about := fmt.Sprintf("%s against %s: %s, with the interval of each as a bar.", unit, parameter, shown)
	p := newPlot(title, about, parameter, unit, names)
	p.height += lineHeight * vg.Length(max(0, len(series)-MaxSeries)) // for their names
	at := sweepAxis(&p.frame.X, texts)
	_, numeric := Numbers(texts)
	valueAxis(&p.frame.Y, values)
	p.frame.Add(plotter(grid), plotter(func(c draw.Canvas, f *plot.Plot) {
		apart, aside := vg.Length(0), maxAside
		if !numeric && len(series) > 1 {
			apart = min(maxApart, (c.Max.X-c.Min.X)/vg.Length(len(at))/vg.Length(len(series)))
			aside = min(aside, 0.5*apart) // halfway to the next series
		}
		for i, s := range series {
			where := func(point *stats.Point, v float64) vg.Point {
				x := at[point.Parameters[parameter]]
				return vg.Point{X: c.X(f.X.Norm(x)) + apart*(vg.Length(i)-vg.Length(len(series)-1)/2), Y: c.Y(f.Y.Norm(v))}
			}
			var through []vg.Point
			for i := range s.Points {
				if point := &s.Points[i]; numeric && point.Summary.N > 0 {
					through = append(through, where(point, point.Summary.Median))
				}
			}
			curveThrough(c, i, 1.6, through)
			for n := range s.Points {
				point := &s.Points[n]
				at := func(v float64) vg.Point { return where(point, v) }
				drawPoint(c, i, point, dots, aside, at, tip(parameter, s.Name, unit, point))
			}
		}
	}))
	return p
}

func drawPoint(c draw.Canvas, series int, point *stats.Point, dots bool, aside vg.Length, at func(float64) vg.Point, tip string) {
	if point.Summary.N == 0 {
		return
	}
	shade := palette[series%len(palette)]
	radius := vg.Length(3)
	low, high := at(point.Summary.Low), at(point.Summary.High)
	switch {
	case !dots:
		radius = 1.3
		c.StrokeLine2(line(fade(shade, 70), 0.8), low.X, low.Y, high.X, high.Y)
	case point.Summary.N > 1:
		marking(c, "interval", "", func() { bar(c, shade, low, high) })
	}
	if dots && len(point.Values) > 1 {
		c.SetColor(fade(shade, 110))
		marking(c, "dot", "", func() {
			for _, v := range point.Values {
				beside := at(v)
				circle(c, vg.Point{X: beside.X + aside, Y: beside.Y}, 1.7)
			}
		})
	}
	marking(c, "median", tip, func() { mark(c, series, at(point.Summary.Median), radius) })
}

func bar(c draw.Canvas, shade color.Color, low, high vg.Point) {
	style := line(shade, 1.2)
	const half = 3
	c.StrokeLine2(style, low.X, low.Y, high.X, high.Y)
	for _, end := range []vg.Point{low, high} {
		if low.X == high.X {
			c.StrokeLine2(style, end.X-half, end.Y, end.X+half, end.Y)
		} else {
			c.StrokeLine2(style, end.X, end.Y-half, end.X, end.Y+half)
		}
	}
}

func tip(parameter, series, unit string, point *stats.Point) string {
	text := fmt.Sprintf("%s=%s: %s %s", parameter, point.Parameters[parameter], stats.Number(point.Summary.Median), unit)
	if series != "" {
		text = series + ", " + text
	}
	if point.Summary.N > 1 {
		text += fmt.Sprintf(" (%s–%s), n = %d", stats.Number(point.Summary.Low), stats.Number(point.Summary.High), point.Summary.N)
	}
	return text
}

// XY is a point of a line.
type XY struct{ X, Y float64 }

// Line is a line of a plot.
type Line struct {
	Name   string
	Points []XY
}

// Lines shows lines on two axes of numbers that begin at zero. Points that are not numbers are left out.
func Lines(title, x, y, about string, lines []Line) *Plot {
	p, xs, ys := newLines(title, x, y, about, lines, func(x float64) float64 { return x })
	if p == nil {
		return nil
	}
	p.frame.X.Min, p.frame.X.Max = 0, slices.Max(xs)
	if p.frame.X.Max <= 0 {
		p.frame.X.Max = 1
	}
	p.frame.X.Tick.Marker = spaced{ticks: steps(0, p.frame.X.Max), room: horizontalRoom}
	valueAxis(&p.frame.Y, ys)
	return p
}

// Percentiles shows the distribution of latencies: what share of the operations took no longer. X of the points is the part of
// the operations, below 1, and Y the latency in microseconds.
func Percentiles(title, about string, lines []Line) *Plot {
	p, xs, ys := newLines(title, "percentile", "latency", about, lines, func(part float64) float64 { return 1 / (1 - part) })
	if p == nil {
		return nil
	}
	axis := &p.frame.X
	axis.Scale = plot.LogScale{}
	axis.Min, axis.Max = 1, max(100, slices.Max(xs))
	ticks := plot.ConstantTicks{{Value: 1, Label: "min"}, {Value: 2, Label: "50"}}
	for i, label := range []string{"90", "99", "99.9", "99.99", "99.999", "99.9999"} {
		ticks = append(ticks, plot.Tick{Value: math.Pow10(i + 1), Label: label})
	}
	axis.Tick.Marker = ticks
	p.frame.Y.Scale = plot.LogScale{}
	p.frame.Y.Min, p.frame.Y.Max = max(slices.Min(ys), 1)/1.3, max(slices.Max(ys), 1)*1.3
	p.frame.Y.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick {
		ticks := decades(low, high)
		for i := range ticks {
			ticks[i].Label = Micros(ticks[i].Value)
		}
		return ticks
	})
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

// newLines is a plot of lines without the points that are not numbers, and all coordinates of the others; nil if there are
// none. at is where an X is on the axis.
func newLines(title, x, y, about string, lines []Line, at func(float64) float64) (p *Plot, xs, ys []float64) {
	var names []string
	points := make([][]XY, len(lines))
	for i, l := range lines {
		names = append(names, l.Name)
		for _, of := range l.Points {
			of.X = at(of.X)
			if number := of.X + of.Y; !math.IsNaN(number) && !math.IsInf(number, 0) {
				points[i], xs, ys = append(points[i], of), append(xs, of.X), append(ys, of.Y)
			}
		}
	}
	if len(xs) == 0 {
		return nil, nil, nil
	}
	p = newPlot(title, about, x, y, names)
	p.frame.Add(plotter(grid), plotter(func(c draw.Canvas, f *plot.Plot) {
		for i := range points {
			var through []vg.Point
			for _, of := range points[i] {
				through = append(through, vg.Point{X: c.X(f.X.Norm(of.X)), Y: c.Y(f.Y.Norm(max(of.Y, f.Y.Min)))})
			}
			curveThrough(c, i, 1.5, through)
			// A mark now and then tells lines apart where colours do not.
			every := max(1, len(through)/6)
			for n := every / 2; n < len(through); n += every {
				marking(c, "mark", "", func() { mark(c, i, through[n], 3) })
			}
		}
	}))
	return p, xs, ys
}

func curveThrough(c draw.Canvas, series int, width vg.Length, through []vg.Point) {
	if len(through) > 1 {
		marking(c, "curve", "", func() { c.StrokeLines(line(palette[series%len(palette)], width), through) })
	}
}
