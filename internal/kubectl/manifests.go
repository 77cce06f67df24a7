// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sjson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// manifest is one object of a file.
type manifest struct {
	file   string
	object *unstructured.Unstructured
}

// ours says whether it is a run or a comparison, of whatever version.
func (m *manifest) ours() bool {
	group, _, _ := strings.Cut(m.object.GetAPIVersion(), "/")
	return group == v1alpha1.GroupVersion.Group && (m.object.GetKind() == plan.RunKind || m.object.GetKind() == plan.ComparisonKind)
}

// title is how messages name the object.
func (m *manifest) title() string {
	name := m.object.GetName()
	if name == "" {
		name = m.object.GetGenerateName() + "(no name)"
	}
	return m.object.GetKind() + " " + name
}

// extensions of the files that are read in a folder.
var extensions = []string{".yaml", ".yml", ".json"}

// files are those that -f names: a file, - for the standard input, or all manifests in a folder and, with recursive, below
// it.
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
func readManifests(file string, stdin io.Reader) ([]manifest, error) {
	from := stdin
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer opened.Close() //nolint:errcheck // it was only read
		from = opened
	}
	var all []manifest
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
			all = append(all, manifest{file, object})
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
