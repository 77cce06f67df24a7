// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// subject of a command: a run or a comparison in the cluster.
type subject interface {
	kind() *kind
	object() client.Object
	// snapshot is what both kinds have in common.
	snapshot() *snapshot
	// reportSoFar is the report of what has been measured, as long as no results are published.
	reportSoFar(context.Context, client.Reader) (anyReport, error)
	warnings(context.Context, client.Reader) []string
	contender() lifecycle.Contender
	// trials is the run whose trials are numbered.
	trials() *v1alpha1.BenchmarkRun
	// copyWith is a new object with the same specification, not suspended.
	copyWith(meta metav1.ObjectMeta) subject
	// fingerprint is the same for two subjects of a kind that may share the results.
	fingerprint() (string, error)
}

// anyReport is the report of a run or of a comparison.
type anyReport interface {
	// write the report in a format.
	write(io.Writer, report.Format) error
	// Request has it show plots and tables.
	Request(*report.Requested) error
	// read the documents of the attempts, and what is missing of the metrics that are requested.
	read(ctx context.Context, docs *documents)
	// drawings are the plots: with those that are made of documents, if these were read.
	drawings(docs *documents) *page.Drawings
	RequestedTables() []report.RequestedTable
	// uid of the object in the cluster.
	uid() string
	// baseline compares the variants with the baseline.
	baseline(metric string) (*report.Compared, error)
	// variants compares two of them.
	variants(before, after, metric string) (*report.Compared, error)
	// side of a comparison of two reports, which calls it by that name.
	side(variant, metric, name string) (*report.Side, error)
	// reproducedBy compares it with another report of its kind. A difference within this fraction counts as none;
	// equal runs differ by the fraction betweenRuns.
	reproducedBy(here anyReport, within, betweenRuns float64) *report.Reproduction
	// specDigest of a run; empty for a comparison, which has one for each variant.
	specDigest() string
	// addAttempts of the object with this snapshot to a bundle.
	addAttempts(ctx context.Context, g *gathering, of *snapshot) error
}

// printable is a report, and the files of it that were published, by name.
type printable struct {
	anyReport
	contents map[string][]byte
}

// subject that a name of a command line names, and a client of its cluster.
func (c *cluster) subject(ctx context.Context, name string) (client.WithWatch, subject, error) {
	cl, namespace, err := c.connect()
	if err != nil {
		return nil, nil, err
	}
	s, err := find(ctx, cl, namespace, name)
	return cl, s, err
}

// find reads the run or comparison with that name. run/NAME and comparison/NAME say which, in case that both exist.
func find(ctx context.Context, from client.Reader, namespace, name string) (subject, error) {
	candidates, plain := kinds, name
	if prefix, rest, hasKind := strings.Cut(name, "/"); hasKind {
		k := kindNamed(prefix)
		if k == nil {
			return nil, fmt.Errorf("%q is not a kind that has a report: use NAME, run/NAME or comparison/NAME", prefix)
		}
		candidates, plain = []*kind{k}, rest
	}
	var found []subject
	for _, k := range candidates {
		s, err := k.get(ctx, from, client.ObjectKey{Namespace: namespace, Name: plain})
		if err != nil {
			return nil, err
		}
		if s != nil {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("there is no run or comparison %q in namespace %s: `kubectl benchrun list` shows those that exist", name,
			namespace)
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("a run and a comparison have the name %q: use run/%s or comparison/%s", plain, plain, plain)
}

// labelOf is the label that the Pods and ConfigMaps of a subject have.
func labelOf(s subject) client.MatchingLabels {
	return client.MatchingLabels{s.kind().label: s.object().GetName()}
}

// published reads the report that the operator has written.
func published(ctx context.Context, from client.Reader, s subject) (*printable, error) {
	text, contents, err := readResults(ctx, from, s)
	if err != nil {
		return nil, err
	}
	r, err := s.kind().decode(text)
	return &printable{r, contents}, err
}

// readResults reads results.json, and all files that the operator has published with it. It compares the digest with that in the
// status.
func readResults(ctx context.Context, from client.Reader, s subject) (text []byte, contents map[string][]byte, err error) {
	m := s.snapshot()
	if m.results.ConfigMap == "" {
		if err := m.failure(); err != nil {
			return nil, nil, err
		}
		return nil, nil, fmt.Errorf("%s has no results yet: `kubectl benchrun explain %s` says what it waits for", m.name, m.name)
	}
	contents, err = clusterfiles.Read(ctx, from, m.namespace, m.results.ConfigMap)
	switch {
	case err != nil:
		return nil, nil, err
	case contents == nil:
		return nil, nil, fmt.Errorf("ConfigMap %s, the results of %s, was deleted", m.results.ConfigMap, m.name)
	}
	if text, err = result.UnpackFile(report.JSONFile, contents); err != nil {
		return nil, nil, err
	}
	if result.NamedDigest(text) != m.results.Digest {
		return nil, nil, fmt.Errorf("ConfigMap %s is not what the operator wrote: its digest does not match the status of %s",
			m.results.ConfigMap, m.name)
	}
	return text, contents, nil
}

// kind of resource that has a report.
type kind struct {
	// name in arguments, in messages and in results.json; aliases are its other names in arguments.
	name    string
	aliases []string
	// resource is the kind in a manifest.
	resource string
	// label of its Pods and ConfigMaps, whose value is the name of the object.
	label string
	// object and list are empty.
	object func() client.Object
	list   func() client.ObjectList
	// subject that an object of this kind is.
	subject func(client.Object) subject
	// decode reads its results.json.
	decode func([]byte) (anyReport, error)
}

var runKind = &kind{
	name: "run", aliases: []string{"brun", "benchmarkrun"}, resource: plan.RunKind, label: v1alpha1.LabelRun,
	object: func() client.Object { return new(v1alpha1.BenchmarkRun) },
	list:   func() client.ObjectList { return new(v1alpha1.BenchmarkRunList) },
	subject: func(o client.Object) subject {
		run := o.(*v1alpha1.BenchmarkRun) //nolint:forcetypeassert // it is of this kind
		if len(run.Spec.Variants) > 0 {
			return variantsSubject{runSubject{run}}
		}
		return runSubject{run}
	},
	decode: func(text []byte) (anyReport, error) {
		if r, err := report.DecodeComparison(text); err == nil { // its variants
			return comparisonReport{r}, nil
		}
		r, err := report.FromResults(text)
		return runReport{r}, err
	},
}

var kinds = []*kind{runKind}

// kindNamed is the kind with that name or alias; nil if there is none.
func kindNamed(word string) *kind {
	return kindWhere(func(k *kind) bool { return k.name == word || slices.Contains(k.aliases, word) })
}

// kindOfResource is the kind of a manifest; nil if it is not one of ours.
func kindOfResource(resource string) *kind {
	return kindWhere(func(k *kind) bool { return k.resource == resource })
}

func unknownKind(resource string) error {
	return fmt.Errorf("this version of kubectl benchrun does not know the kind %q", resource)
}

func kindWhere(is func(*kind) bool) *kind {
	if i := slices.IndexFunc(kinds, is); i >= 0 {
		return kinds[i]
	}
	return nil
}

// get reads the object of this kind with that name; nil if there is none.
func (k *kind) get(ctx context.Context, from client.Reader, key client.ObjectKey) (subject, error) {
	object := k.object()
	err := from.Get(ctx, key, object)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s %s: %w", k.name, key.Name, err)
	}
	return k.subject(object), nil
}
