// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// subject is what a command is about: a run or a comparison, of which one is nil.
type subject struct {
	run        *v1alpha1.BenchmarkRun
	comparison *v1alpha1.BenchmarkComparison
}

// subject that a name of a command line names, and a client of its cluster.
func (c *cluster) subject(ctx context.Context, name string) (client.WithWatch, *subject, error) {
	cl, namespace, err := c.connect()
	if err != nil {
		return nil, nil, err
	}
	s, err := find(ctx, cl, namespace, name)
	return cl, s, err
}

// find reads the run or comparison with that name. run/NAME and comparison/NAME say which, in case that both exist.
func find(ctx context.Context, from client.Reader, namespace, name string) (*subject, error) {
	kind, plain, said := strings.Cut(name, "/")
	if !said {
		kind, plain = "", name
	}
	key := client.ObjectKey{Namespace: namespace, Name: plain}
	found := new(subject)
	switch kind {
	case "", "run", "brun", "benchmarkrun":
		run := new(v1alpha1.BenchmarkRun)
		err := from.Get(ctx, key, run)
		if err == nil {
			found.run = run
		} else if !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("reading run %s: %w", plain, err)
		}
	}
	switch kind {
	case "", "comparison", "bcmp", "benchmarkcomparison":
		comparison := new(v1alpha1.BenchmarkComparison)
		err := from.Get(ctx, key, comparison)
		if err == nil {
			found.comparison = comparison
		} else if !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("reading comparison %s: %w", plain, err)
		}
	case "run", "brun", "benchmarkrun":
	default:
		return nil, fmt.Errorf("%q is not a kind that has a report: use NAME, run/NAME or comparison/NAME", kind)
	}
	switch {
	case found.run == nil && found.comparison == nil:
		return nil, fmt.Errorf("there is no run or comparison %q in namespace %s: `kubectl benchrun list` shows those that exist", name,
			namespace)
	case found.run != nil && found.comparison != nil:
		return nil, fmt.Errorf("there is a run and a comparison %q: say run/%s or comparison/%s", plain, plain, plain)
	}
	return found, nil
}

// object is the run or the comparison.
func (s *subject) object() client.Object {
	if s.run != nil {
		return s.run
	}
	return s.comparison
}

// kind is run or comparison.
func (s *subject) kind() string {
	if s.run != nil {
		return "run"
	}
	return "comparison"
}

// label that its Pods and ConfigMaps have.
func (s *subject) label() client.MatchingLabels {
	if s.run != nil {
		return client.MatchingLabels{v1alpha1.LabelRun: s.run.Name}
	}
	return client.MatchingLabels{v1alpha1.LabelComparison: s.comparison.Name}
}

// results is where they are published; empty if they are not.
func (s *subject) results() v1alpha1.ResultsReference {
	if s.run != nil {
		return s.run.Status.Results
	}
	return s.comparison.Status.Results
}

// printable is a report of either kind, of which one is nil.
type printable struct {
	run        *report.Report
	comparison *report.Comparison
	// files as they were published, by name.
	contents map[string][]byte
}

// published reads the results that the operator has written, and compares them with the digest in the status.
func (s *subject) published(ctx context.Context, from client.Reader) (*printable, error) {
	ref, object := s.results(), s.object()
	if ref.ConfigMap == "" {
		return nil, fmt.Errorf("%s has no results yet: `kubectl benchrun explain %s` says what it waits for", object.GetName(),
			object.GetName())
	}
	contents, err := clusterfiles.Read(ctx, from, object.GetNamespace(), ref.ConfigMap)
	switch {
	case err != nil:
		return nil, err
	case contents == nil:
		return nil, fmt.Errorf("ConfigMap %s, the results of %s, was deleted", ref.ConfigMap, object.GetName())
	}
	text, err := result.UnpackFile(report.JSONFile, contents)
	if err != nil {
		return nil, err
	}
	if result.NamedDigest(text) != ref.Digest {
		return nil, fmt.Errorf("ConfigMap %s is not what the operator wrote: its digest is not that in the status of %s", ref.ConfigMap,
			object.GetName())
	}
	p := &printable{contents: contents}
	return p, p.decode(s.run != nil, text)
}

// decode sets the report whose results.json this is.
func (p *printable) decode(isRun bool, text []byte) (err error) {
	if isRun {
		p.run, err = report.FromResults(text)
	} else {
		p.comparison, err = report.DecodeComparison(text)
	}
	return err
}
