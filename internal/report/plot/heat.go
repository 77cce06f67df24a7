// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Cell is the median at a value of either of two parameters.
type Cell struct {
	X, Y   string
	Median float64
}

// maxWritten is how many columns may have their numbers written into the cells.
const maxWritten = 8

// Heat shows medians against two swept parameters: the darker, the more.
func Heat(title, x, y, unit string, cells []Cell) *Plot {
	if len(cells) == 0 {
		return nil
	}
	p := newPlot(title, x, y+" (up), "+unit+" (darker is more)", nil)
	p.Text = fmt.Sprintf("Medians of %s for each %s and %s.", unit, x, y)
	columns := categories(&p.frame.X, cells, func(c Cell) string { return c.X })
	rows := categories(&p.frame.Y, cells, func(c Cell) string { return c.Y })
	p.height = max(150, min(520, vg.Length(100+26*len(rows))))
	p.frame.Y.Padding, p.frame.X.Padding = 4, 0
	low, high := math.Inf(1), math.Inf(-1)
	for _, cell := range cells {
		low, high = min(low, cell.Median), max(high, cell.Median)
	}
	p.frame.Add(plotter(func(c draw.Canvas, f *plot.Plot) {
		for _, cell := range cells {
			i, j := columns[cell.X], rows[cell.Y]
			heat := 0.5
			if high > low {
				heat = (cell.Median - low) / (high - low)
			}
			corner := vg.Point{X: c.X(f.X.Norm(i - 0.5)), Y: c.Y(f.Y.Norm(j - 0.5))}
			opposite := vg.Point{X: c.X(f.X.Norm(i + 0.5)), Y: c.Y(f.Y.Norm(j + 0.5))}
			tip := fmt.Sprintf("%s=%s, %s=%s: %s %s", x, cell.X, y, cell.Y, Number(cell.Median), unit)
			marking(c, "cell", tip, func() { rectangle(c, shade(heat), corner, opposite) })
		}
		if len(columns) > maxWritten {
			return
		}
		for _, cell := range cells {
			on := ink
			if high > low && (cell.Median-low)/(high-low) > 0.45 {
				on = color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 255}
			}
			at := vg.Point{X: c.X(f.X.Norm(columns[cell.X])), Y: c.Y(f.Y.Norm(rows[cell.Y]))}
			marking(c, "on-cell", "", func() { c.FillText(styled(smallSize, on, text.XCenter, text.YCenter), at, Number(cell.Median)) })
		}
	}))
	return p
}

// categories places the values that cells have of a parameter side by side, numbers in their order.
func categories(axis *plot.Axis, cells []Cell, of func(Cell) string) map[string]float64 {
	var texts []string
	for _, c := range cells {
		if t := of(c); !slices.Contains(texts, t) {
			texts = append(texts, t)
		}
	}
	if _, numeric := Numbers(texts); numeric {
		slices.SortStableFunc(texts, func(a, b string) int {
			values, _ := Numbers([]string{a, b})
			return cmp.Compare(values[0], values[1])
		})
	}
	at := map[string]float64{}
	var ticks []plot.Tick
	for i, t := range texts {
		at[t] = float64(i)
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: t})
	}
	axis.Min, axis.Max = -0.5, float64(len(texts))-0.5
	axis.Tick.Marker = spaced{ticks: ticks, room: horizontalRoom}
	axis.Tick.Length, axis.Width = 0, 0
	return at
}

// shade is a blue, the darker the more: from 0 to 1.
func shade(heat float64) color.NRGBA {
	from, to := [3]float64{0xe8, 0xf1, 0xf8}, [3]float64{0x06, 0x3b, 0x66}
	part := func(i int) uint8 { return uint8(math.Round(from[i] + heat*(to[i]-from[i]))) }
	return color.NRGBA{R: part(0), G: part(1), B: part(2), A: 255}
}

func rectangle(c draw.Canvas, fill color.Color, a, b vg.Point) {
	c.FillPolygon(fill, []vg.Point{a, {X: b.X, Y: a.Y}, b, {X: a.X, Y: b.Y}})
}
