// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"image/color"
	"strconv"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Ink is text, soft what explains, faint the grid.
var (
	ink   = color.NRGBA{R: 0x1f, G: 0x24, B: 0x28, A: 255}
	soft  = color.NRGBA{R: 0x5b, G: 0x64, B: 0x6c, A: 255}
	faint = color.NRGBA{R: 0xe1, G: 0xe5, B: 0xe8, A: 255}
)

// palette of the series: colours that people who are colour-blind can tell apart (Okabe and Ito, without yellow).
var palette = []color.NRGBA{
	{R: 0x00, G: 0x72, B: 0xb2, A: 255},
	{R: 0xd5, G: 0x5e, B: 0x00, A: 255},
	{R: 0x00, G: 0x9e, B: 0x73, A: 255},
	{R: 0xb2, G: 0x5f, B: 0x93, A: 255},
	{R: 0xb8, G: 0x7f, B: 0x00, A: 255},
	{R: 0x35, G: 0x90, B: 0xc8, A: 255},
}

// MaxSeries is how many series a plot tells apart by their colours, and MaxLines by colours and marks together: the most
// that a curve has room for.
const (
	MaxSeries = 6
	MaxLines  = 12
)

// classOf a colour: what a page calls it to give it another one in the dark. A colour of a heat map has none.
func classOf(v color.Color) string {
	switch n := solid(v); n {
	case ink:
		return "ink"
	case soft:
		return "soft"
	case faint:
		return "faint"
	default:
		for i, c := range palette {
			if c == n {
				return strconv.Itoa(i)
			}
		}
	}
	return "x"
}

// Sizes of text.
const (
	textSize  = vg.Length(12)
	smallSize = vg.Length(11)
)

// styled is a text of that size and colour. Its widths are those of Liberation Sans, which are those of Arial and Helvetica.
func styled(size vg.Length, c color.Color, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{
		Color: c, XAlign: x, YAlign: y, Handler: text.Plain{Fonts: font.DefaultCache},
		Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
	}
}

func line(c color.Color, width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: width}
}

// fade is a colour that others shine through.
func fade(c color.NRGBA, alpha uint8) color.NRGBA {
	c.A = alpha
	return c
}

// circle draws a filled circle.
func circle(c draw.Canvas, at vg.Point, radius vg.Length) {
	var p vg.Path
	p.Move(vg.Point{X: at.X + radius, Y: at.Y})
	p.Arc(at, radius, 0, fullTurn)
	p.Close()
	c.Fill(p)
}

const fullTurn = 6.283185307179586

// shapes of the marks of series: corners around the centre, in halves of the mark's size; nil is a circle.
var shapes = [][]vg.Point{
	nil,
	{{X: -.9, Y: -.9}, {X: .9, Y: -.9}, {X: .9, Y: .9}, {X: -.9, Y: .9}},
	{{X: -1.1, Y: -.8}, {X: 1.1, Y: -.8}, {X: 0, Y: 1.2}},
	{{X: 0, Y: -1.3}, {X: 1.3, Y: 0}, {X: 0, Y: 1.3}, {X: -1.3, Y: 0}},
	{{X: -1.1, Y: .8}, {X: 1.1, Y: .8}, {X: 0, Y: -1.2}},
	{
		{X: -.4, Y: -1.2},
		{X: .4, Y: -1.2},
		{X: .4, Y: -.4},
		{X: 1.2, Y: -.4},
		{X: 1.2, Y: .4},
		{X: .4, Y: .4},
		{X: .4, Y: 1.2},
		{X: -.4, Y: 1.2},
		{X: -.4, Y: .4},
		{X: -1.2, Y: .4},
		{X: -1.2, Y: -.4},
		{X: -.4, Y: -.4},
	},
	// One more than there are colours: series of the same colour have different marks.
	{
		{X: .57, Y: -1.13},
		{X: 1.13, Y: -.57},
		{X: .57, Y: 0},
		{X: 1.13, Y: .57},
		{X: .57, Y: 1.13},
		{X: 0, Y: .57},
		{X: -.57, Y: 1.13},
		{X: -1.13, Y: .57},
		{X: -.57, Y: 0},
		{X: -1.13, Y: -.57},
		{X: -.57, Y: -1.13},
		{X: 0, Y: -.57},
	},
}

// mark draws that of a series.
func mark(c draw.Canvas, series int, at vg.Point, radius vg.Length) {
	corners := shapes[series%len(shapes)]
	if corners == nil {
		circle(c, at, radius)
		return
	}
	var p vg.Path
	for i, corner := range corners {
		to := vg.Point{X: at.X + corner.X*radius, Y: at.Y + corner.Y*radius}
		if i == 0 {
			p.Move(to)
			continue
		}
		p.Line(to)
	}
	p.Close()
	c.Fill(p)
}
