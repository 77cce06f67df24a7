// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
)

// addPoints adds what the page shows of a run without variants.
func (v *view) addPoints(r *report.Report) {
	v.Warnings = r.Warnings()
	if r.Outcome == "Failed" {
		v.Failed = cmp.Or(r.Message, "no reason was recorded")
	}
	v.About = aboutRun(r)
	v.Best = stats.LeadOf(r.Answering(), stats.Number)
	if points := r.Measured(); len(points) > 0 {
		v.Points, v.Notes = r.PointsTable()
		if ranks := r.Ranks(); ranks != "" {
			v.Notes = append(v.Notes, ranks)
		}
		remarks := stats.WarningsAt(points)
		for i := range remarks {
			v.Remarks = append(v.Remarks, inWords(&remarks[i], len(points)))
		}
	}
}

// aboutRun is a line about what was measured, and on what.
func aboutRun(r *report.Report) string {
	text := fmt.Sprintf("%s, %d of %d trials", r.Workload, len(r.Accepted()), r.Planned)
	if n := len(r.Points); n > 1 {
		text += fmt.Sprintf(" at %d points", n)
	}
	text += fmt.Sprintf(", seed %d%s", r.Seed, startedText(r))
	if place := r.Place(); place != "" {
		text += ". " + place
	}
	return text + "."
}

// startedText is when the run began, as the end of a list; empty if that is not known.
func startedText(r *report.Report) string {
	if r.Started.IsZero() {
		return ""
	}
	return ", started " + r.Started.UTC().Format("2 January 2006 15:04 UTC")
}

// inWords is a remark with how many points and trials it is about.
func inWords(r *finding.Merged, points int) string {
	var about []string
	switch {
	case points == 1:
	case len(r.From) == points:
		about = []string{"everywhere"}
	default:
		about = []string{fmt.Sprintf("%d of %d points", len(r.From), points)}
	}
	if r.Trials != r.Of {
		about = append(about, fmt.Sprintf("%d of %d trials", r.Trials, r.Of))
	}
	if len(about) == 0 {
		return r.Text()
	}
	return fmt.Sprintf("%s (%s)", r.Text(), strings.Join(about, ", "))
}

// publishedText is what the published figures say of a claim, as a sentence.
func publishedText(j claims.Judgement) string {
	text := report.PublishedText(&j)
	return strings.ToUpper(text[:1]) + text[1:]
}

// download is a file that is in the page itself, or a hint where it is if it is too large for that.
type download struct {
	Name, Size, About string
	URL               template.URL
}

// Bounds of what is within a page, in bytes: a file of up to maxPlain is there as it is, one of up to maxPacked after
// compression is there compressed.
const maxPlain, maxPacked = 256 << 10, 2 << 20

// packed is a file for download.
func packed(name, media, about, elsewhere string, content []byte) (download, error) {
	d := download{Name: name, About: about, Size: size(len(content))}
	if len(content) > maxPlain {
		var b bytes.Buffer
		zw, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // a level that there is
		_, err := zw.Write(content)
		if err := errors.Join(err, zw.Close()); err != nil {
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
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "benchrun.dev/v1alpha1", "kind": "BenchmarkRun",
		"metadata": map[string]string{"namespace": r.Namespace, "name": r.Name}, "spec": r.Spec,
	})
	if err != nil {
		return fmt.Errorf("encoding the specification: %w", err)
	}
	v.Spec, v.Command = string(text), "kubectl create --filename "+r.Name+".yaml"
	d, err := packed(r.Name+".yaml", "application/yaml", "the specification: kubectl creates it again", "", text)
	v.Downloads = append(v.Downloads, d)
	return err
}
