// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"fmt"
	"html"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
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
const (
	width  = vg.Length(400)
	height = vg.Length(265)
)

// newPlot with axes in our style, and nothing in it.
func newPlot(title, x, y string, series []string) *Plot {
	p := &Plot{Title: title, width: width, height: height, y: y, frame: plot.New()}
	if len(series) > 1 {
		p.series = series
	}
	f := p.frame
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

// draw the whole.
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
		c.SetColor(palette[i%len(palette)])
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

// dotsPerInch make a PNG twice as many pixels wide as the SVG, for dense screens.
const dotsPerInch = 144

// PNG writes the plot as an image on a white ground.
func (p *Plot) PNG(w io.Writer) error {
	c := vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(dotsPerInch))
	p.draw(draw.New(c))
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(w); err != nil {
		return fmt.Errorf("writing the plot %q: %w", p.Title, err)
	}
	return nil
}

// plotter draws what is between the axes.
type plotter func(draw.Canvas, *plot.Plot)

// Plot draws.
func (f plotter) Plot(c draw.Canvas, p *plot.Plot) { f(c, p) }

// grid draws a line at each mark of the vertical axis.
func grid(c draw.Canvas, p *plot.Plot) {
	for _, tick := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if y := p.Y.Norm(tick.Value); y >= 0 && y <= 1 && !tick.IsMinor() {
			c.StrokeLine2(line(faint, 1), c.Min.X, c.Y(y), c.Max.X, c.Y(y))
		}
	}
}
