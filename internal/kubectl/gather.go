// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/apischema"
	"github.com/benchrun-dev/benchrun/internal/bundle"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/version"
)

// gathering puts what the cluster has of a run into a bundle, one attempt after another.
type gathering struct {
	from client.Reader
	to   *bundle.Writer
}

// gather writes the bundle of a run whose results are published.
func gather(ctx context.Context, from client.Reader, s subject, to io.Writer) error {
	printed, err := published(ctx, from, s)
	if err != nil {
		return err
	}
	manifest, benchmark, err := manifestOf(s, printed.specDigest())
	if err != nil {
		return err
	}
	w, err := bundle.NewWriter(to, manifest, benchmark)
	if err != nil {
		return err
	}
	g := &gathering{from, w}
	if err := g.addResults(printed.contents); err != nil {
		return err
	}
	if err := printed.addAttempts(ctx, g, s.snapshot()); err != nil {
		return err
	}
	return w.Close()
}

// manifestOf is the manifest of a bundle, with the resource to apply.
func manifestOf(s subject, specDigest string) (*bundle.Manifest, []byte, error) {
	of := s.snapshot()
	if of.started == nil || of.completed == nil {
		return nil, nil, fmt.Errorf("%s has not finished: wait for it with `kubectl benchrun watch %s`", of.name, of.name)
	}
	m := &bundle.Manifest{
		Version: bundle.Version, Kind: of.kind.resource, Namespace: of.namespace, Name: of.name, UID: string(s.object().GetUID()),
		SpecDigest: specDigest, ResultsDigest: of.results.Digest, Program: version.Version(), Answer: of.answer,
		Started: of.started.UTC(), Finished: of.completed.UTC(),
	}
	object, err := apischema.Object(s.object())
	if err != nil {
		return nil, nil, err
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": m.Kind, "metadata": map[string]string{"name": m.Name},
		"spec": object["spec"],
	})
	if err != nil {
		return nil, nil, fmt.Errorf("encoding %s: %w", bundle.BenchmarkFile, err)
	}
	return m, text, nil
}

// addResults adds the files of a results ConfigMap.
func (g *gathering) addResults(contents map[string][]byte) error {
	for _, name := range publishedNames(contents) {
		data, err := result.UnpackFile(name, contents)
		if err != nil {
			return err
		}
		if err := g.to.Add(bundle.ResultsFolder+name, data); err != nil {
			return err
		}
	}
	return nil
}

// publishedNames are the names of the files whose parts these are.
func publishedNames(contents map[string][]byte) []string {
	names := map[string]bool{}
	for key := range contents {
		if part := path.Ext(key); strings.Trim(part, ".0123456789") == "" {
			key = strings.TrimSuffix(key, part)
		}
		names[strings.TrimSuffix(key, ".gz")] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// addAttempts adds the attempts of a run that these records are of.
func (g *gathering) addAttempts(ctx context.Context, of *snapshot, records []*result.Record) error {
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Name: of.name}}
	digests := recordDigests(of.records, records)
	variables := false
	for _, record := range records {
		name := plan.AttemptName(run, record.Trial, record.Attempt)
		text, document, err := readAttempt(ctx, g.from, of.namespace, name, record, digests[name])
		if err != nil {
			return err
		}
		if err := g.addAttempt(bundle.AttemptsFolder+name+"/", text, document); err != nil {
			return err
		}
		if document != nil && !variables && record.Outcome == result.OutcomeAccepted {
			variables = true
			if err := g.addVariables(document); err != nil {
				return err
			}
		}
	}
	return nil
}

// readAttempt reads the record of an attempt, which has that digest, and its document: nil if there is none. One that counts has
// the document that its record names.
func readAttempt(
	ctx context.Context, from client.Reader, namespace, name string, record *result.Record, digest string,
) (text, document []byte, err error) {
	contents, err := clusterfiles.Read(ctx, from, namespace, name)
	if err != nil {
		return nil, nil, err
	}
	if contents == nil {
		return nil, nil, fmt.Errorf("ConfigMap %s, the record of an attempt, was deleted: the bundle would be incomplete", name)
	}
	text = contents[result.RecordKey]
	if result.NamedDigest(text) != digest {
		return nil, nil, fmt.Errorf("ConfigMap %s, the record of an attempt, is not what the operator wrote", name)
	}
	if document, err = result.UnpackFile(result.DocumentKey, contents); err != nil {
		return nil, nil, err
	}
	if record.Outcome == result.OutcomeAccepted && result.Digest(document) != record.Summary.DocumentSHA256 {
		return nil, nil, fmt.Errorf("ConfigMap %s lacks the document of the attempt, or it is not what the operator wrote", name)
	}
	return text, document, nil
}

// recordDigests of a run by the names of their ConfigMaps: the status names the newest, and each record the one before it.
func recordDigests(newest v1alpha1.RecordReference, records []*result.Record) map[string]string {
	digests := map[string]string{newest.ConfigMap: newest.Digest}
	for _, r := range records {
		if r.Previous != nil {
			digests[r.Previous.ConfigMap] = r.Previous.Digest
		}
	}
	return digests
}

func (g *gathering) addAttempt(folder string, record, document []byte) error {
	if err := g.to.Add(folder+result.RecordKey, record); err != nil {
		return err
	}
	if document == nil {
		return nil
	}
	return g.to.Add(folder+result.DocumentKey, document)
}

// addVariables adds the variables of the server, a line each.
func (g *gathering) addVariables(document []byte) error {
	text, err := result.Unpack(document)
	if err != nil {
		return err
	}
	variables, err := text.Variables()
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		fmt.Fprintf(&b, "%s = %s\n", name, strings.ReplaceAll(variables[name], "\n", `\n`))
	}
	return g.to.Add(bundle.VariablesFile, []byte(b.String()))
}

// printableOf is the report in a bundle.
func printableOf(b *bundle.Bundle) (*printable, error) {
	k := kindOfResource(b.Manifest.Kind)
	if k == nil {
		return nil, unknownKind(b.Manifest.Kind)
	}
	r, err := k.decode(b.Results)
	return &printable{r, map[string][]byte{report.JSONFile: b.Results}}, err
}
