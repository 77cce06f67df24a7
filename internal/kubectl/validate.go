// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sjson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

func newValidate(streams genericiooptions.IOStreams) *cobra.Command {
	var names []string
	recursive := false
	command := &cobra.Command{
		Use:   "validate -f FILE|FOLDER|-",
		Short: "Check runs without a cluster",
		Long: `Check runs without a cluster.

The rules are those of this version of Benchrun: what the API server checks (unknown fields, types, bounds and rules), and
then what the operator checks before it creates anything. Each problem is one line. Objects of other kinds are skipped, but
ConfigMaps of the same file must have the keys that runs name.

The exit code is 0 if everything is valid, and 3 if anything is not, or if there are no runs.`,
		Example: `  # One file.
  kubectl benchrun validate -f run.yaml

  # All files of a repository, for example in CI.
  kubectl benchrun validate -R -f benchmarks/

  # What another program prints.
  kustomize build overlays/production | kubectl benchrun validate -f -`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if len(names) == 0 {
				return errNoFile
			}
			return validate(command.Context(), streams, names, recursive)
		},
	}
	command.Flags().StringSliceVarP(&names, "filename", "f", nil, "file or folder with runs; - is the standard input")
	command.Flags().BoolVarP(&recursive, "recursive", "R", false, "also read the folders below a folder")
	return command
}

// validate prints a line for each problem, and for each run that has none.
func validate(ctx context.Context, streams genericiooptions.IOStreams, names []string, recursive bool) error {
	c, err := newChecker()
	if err != nil {
		return err
	}
	report := &tally{out: streams.Out}
	for _, name := range names {
		found, err := files(name, recursive)
		if err != nil {
			return err
		}
		for _, file := range found {
			report.file(ctx, c, file, streams.In)
		}
	}
	return report.end()
}

type tally struct {
	out            io.Writer
	checked, wrong int
}

func (v *tally) file(ctx context.Context, c *checker, file string, stdin io.Reader) {
	all, err := readManifests(file, stdin)
	if err != nil {
		v.checked++
		v.wrong++
		v.say("%v", err)
		return
	}
	c.beside = configMapsOf(all)
	for _, object := range all {
		if !isRun(object) {
			v.say("%s: %s: skipped: not a run", file, title(object))
			continue
		}
		v.checked++
		summary, problems := c.check(ctx, object)
		if len(problems) > 0 {
			v.wrong++
		} else {
			v.say("%s: %s: valid: %s", file, title(object), summary)
		}
		for _, problem := range problems {
			v.say("%s: %s: %s", file, title(object), problem)
		}
	}
}

func (v *tally) say(format string, arguments ...any) {
	say(v.out, strings.Join(strings.Fields(fmt.Sprintf(format, arguments...)), " "))
}

func (v *tally) end() error {
	switch {
	case v.checked == 0:
		return errors.New("there are no runs: nothing was checked")
	case v.wrong > 0:
		return fmt.Errorf("%d of %d runs are not valid", v.wrong, v.checked)
	}
	return nil
}

// isRun says whether an object is a run, of whatever version.
func isRun(object *unstructured.Unstructured) bool {
	group, _, _ := strings.Cut(object.GetAPIVersion(), "/")
	return group == v1alpha1.GroupVersion.Group && object.GetKind() == plan.RunKind
}

// title is how messages name an object.
func title(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + cmp.Or(object.GetName(), object.GetGenerateName()+"(no name)")
}

var extensions = []string{".yaml", ".yml", ".json"}

// files are those that -f names: a file, - for the standard input, or all manifests in a folder and, with recursive, below it.
func files(name string, recursive bool) ([]string, error) {
	if name == "-" {
		return []string{name}, nil
	}
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, err
	}
	var found []string
	err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != name && !recursive:
			return filepath.SkipDir
		case !entry.IsDir() && slices.Contains(extensions, filepath.Ext(path)):
			found = append(found, path)
		}
		return nil
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("folder %s has no file that ends with %s; use -R to read the folders below it", name,
			strings.Join(extensions, ", "))
	}
	return found, err
}

// readManifests reads all objects of a file. A field that stands twice in an object is an error.
func readManifests(file string, stdin io.Reader) ([]*unstructured.Unstructured, error) {
	from := stdin
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer opened.Close() //nolint:errcheck // it was only read
		from = opened
	}
	var all []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(from))
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		object, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if object != nil {
			all = append(all, object)
		}
	}
}

// parse reads one object, or nil if the document is empty.
func parse(text []byte) (*unstructured.Unstructured, error) {
	converted, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	var value any
	if err := k8sjson.Unmarshal(converted, &value); err != nil {
		return nil, err
	}
	object, isObject := value.(map[string]any)
	switch {
	case value == nil:
		return nil, nil
	case !isObject:
		return nil, errors.New("it is not a Kubernetes object: apiVersion and kind are missing")
	}
	u := &unstructured.Unstructured{Object: object}
	if u.GetAPIVersion() == "" || u.GetKind() == "" {
		return nil, errors.New("it is not a Kubernetes object: apiVersion or kind is missing")
	}
	return u, nil
}

// configMaps are those that a stream has beside runs: their texts by name and key. A key that has no text has an empty one.
type configMaps map[string]map[string]string

func configMapsOf(all []*unstructured.Unstructured) configMaps {
	found := configMaps{}
	for _, o := range all {
		if o.GetKind() != "ConfigMap" || o.GetAPIVersion() != "v1" {
			continue
		}
		texts := map[string]string{}
		for _, field := range []string{"data", "binaryData"} {
			values, _ := o.Object[field].(map[string]any)
			for key, value := range values {
				if texts[key] = ""; field == "data" {
					texts[key], _ = value.(string)
				}
			}
		}
		found[o.GetName()] = texts
	}
	return found
}

// hashed is what kustomize adds to the name of a ConfigMap that it has made.
var hashed = regexp.MustCompile(`^-[a-z0-9]{10}$`)

// check says what a run that is valid wants of ConfigMaps and the ConfigMaps of its stream do not have, and what is wrong
// with the SQL in them. One that is not in the stream may be in the cluster.
func (m configMaps) check(run *v1alpha1.BenchmarkRun) []string {
	var lines []string
	named := func(path, name, key string) { lines = append(lines, m.lacking(path, name, key)...) }
	load := &run.Spec.Workload
	if from := load.SchemaFrom; from != nil {
		named("workload.schemaFrom", from.Name, from.Key)
		if script, found := m[from.Name][from.Key]; found {
			if err := validation.CheckSchema(run, script); err != nil {
				lines = append(lines, err.Error())
			}
		}
	}
	if w := load.Sysbench; w != nil && w.ScriptFrom != nil {
		named("workload.sysbench.scriptFrom", w.ScriptFrom.Name, w.ScriptFrom.Key)
	}
	if w := load.Pgbench; w != nil && w.ScriptFrom != nil {
		named("workload.pgbench.scriptFrom", w.ScriptFrom.Name, w.ScriptFrom.Key)
	}
	if w := load.Statements; w != nil && w.Setup != nil {
		named("workload.statements.setup", w.Setup.Name, w.Setup.Key)
	}
	if w := load.Custom; w != nil && w.FilesFrom != "" {
		named("workload.custom.filesFrom", w.FilesFrom, "")
	}
	return lines
}

func (m configMaps) lacking(path, name, key string) []string {
	texts, found := m[name]
	_, has := texts[key]
	switch {
	case found && (key == "" || has):
		return nil
	case found:
		return []string{fmt.Sprintf("%s.key: ConfigMap %s has no key %s; it has %s", path, name, key,
			strings.Join(slices.Sorted(maps.Keys(texts)), ", "))}
	}
	for _, other := range slices.Sorted(maps.Keys(m)) {
		if suffix, same := strings.CutPrefix(other, name); same && hashed.MatchString(suffix) {
			return []string{fmt.Sprintf("%s: there is no ConfigMap %s, which kustomize has called %s: name "+
				"config/kustomize/name-references.yaml of Benchrun in the configurations of your kustomization", path, name, other)}
		}
	}
	return nil
}
