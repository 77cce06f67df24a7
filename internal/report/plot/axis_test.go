// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestLogarithmic(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		want   bool
	}{
		"powers of two":       {[]float64{1, 2, 4, 8}, true},
		"two values":          {[]float64{1, 1024}, false},
		"even steps":          {[]float64{10, 20, 30}, false},
		"wide span":           {[]float64{10, 100, 300}, true},
		"not quite as wide":   {[]float64{10, 100, 299}, false},
		"zero":                {[]float64{0, 1, 2, 4, 1000}, false},
		"the same over again": {[]float64{1, 1, 1, 1024}, false},
	} {
		must.Same(t, name, c.want, logarithmic(c.values))
	}
}

// The values of a parameter stand as they were written.
func TestSweepAxis(t *testing.T) {
	labels := func(texts ...string) string {
		axis := plot.New().X
		sweepAxis(&axis, texts)
		var shown []string
		for _, tick := range axis.Tick.Marker.Ticks(axis.Min, axis.Max) {
			shown = append(shown, tick.Label)
		}
		return strings.Join(shown, " ")
	}
	for want, texts := range map[string][]string{
		"1 16 16384": {"16", "1", "16384", "16"}, "true false": {"true", "false"}, "7": {"7"},
		// There is no room for two of these.
		" 134217728 268435456": {"134217727", "134217728", "268435456"},
	} {
		must.Same(t, "labels", want, labels(texts...))
	}
}

func TestSteps(t *testing.T) {
	text := func(ticks []plot.Tick) string {
		var list []string
		for _, tick := range ticks {
			list = append(list, tick.Label)
		}
		return strings.Join(list, " ")
	}
	for want, got := range map[string]string{
		"0 2,500 5,000 7,500 10,000 12,500": text(steps(0, 13000)),
		"10 20 50 100 200":                  text(decades(9, 400)),
		"10 100 1,000 10,000":               text(decades(9, 40000)),
	} {
		must.Same(t, "ticks", want, got)
	}
}

func TestCanvas(t *testing.T) {
	c := newCanvas(100, 50)
	c.FillString(font.Face{Font: font.Font{Size: 12}}, vg.Point{X: 4}, "a<b")
	c.Stroke(vg.Path{{Type: vg.MoveComp}, {Type: vg.LineComp, Pos: vg.Point{X: 1, Y: 1}}})
	c.endGroup()
	want := `<g class="fx" fill="#000000" font-size="12">
<text x="4" y="50">a&lt;b</text>
</g>
<g class="lx" fill="none" stroke="#000000" stroke-width="1">
<path d="M0 50L1 49"/>
</g>
`
	must.Same(t, "what is got", want, c.body.String())
}
