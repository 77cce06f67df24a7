// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/apischema"
	"github.com/benchrun-dev/benchrun/internal/bundle"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/version"
)

// gather writes the bundle of a run whose results are published.
func gather(ctx context.Context, from client.Reader, run *v1alpha1.BenchmarkRun, to io.Writer) error {
	printed, err := published(ctx, from, run)
	if err != nil {
		return err
	}
	manifest, benchmark, err := manifestOf(run, printed.SpecDigest)
	if err != nil {
		return err
	}
	w, err := bundle.NewWriter(to, manifest, benchmark)
	if err != nil {
		return err
	}
	for _, name := range publishedNames(printed.contents) {
		data, err := result.UnpackFile(name, printed.contents)
		if err != nil {
			return err
		}
		w.Add(bundle.ResultsFolder+name, data)
	}
	if err := addAttempts(ctx, from, w, run, printed.Records); err != nil {
		return err
	}
	return w.Close()
}

// manifestOf is the manifest of a bundle, with the resource to apply.
func manifestOf(run *v1alpha1.BenchmarkRun, specDigest string) (*bundle.Manifest, []byte, error) {
	status := &run.Status
	if status.StartTime == nil || status.CompletionTime == nil {
		return nil, nil, fmt.Errorf("%s has not finished: wait for it with `kubectl benchrun watch %s`", run.Name, run.Name)
	}
	m := &bundle.Manifest{
		Version: bundle.Version, Kind: plan.RunKind, Namespace: run.Namespace, Name: run.Name, UID: string(run.UID),
		SpecDigest: specDigest, ResultsDigest: status.Results.Digest, Program: version.Version(), Answer: snapshotOf(run).answer,
		Started: status.StartTime.UTC(), Finished: status.CompletionTime.UTC(),
	}
	object, err := apischema.Object(run)
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

// addAttempts adds the attempts of these records, and the variables of each variant's server in the first attempt that counts.
func addAttempts(
	ctx context.Context, from client.Reader, to *bundle.Writer, run *v1alpha1.BenchmarkRun, records []*result.Record,
) error {
	servers, digests := variables{}, map[string]string{run.Status.Records.ConfigMap: run.Status.Records.Digest}
	for _, r := range records { // the status names the newest, and each record the one before it
		if r.Previous != nil {
			digests[r.Previous.ConfigMap] = r.Previous.Digest
		}
	}
	for _, record := range records {
		name := plan.AttemptName(run, record.Trial, record.Attempt)
		text, document, err := readAttempt(ctx, from, run.Namespace, name, record, digests[name])
		if err != nil {
			return err
		}
		to.Add(bundle.AttemptsFolder+name+"/"+result.RecordKey, text)
		if document == nil {
			continue
		}
		to.Add(bundle.AttemptsFolder+name+"/"+result.DocumentKey, document)
		if record.Outcome != result.OutcomeAccepted {
			continue
		}
		if err := servers.add(record, document); err != nil {
			return err
		}
	}
	if len(servers) > 0 {
		to.Add(bundle.VariablesFile, servers.text(run))
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

// variables of servers by variant; without variants, the name of the only one is empty.
type variables map[string]map[string]string

// add those of the servers of an attempt that are not known yet.
func (v variables) add(record *result.Record, document []byte) error {
	sides := slices.Clone(record.Sides)
	if len(sides) == 0 {
		sides = []result.SideRecord{{}} // the server without a variant
	}
	sides = slices.DeleteFunc(sides, func(s result.SideRecord) bool { return v[s.Variant] != nil })
	if len(sides) == 0 {
		return nil
	}
	decoded, err := result.DecodeDocument(document)
	if err != nil {
		return err
	}
	for _, side := range sides {
		v[side.Variant] = decoded.Side(side.Variant).Server.Variables
	}
	return nil
}

// text has a line for each variable, and before those of a variant its name.
func (v variables) text(run *v1alpha1.BenchmarkRun) []byte {
	var b bytes.Buffer
	write := func(values map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			fmt.Fprintf(&b, "%s = %s\n", name, strings.ReplaceAll(values[name], "\n", `\n`))
		}
	}
	write(v[""])
	for _, variant := range run.Spec.Variants {
		fmt.Fprintf(&b, "# variant %s\n", variant.Name)
		write(v[variant.Name])
	}
	return b.Bytes()
}
