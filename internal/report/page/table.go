// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// table of a page.
type table struct {
	// Name of the table, which is its caption.
	Name string
	Head []head
	Rows []row
	// Sorted says that readers may want another order.
	Sorted bool
}

// head of a column. Unit stands below its name.
type head struct {
	Text, Unit string
	Number     bool
}

// texts are heads of columns of words, numbers those of columns of numbers without a unit.
func texts(names ...string) []head { return heads(false, "", names) }

func numbers(names ...string) []head { return heads(true, "", names) }

// inUnit are heads of columns of numbers.
func inUnit(unit string, names ...string) []head { return heads(true, unit, names) }

func heads(number bool, unit string, names []string) []head {
	var list []head
	for _, name := range names {
		list = append(list, head{name, unit, number})
	}
	return list
}

// row of a table. Class is for its look: best, rival, differs.
type row struct {
	Class string
	Cells []cell
}

// cell of a table.
type cell struct {
	Text string
	// Value is what a column of numbers is sorted by; empty is the text.
	Value string
	// Number: it stands to the right.
	Number bool
	// Class is for its look.
	Class string
	// Title is shown to who points at the cell.
	Title string
	// Notes are the numbers of remarks below the table.
	Notes []int
}

// words is a cell of text.
func words(text string) cell { return cell{Text: text} }

// amount is a cell of a number.
func amount(v float64) cell {
	return cell{Text: plot.Number(v), Value: strconv.FormatFloat(v, 'g', -1, 64), Number: true}
}

// whole is a cell of a number of things, with all its digits.
func whole(n int64) cell {
	text := strconv.FormatInt(n, 10)
	return cell{Text: plot.Grouped(text), Value: text, Number: true}
}

// count is a cell of a number of things.
func count(n int) cell { return whole(int64(n)) }

// setting is a cell of a parameter's value, as it was written.
func setting(text string) cell {
	_, numeric := plot.Numbers([]string{text})
	c := cell{Text: text, Number: numeric}
	if numeric {
		c.Value = text
	}
	return c
}

// none is a cell of a number that there is none of.
func none() cell { return cell{Number: true} }

// claim as the page shows it.
type claim struct {
	Name, Statement string
	// Verdict in words, and the class of its colour.
	Verdict, Class string
	Detail         string
	// Published says what the published figures say, or is empty.
	Published string
}

func judged(list []claims.Judgement) []claim {
	var shown []claim
	for _, j := range list {
		c := claim{Name: j.Name, Statement: j.Statement, Verdict: report.VerdictText(j.Verdict), Class: "open", Detail: j.Detail}
		switch j.Verdict {
		case claims.Holds:
			c.Class = "yes"
		case claims.DoesNotHold:
			c.Class = "no"
		case claims.CannotSay, claims.PremiseMissing:
		}
		if j.Published != "" {
			text := report.PublishedText(&j)
			c.Published = strings.ToUpper(text[:1]) + text[1:]
		}
		shown = append(shown, c)
	}
	return shown
}

// download is a file that is in the page itself, or a hint where it is if it is too large for that.
type download struct {
	Name, Size, About string
	URL               template.URL
}

// Bounds of what is within a page, in bytes: a file of up to maxPlain is there as it is, one of up to maxPacked after
// compression is there compressed.
const (
	maxPlain  = 256 << 10
	maxPacked = 2 << 20
)

// packed is a file for download.
func packed(name, media, about, elsewhere string, content []byte) (download, error) {
	d := download{Name: name, About: about, Size: size(len(content))}
	if len(content) > maxPlain {
		var b bytes.Buffer
		zw, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		if err != nil {
			return d, fmt.Errorf("compressing %s: %w", name, err)
		}
		if _, err := zw.Write(content); err != nil {
			return d, fmt.Errorf("compressing %s: %w", name, err)
		}
		if err := zw.Close(); err != nil {
			return d, fmt.Errorf("compressing %s: %w", name, err)
		}
		content, d.Name, media = b.Bytes(), name+".gz", "application/gzip"
		d.Size = fmt.Sprintf("%s, %s unpacked", size(len(content)), d.Size)
	}
	if len(content) > maxPacked {
		return download{Name: name, About: about + "; it is too large for this page: " + elsewhere, Size: d.Size}, nil
	}
	url := "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(content)
	d.URL = template.URL(url) //nolint:gosec // a data URL of our own
	return d, nil
}

func size(bytes int) string {
	const kibi = 1 << 10
	if bytes < kibi {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%.0f KiB", float64(bytes)/kibi)
}

// reproduced sets what was asked as YAML, as kubectl takes it, and the command for it.
func (v *view) reproduced(r *report.Report) error {
	object, err := json.Marshal(map[string]any{
		"apiVersion": "benchrun.dev/v1alpha1", "kind": v.Kind,
		"metadata": map[string]string{"namespace": r.Namespace, "name": r.Name}, "spec": r.Spec,
	})
	if err != nil {
		return fmt.Errorf("encoding the specification: %w", err)
	}
	text, err := yaml.JSONToYAML(object)
	if err != nil {
		return fmt.Errorf("encoding the specification: %w", err)
	}
	v.Spec, v.Command = string(text), "kubectl create --filename "+r.Name+".yaml"
	d, err := packed(r.Name+".yaml", "application/yaml", "the specification: kubectl creates it again", "", text)
	v.Downloads = append(v.Downloads, d)
	return err
}
