// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/report/plot"
)

// Drawing is a plot of a page, with the name of its file without the ending.
type Drawing struct {
	Name string
	*plot.Plot
}

// Drawings are the plots of a page.
type Drawings struct {
	// All of them, in the order of the page. Their names are different ones on every file system.
	All []Drawing
	// Headline is the plot of the answer: of a run the curve, or the heat map if there are more lines than a curve shows; of a
	// comparison the ratios. It is nil if there is none.
	Headline *plot.Plot
	// Remarks say which of the plots that the specification asks for are left out, and why.
	Remarks []string
}

// Named is the plot with that name, or nil.
func (d *Drawings) Named(name string) *plot.Plot {
	for _, one := range d.All {
		if one.Name == name {
			return one.Plot
		}
	}
	return nil
}

// with adds a plot to a list, if there is one. The parts of its name are joined by dots.
func with(list []Drawing, p *plot.Plot, parts ...string) []Drawing {
	if p == nil {
		return list
	}
	return append(list, Drawing{fileName(parts...), p})
}

// maxName is how long the name of a file is, without its ending and without what sets it apart from others. A path of
// Windows has 260 characters, with all of its folders.
const maxName = 100

// unfit is what some file system does not take in a name, or a shell takes for something else.
var unfit = regexp.MustCompile(`[^A-Za-z0-9._=+-]+`)

// fileName joins parts by dots. What is not safe in the name of a file is a hyphen in it; the end of a long name is its
// digest.
func fileName(parts ...string) string {
	var filled []string
	for _, p := range parts {
		if p != "" {
			filled = append(filled, p)
		}
	}
	whole := strings.Join(filled, ".")
	name := strings.TrimLeft(unfit.ReplaceAllString(whole, "-"), ".-")
	if len(name) <= maxName {
		return name
	}
	const digits = 8
	sum := sha256.Sum256([]byte(whole))
	return name[:maxName-digits-1] + "-" + hex.EncodeToString(sum[:])[:digits]
}

// dotted is the label of a point, or the name of a line, as a part of a name.
func dotted(label string) string { return strings.ReplaceAll(label, ", ", ".") }

// unique gives every drawing a name of its own, also where upper and lower case are the same. The first of a name keeps it.
func unique(list []Drawing) []Drawing {
	used := map[string]bool{}
	for i := range list {
		name := list[i].Name
		for n := 2; used[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s-%d", list[i].Name, n)
		}
		used[strings.ToLower(name)] = true
		list[i].Name = name
	}
	return list
}

// fixed are the parameters that have the same value at all points, as a part of a name.
func fixed(parameters []string, points []map[string]string) string {
	var parts []string
	for _, name := range parameters {
		if values := valuesOf(name, points); len(values) == 1 {
			parts = append(parts, name+"="+values[0])
		}
	}
	return strings.Join(parts, ".")
}

// against is what a plot is against, as a part of a name.
func against(parameters ...string) string { return "against_" + strings.Join(parameters, "_and_") }
