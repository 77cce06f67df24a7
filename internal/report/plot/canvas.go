// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"fmt"
	"html"
	"image"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// canvas writes SVG: a group for each run of elements of the same look, with the class of their colour. A point of vg is a pixel.
type canvas struct {
	body          strings.Builder
	width, height vg.Length
	pen
	saved []pen
	// group is the opening tag of the group that is open, or empty.
	group string
	// class of the marks that are drawn at the moment, and the text that a pointer over them shows.
	class, tip string
}

// pen is what Push saves.
type pen struct {
	color      color.Color
	line       vg.Length
	dashes     []vg.Length
	a, b, c, d float64 // of the transformation
	e, f       float64
}

func newCanvas(width, height vg.Length) *canvas {
	c := &canvas{width: width, height: height, pen: pen{a: 1, d: 1}}
	vg.Initialize(c)
	return c
}

func (c *canvas) Size() (x, y vg.Length) { return c.width, c.height }

func (c *canvas) SetLineWidth(w vg.Length) { c.line = w }

func (c *canvas) SetLineDash(pattern []vg.Length, _ vg.Length) { c.dashes = pattern }

func (c *canvas) SetColor(v color.Color) { c.color = v }

func (c *canvas) Push() { c.saved = append(c.saved, c.pen) }

func (c *canvas) Pop() {
	last := len(c.saved) - 1
	c.pen, c.saved = c.saved[last], c.saved[:last]
}

func (c *canvas) Translate(p vg.Point) {
	c.e += c.a*float64(p.X) + c.c*float64(p.Y)
	c.f += c.b*float64(p.X) + c.d*float64(p.Y)
}

func (c *canvas) Rotate(angle float64) {
	sin, cos := math.Sincos(angle)
	c.a, c.b, c.c, c.d = c.a*cos+c.c*sin, c.b*cos+c.d*sin, c.c*cos-c.a*sin, c.d*cos-c.b*sin
}

func (c *canvas) Scale(x, y float64) { c.a, c.b, c.c, c.d = c.a*x, c.b*x, c.c*y, c.d*y }

// at is where a point is in the SVG, whose y axis points down.
func (c *canvas) at(p vg.Point) (x, y string) {
	return number(c.a*float64(p.X) + c.c*float64(p.Y) + c.e), number(float64(c.height) - (c.b*float64(p.X) + c.d*float64(p.Y) + c.f))
}

func (c *canvas) Stroke(p vg.Path) {
	if c.line <= 0 || len(p) == 0 {
		return
	}
	style := fmt.Sprintf(`fill="none" stroke="%s" stroke-width="%s"`, rgb(c.color), number(float64(c.line))) + c.opacity("stroke")
	if len(c.dashes) > 0 {
		var lengths []string
		for _, d := range c.dashes {
			lengths = append(lengths, number(float64(d)))
		}
		style += ` stroke-dasharray="` + strings.Join(lengths, " ") + `"`
	}
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
	turned := ""
	if angle := math.Atan2(c.b, c.a); angle != 0 {
		turned = fmt.Sprintf(` transform="rotate(%s %s %s)"`, number(-angle*180/math.Pi), x, y)
	}
	c.element(style, "f", fmt.Sprintf(`<text x="%s" y="%s"%s>%s</text>`, x, y, turned, html.EscapeString(text)))
}

// DrawImage does nothing: no plot here has images.
func (*canvas) DrawImage(vg.Rectangle, image.Image) {}

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
	if len(p) > 0 && p[len(p)-1].Type == vg.CloseComp && len(p) >= 2 && p[len(p)-2].Type == vg.ArcComp {
		arc := p[len(p)-2]
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
