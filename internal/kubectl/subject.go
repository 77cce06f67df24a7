// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
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
	// trials is the run whose trials are numbered; a comparison has none of its own.
	trials() (*v1alpha1.BenchmarkRun, error)
	// databaseLabel selects the Pods of the database that it measures.
	databaseLabel() client.MatchingLabels
	// copyWith is a new object with the same specification, not suspended.
	copyWith(meta metav1.ObjectMeta) subject
	// fingerprint is the same for two subjects of a kind that may share the results.
	fingerprint() (string, error)
}

// anyReport is the report of a run or of a comparison.
type anyReport interface {
	// write the report in a format.
	write(io.Writer, report.Format) error
	// drawings are the plots: with those that are made of the documents of the attempts, unless docs is nil.
	drawings(ctx context.Context, docs *documents) (*page.Drawings, error)
	RequestedTables() ([]report.RequestedTable, error)
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
