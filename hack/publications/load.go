// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
)

const (
	samplesFolder = "config/samples/publications"
	reportsFolder = "docs/publications"
	// small is how the names of the files end that were measured.
	small = "-small.yaml"
	// measuredFile says of a publication from which commit and file it was measured.
	measuredFile = "measured.json"
)

// publication with what its small file measured.
type publication struct {
	name        string
	full, small *sample
	measured    measurement
	reports     []reported
}

// measurement is the layout of measured.json.
type measurement struct {
	Commit string `json:"commit"`
	// Clean: the files of the repository were those of the commit.
	Clean bool `json:"clean"`
	// Digest of what the small file asked for.
	Digest string `json:"digest"`
}

// reported is a run of a small file, with its twin in the full one.
type reported struct {
	of, full *object
	// root is the folder of the repository, and folder the report's in it.
	root, folder string
	*report.Report
	tables []report.RequestedTable
	plots  []report.PlotRequest
	// answer in a line, and how much was measured.
	answer, state string
	// servers are their versions.
	servers []string
	// headline is the metric that claims mean if they name none.
	headline result.Metric
}

// measureAgain is what to run.
func (p *publication) measureAgain() string {
	number, _, _ := strings.Cut(p.name, "-")
	return "make publications NAMES=" + number
}

func load(ctx context.Context, root string) ([]*publication, error) {
	files, err := filepath.Glob(filepath.Join(root, samplesFolder, "*"+small))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s has no file that ends with %s", samplesFolder, small)
	}
	var list []*publication
	for _, file := range files {
		p := &publication{name: strings.TrimSuffix(filepath.Base(file), small)}
		if err := p.load(ctx, root); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func (p *publication) load(ctx context.Context, root string) (err error) {
	if p.full, err = readSample(ctx, root, samplesFolder+"/"+p.name+".yaml"); err != nil {
		return err
	}
	for _, label := range []string{sizesAndHours, differences} {
		if p.full.labelledBy(label) == "" {
			return fmt.Errorf("%s: the comment at its head has no paragraph that begins with %q", p.full.path, label+":")
		}
	}
	if p.small, err = readSample(ctx, root, samplesFolder+"/"+p.name+small); err != nil {
		return err
	}
	folder := reportsFolder + "/" + p.name
	decode := func(text []byte) error { return json.Unmarshal(text, &p.measured) }
	if err := p.read(root, folder+"/"+measuredFile, decode); err != nil {
		return err
	}
	for i := range p.small.objects {
		of := &p.small.objects[i]
		r := reported{of: of, root: root, folder: folder + "/" + of.name}
		if r.full, err = p.full.twin(i); err != nil {
			return err
		}
		if err := p.read(root, r.folder+"/"+report.JSONFile, r.decode); err != nil {
			return err
		}
		p.reports = append(p.reports, r)
	}
	return nil
}

// read a file that measuring leaves.
func (p *publication) read(root, path string, decode func(text []byte) error) error {
	text, err := os.ReadFile(filepath.Join(root, path))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("it is not there: `%s` measures the publication, and leaves it", p.measureAgain())
	} else if err == nil {
		err = decode(text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (r *reported) decode(text []byte) error {
	rep, err := report.FromResults(text)
	switch {
	case err != nil:
		return err
	case rep.Name != r.of.name:
		return fmt.Errorf("it is of %s", rep.Name)
	case rep.Outcome != v1alpha1.ConditionComplete:
		return fmt.Errorf("%s has ended %s", rep.Name, rep.Outcome)
	}
	r.Report = rep
	if rep.HasVariants() {
		r.answer = rep.Answer()
		r.state = fmt.Sprintf("%s, %d of at most %d rounds, %s, seed %d: %s", rep.Workload, rep.Rounds, rep.Planned, rep.Paired(),
			rep.Seed, rep.Message)
	} else {
		r.answer = stats.Headline(rep.Answering())
		r.state = fmt.Sprintf("%s, %d of %d trials measured, seed %d", rep.Workload, len(rep.Accepted()), rep.Planned, rep.Seed)
	}
	for _, point := range rep.Measured() {
		r.headline = point.Metric
		for _, record := range point.Records {
			if version := record.Summary.ServerVersion; version != "" && !slices.Contains(r.servers, version) {
				r.servers = append(r.servers, version)
			}
		}
	}
	return r.request()
}

// request shows the plots and tables of the file that has the name of the object.
func (r *reported) request() error {
	path := filepath.Join(r.root, samplesFolder, r.of.name+".plots")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	q, err := report.ReadRequested(path, text)
	if err == nil {
		err = r.Request(q)
		r.plots, r.tables = q.Plots, r.RequestedTables()
	}
	return err
}
