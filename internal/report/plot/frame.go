// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plot draws what a run or a comparison measured. A Plot is made once, from values that are already judged, and is
// written as SVG, which has no reference to anything outside itself, embeds no font, and is the same for the same
// values. Its elements have classes, so that a page can give it other colours in the dark.
package plot

import (
	"fmt"
	"html"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Plot is a picture of numbers.
type Plot struct {
	// Title names it: for a list of pictures, and for people who do not see it.
	Title string
	// Text says in a sentence or two what it shows.
	Text string

	width, height vg.Length
	// above the axes: what the vertical axis is, and the names of the series.
	y      string
	series []string
	frame  *plot.Plot
}

// Sizes of a plot, in pixels. It is small, so that its text is legible when a phone shows the whole of it.
const width, height = vg.Length(400), vg.Length(265)

func newPlot(title, about, x, y string, series []string) *Plot {
	f := plot.New()
	p := &Plot{Title: title, Text: about, width: width, height: height, y: y, frame: f}
	if len(series) > 1 {
		p.series = series
	}
	f.BackgroundColor = nil
	f.X.Label.Text = x
	f.X.Label.TextStyle = styled(textSize, ink, text.XCenter, text.YBottom)
	f.X.Label.Padding = 3
	f.X.Tick.Label = styled(smallSize, soft, text.XCenter, text.YTop)
	f.Y.Tick.Label = styled(smallSize, soft, text.XRight, text.YCenter)
	for _, axis := range []*plot.Axis{&f.X, &f.Y} {
		axis.LineStyle = line(soft, 0.75)
		axis.Tick.LineStyle = line(soft, 0.75)
		axis.Tick.Length = 4
		axis.Padding = 5
	}
	f.Y.Width, f.Y.Tick.Length, f.Y.Padding = 0, 0, 4
	return p
}

const (
	lineHeight = vg.Length(16)
	margin     = vg.Length(4)
	// keyWidth is what the mark of a series takes before its name, keyGap what is left after it.
	keyWidth, keyGap = vg.Length(14), vg.Length(12)
	// keyStretch allows for readers whose fonts are wider than those that are measured here.
	keyStretch = 1.1
)

func (p *Plot) draw(c draw.Canvas) {
	c.Min.X, c.Max.X, c.Max.Y, c.Min.Y = c.Min.X+margin, c.Max.X-2*margin, c.Max.Y-margin, c.Min.Y+margin
	top := c.Max.Y
	if p.y != "" {
		c.FillText(styled(textSize, ink, text.XLeft, text.YTop), vg.Point{X: c.Min.X, Y: top}, p.y)
		top -= lineHeight
	}
	top = p.drawKey(c, top)
	c.Max.Y = top - 2*margin
	p.frame.Draw(c)
}

// drawKey writes the names of the series with their marks, and returns what is below.
func (p *Plot) drawKey(c draw.Canvas, top vg.Length) vg.Length {
	if len(p.series) == 0 {
		return top
	}
	style := styled(textSize, ink, text.XLeft, text.YTop)
	x := c.Min.X
	for i, name := range p.series {
		w := keyWidth + keyStretch*style.Width(name)
		if x > c.Min.X && x+w > c.Max.X {
			x, top = c.Min.X, top-lineHeight
		}
		mark(c, i, vg.Point{X: x + 5, Y: top - lineHeight/2 + 2}, 4)
		c.FillText(style, vg.Point{X: x + keyWidth, Y: top}, name)
		x += w + keyGap
	}
	return top - lineHeight
}

// SVG writes the plot as an element that may stand in a page or alone.
func (p *Plot) SVG(w io.Writer) error {
	c := newCanvas(p.width, p.height)
	p.draw(draw.New(c))
	c.endGroup()
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox="0 0 %s %s" role="img" aria-label="%s" `+
		`font-family="'Liberation Sans', Arial, Helvetica, sans-serif">`+"\n<title>%s</title>\n<desc>%s</desc>\n%s</svg>\n",
		number(float64(p.width)), number(float64(p.height)), html.EscapeString(p.Title+". "+p.Text), html.EscapeString(p.Title),
		html.EscapeString(p.Text), c.body.String())
	if err != nil {
		return fmt.Errorf("writing the plot %q: %w", p.Title, err)
	}
	return nil
}

// plotter draws what is between the axes.
type plotter func(draw.Canvas, *plot.Plot)

func (f plotter) Plot(c draw.Canvas, p *plot.Plot) { f(c, p) }

func grid(c draw.Canvas, p *plot.Plot) {
	for _, tick := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if y := p.Y.Norm(tick.Value); y >= 0 && y <= 1 && !tick.IsMinor() {
			c.StrokeLine2(line(faint, 1), c.Min.X, c.Y(y), c.Max.X, c.Y(y))
		}
	}
}

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

// MaxSeries is how many series a plot tells apart by colours, MaxLines by colours and marks: the most that a curve has room for.
const (
	MaxSeries = 6
	MaxLines  = 12
)

// classOf a colour: what a page calls it to give it another one in the dark. Any other colour has none.
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
const textSize, smallSize = vg.Length(12), vg.Length(11)

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

func circle(c draw.Canvas, at vg.Point, radius vg.Length) {
	var p vg.Path
	p.Move(vg.Point{X: at.X + radius, Y: at.Y})
	p.Arc(at, radius, 0, 2*math.Pi)
	p.Close()
	c.Fill(p)
}

// shapes of the marks of series: x and y of corners around the centre, in halves of the mark's size; nil is a circle. There is
// one more than there are colours: series of the same colour have different marks.
var shapes = [][]vg.Length{
	nil,
	{-.9, -.9, .9, -.9, .9, .9, -.9, .9},
	{-1.1, -.8, 1.1, -.8, 0, 1.2},
	{0, -1.3, 1.3, 0, 0, 1.3, -1.3, 0},
	{-1.1, .8, 1.1, .8, 0, -1.2},
	{-.4, -1.2, .4, -1.2, .4, -.4, 1.2, -.4, 1.2, .4, .4, .4, .4, 1.2, -.4, 1.2, -.4, .4, -1.2, .4, -1.2, -.4, -.4, -.4},
	{
		.57, -1.13, 1.13, -.57, .57, 0, 1.13, .57, .57, 1.13, 0, .57,
		-.57, 1.13, -1.13, .57, -.57, 0, -1.13, -.57, -.57, -1.13, 0, -.57,
	},
}

func mark(c draw.Canvas, series int, at vg.Point, radius vg.Length) {
	shade := palette[series%len(palette)]
	corners := shapes[series%len(shapes)]
	if corners == nil {
		c.SetColor(shade)
		circle(c, at, radius)
		return
	}
	var outline []vg.Point
	for corner := range slices.Chunk(corners, 2) {
		outline = append(outline, vg.Point{X: at.X + corner[0]*radius, Y: at.Y + corner[1]*radius})
	}
	c.FillPolygon(shade, outline)
}
