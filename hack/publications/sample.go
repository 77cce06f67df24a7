// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/kubectl"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// sample is a file of config/samples/publications.
type sample struct {
	path    string
	header  []paragraph
	digest  string
	objects []object
}

// paragraph of the comment at the head of a file. Some begin with a label and a colon, by which the page finds them.
type paragraph struct {
	label, text string
	// table: every line is indented.
	table bool
}

// Labels of paragraphs.
const (
	sizesAndHours  = "Sizes and hours"
	differences    = "Differences"
	beforeYouBegin = "Before you begin"
)

var labelled = regexp.MustCompile(`^(` + strings.Join([]string{sizesAndHours, differences, beforeYouBegin}, "|") + `): `)

// object is a run that a file asks for, with its defaults, after the checks of `kubectl benchrun validate`.
type object struct {
	name string
	run  *v1alpha1.BenchmarkRun
	// variants in their order: a run without any has one without a name.
	variants []variant
	// planned says what it measures at most.
	planned string
}

type variant struct {
	name string
	spec *v1alpha1.BenchmarkRunSpec
	plan *plan.Plan
}

func documents(text []byte) []string { return strings.Split(string(text), "\n---\n") }

// digestOf what a file asks for: comments and the order of fields do not matter.
func digestOf(text []byte) (string, error) {
	sum := sha256.New()
	for _, document := range documents(text) {
		var value any
		if err := yaml.UnmarshalStrict([]byte(document), &value); err != nil {
			return "", err
		}
		canonical, err := json.Marshal(value)
		if err != nil {
			return "", err
		}
		sum.Write(append(canonical, '\n'))
	}
	return fmt.Sprintf("sha256:%x", sum.Sum(nil)), nil
}

// readSample reads a file below root, and checks what it asks for.
func readSample(ctx context.Context, root, path string) (*sample, error) {
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return nil, err
	}
	s := &sample{path: path, header: headerOf(string(text))}
	if s.digest, err = digestOf(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, document := range documents(text) {
		o, err := readObject(ctx, document)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		s.objects = append(s.objects, *o)
	}
	return s, nil
}

// headerOf a file are the paragraphs of the comment that it begins with.
func headerOf(text string) []paragraph {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		lines = append(lines, strings.TrimPrefix(strings.TrimRight(strings.TrimPrefix(line, "#"), "\n"), " "))
	}
	var list []paragraph
	for part := range strings.SplitSeq(strings.Join(lines, "\n"), "\n\n") {
		p := paragraph{text: part, table: true}
		for line := range strings.SplitSeq(part, "\n") {
			p.table = p.table && strings.HasPrefix(line, "  ")
		}
		if label := labelled.FindString(part); label != "" {
			p.label, p.text = strings.TrimSuffix(label, ": "), strings.TrimPrefix(part, label)
		}
		if part != "" {
			list = append(list, p)
		}
	}
	return list
}

// labelledBy is the text of the paragraphs with a label; empty if there is none.
func (s *sample) labelledBy(label string) string {
	var texts []string
	for _, p := range s.header {
		if p.label == label {
			texts = append(texts, p.text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// readObject does what `kubectl benchrun validate` does.
func readObject(ctx context.Context, document string) (*object, error) {
	converted, err := yaml.YAMLToJSONStrict([]byte(document))
	if err != nil {
		return nil, err
	}
	stored := new(unstructured.Unstructured)
	if err := stored.UnmarshalJSON(converted); err != nil {
		return nil, err
	}
	summary, problems, err := kubectl.Check(ctx, stored)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, errors.New(strings.Join(problems, "; "))
	}
	o := &object{name: stored.GetName(), planned: summary, run: new(v1alpha1.BenchmarkRun)}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, o.run); err != nil {
		return nil, err
	}
	for i := range plan.Sides(o.run) {
		side := plan.Side(o.run, i, 1)
		p, err := validation.PlanRun(side)
		if err != nil {
			return nil, err
		}
		one := variant{"", &side.Spec, p}
		if len(o.run.Spec.Variants) > 0 {
			one.name = o.run.Spec.Variants[i].Name
		}
		o.variants = append(o.variants, one)
	}
	return o, nil
}

// twin of the small file's object at an index: the full file's at the same place, or its only one.
func (s *sample) twin(at int) (*object, error) {
	switch {
	case len(s.objects) == 1:
		return &s.objects[0], nil
	case at < len(s.objects):
		return &s.objects[at], nil
	}
	return nil, fmt.Errorf("%s has %d runs, and its small file more", s.path, len(s.objects))
}
