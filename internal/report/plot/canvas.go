// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"fmt"
	"html"
	"image"
	"image/color"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// canvas writes SVG: a group for each run of elements of the same look, with the class of their colour. A point of vg is a pixel.
// It leaves out what no plot here has: transformations, dashes and images.
type canvas struct {
	body          strings.Builder
	width, height vg.Length
	color         color.Color
	line          vg.Length
	// group is the opening tag of the group that is open, or empty.
	group string
	// class of the marks that are drawn at the moment, and the text that a pointer over them shows.
	class, tip string
}

func newCanvas(width, height vg.Length) *canvas {
	c := &canvas{width: width, height: height}
	vg.Initialize(c)
	return c
}

func (c *canvas) Size() (x, y vg.Length) { return c.width, c.height }

func (c *canvas) SetLineWidth(w vg.Length) { c.line = w }

func (c *canvas) SetColor(v color.Color) { c.color = v }

func (*canvas) SetLineDash([]vg.Length, vg.Length) {}

func (*canvas) Push() {}

func (*canvas) Pop() {}

func (*canvas) Translate(vg.Point) {}

func (*canvas) Rotate(float64) {}

func (*canvas) Scale(_, _ float64) {}

func (*canvas) DrawImage(vg.Rectangle, image.Image) {}

// at is where a point is in the SVG, whose y axis points down.
func (c *canvas) at(p vg.Point) (x, y string) {
	return number(float64(p.X)), number(float64(c.height - p.Y))
}

func (c *canvas) Stroke(p vg.Path) {
	if c.line <= 0 || len(p) == 0 {
		return
	}
	style := fmt.Sprintf(`fill="none" stroke="%s" stroke-width="%s"`, rgb(c.color), number(float64(c.line))) + c.opacity("stroke")
	c.element(style, "l", c.shape(p))
}

func (c *canvas) Fill(p vg.Path) {
	if len(p) == 0 {
		return
	}
	c.element(fmt.Sprintf(`fill="%s"`, rgb(c.color))+c.opacity("fill"), "f", c.shape(p))
}

func (c *canvas) FillString(f font.Face, p vg.Point, text string) {
	style := fmt.Sprintf(`fill="%s" font-size="%s"`, rgb(c.color), number(f.Font.Size.Points()))
	x, y := c.at(p)
	c.element(style, "f", fmt.Sprintf(`<text x="%s" y="%s">%s</text>`, x, y, html.EscapeString(text)))
}

// element adds one to the group of its style. kind is l for a line and f for an area.
func (c *canvas) element(style, kind, text string) {
	class := kind + classOf(c.color)
	if c.class != "" {
		class += " " + c.class
	}
	group := fmt.Sprintf(`<g class="%s" %s>`, class, style)
	if group != c.group {
		c.endGroup()
		c.group = group
		c.body.WriteString(group + "\n")
	}
	if c.tip != "" {
		text = strings.Replace(text, "/>", "><title>"+html.EscapeString(c.tip)+"</title></"+text[1:strings.IndexByte(text, ' ')]+">", 1)
	}
	c.body.WriteString(text + "\n")
}

func (c *canvas) endGroup() {
	if c.group != "" {
		c.body.WriteString("</g>\n")
		c.group = ""
	}
}

// shape is the element of a path.
func (c *canvas) shape(p vg.Path) string {
	if n := len(p); n >= 2 && p[n-1].Type == vg.CloseComp && p[n-2].Type == vg.ArcComp {
		arc := p[n-2]
		x, y := c.at(arc.Pos)
		return fmt.Sprintf(`<circle cx="%s" cy="%s" r="%s"/>`, x, y, number(float64(arc.Radius)))
	}
	var d strings.Builder
	for _, comp := range p {
		x, y := c.at(comp.Pos)
		switch comp.Type {
		case vg.MoveComp:
			d.WriteString("M" + x + " " + y)
		case vg.LineComp:
			d.WriteString("L" + x + " " + y)
		case vg.CloseComp:
			d.WriteString("Z")
		case vg.ArcComp, vg.CurveComp: // only whole circles are drawn here
		}
	}
	return `<path d="` + d.String() + `"/>`
}

// number of pixels, to a tenth.
func number(v float64) string {
	text := strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	if text == "-0" {
		return "0"
	}
	return text
}

func rgb(v color.Color) string {
	n := solid(v)
	return fmt.Sprintf("#%02x%02x%02x", n.R, n.G, n.B)
}

// solid is a colour without its opacity.
func solid(v color.Color) color.NRGBA {
	n, _ := color.NRGBAModel.Convert(v).(color.NRGBA)
	n.A = 255
	return n
}

// opacity of the colour, of what kind it fills; empty if nothing shines through.
func (c *canvas) opacity(kind string) string {
	_, _, _, a := c.color.RGBA()
	if a == 0xffff {
		return ""
	}
	return fmt.Sprintf(` %s-opacity="%.2f"`, kind, float64(a)/0xffff)
}

// marking gives what draw draws a class and a text for the pointer.
func marking(on draw.Canvas, class, tip string, draws func()) {
	var below vg.Canvas = on
	for inner, wrapped := below.(draw.Canvas); wrapped; inner, wrapped = below.(draw.Canvas) {
		below = inner.Canvas
	}
	c := below.(*canvas) //nolint:forcetypeassert // there is no other
	c.class, c.tip = class, tip
	draws()
	c.class, c.tip = "", ""
}
