// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
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

func newExport(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	to := ""
	command := &cobra.Command{
		Use:   "export NAME",
		Short: "Pack a run, so that somebody else can verify it and measure it again",
		Long: `Pack a finished run: its specification, results, environment, the record and document of each
attempt, the variables of the server, and checksums of all of it. The archive has no secrets. "kubectl benchrun reproduce"
reads it.`,
		Example: `  # An archive in the current folder, commit-size.tgz.
  kubectl benchrun export commit-size`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.names(),
		RunE: c.onRun(func(ctx context.Context, cl client.Client, run *v1alpha1.BenchmarkRun) error {
			path, err := export(ctx, cl, run, to)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(streams.Out, path)
			return err
		}),
	}
	command.Flags().StringVarP(&to, "output", "o", "", "a file (default NAME.tgz)")
	return command
}

// export writes a bundle and returns its path. What cannot be written whole is not left there.
func export(ctx context.Context, from client.Reader, run *v1alpha1.BenchmarkRun, to string) (string, error) {
	to = cmp.Or(to, run.Name+".tgz")
	f, err := os.CreateTemp(filepath.Dir(to), ".benchrun-export-*")
	if err != nil {
		return "", fmt.Errorf("writing the bundle: %w", err)
	}
	err = errors.Join(gather(ctx, from, run, f), f.Close())
	if err == nil {
		err = os.Chmod(f.Name(), 0o644) //nolint:gosec // as any file that a user writes: the bundle has no secrets
	}
	if err == nil {
		if err = os.Rename(f.Name(), to); err != nil {
			err = fmt.Errorf("writing %s: %w", to, err)
		}
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return to, nil
}

// writeFolder writes files, and their digests after them, into a folder, which is made if it does not exist. Nothing
// outside of it is written, even if there are symbolic links in it.
func writeFolder(dir string, files []result.File) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // reports are no secrets
		return fmt.Errorf("making the folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("opening the folder: %w", err)
	}
	defer root.Close() //nolint:errcheck // what was written is closed already
	// Until all files are written, there are no digests that they could be taken for.
	if err := root.Remove(result.SumsFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the digests of what was in the folder: %w", err)
	}
	sums := result.Sums{}
	for _, f := range files {
		if folder := path.Dir(f.Name); folder != "." {
			if err := root.MkdirAll(folder, 0o755); err != nil {
				return fmt.Errorf("making the folder of %s: %w", f.Name, err)
			}
		}
		if err := root.WriteFile(f.Name, f.Data, 0o644); err != nil {
			return fmt.Errorf("writing %s: %w", f.Name, err)
		}
		sums[f.Name] = result.Digest(f.Data)
	}
	if err := root.WriteFile(result.SumsFile, sums.Text(), 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", result.SumsFile, err)
	}
	return nil
}

// readFolder reads results.json from a folder that writeFolder has written, and compares it with its digest.
func readFolder(dir string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the folder: %w", err)
	}
	defer root.Close() //nolint:errcheck // it was only read
	listed, err := root.ReadFile(result.SumsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s, which `kubectl benchrun report --dir` writes after all other files", dir, result.SumsFile)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", result.SumsFile, err)
	}
	sums, err := result.ParseSums(listed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	text, err := root.ReadFile(report.JSONFile)
	if err != nil {
		return nil, fmt.Errorf("reading the results: %w", err)
	}
	if sums[report.JSONFile] != result.Digest(text) {
		return nil, fmt.Errorf("%s in %s was changed: its digest does not match %s", report.JSONFile, dir, result.SumsFile)
	}
	return text, nil
}

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
