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
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// decimal is a number in a text.
var decimal = regexp.MustCompile(`\d+(\.\d+)?`)

// shown is the text of a cell: thousands of numbers are set apart, unless somebody has written them.
func shown(c report.Cell) string {
	if !c.Number || c.Written {
		return c.Text
	}
	return decimal.ReplaceAllStringFunc(c.Text, plot.Grouped)
}

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
