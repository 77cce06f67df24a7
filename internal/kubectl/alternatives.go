// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	containername "github.com/google/go-containerregistry/pkg/name"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/benchrun-dev/benchrun/internal/engine"
)

// alternatives are the flags of run that give a run variants: all combinations of what they name, the first as the baseline.
type alternatives struct {
	images, grids, files []string
	// fields of the grids so far.
	fields []string
	// say what is left out of the run, in a line.
	say func(line string)
}

// choice is one of those between which a flag lets variants differ.
type choice struct {
	name, title string
	// spec is laid over the run, from which the paths are removed before.
	spec   map[string]any
	remove []any
}

// How many digits of a digest tell images apart; how many choices are a baseline and another one; how many variants a run may
// have, and how long their names may be.
const digestDigits, fewest, maxVariants, maxVariantName = 12, 2, 16, 20

// apply the flags to the run of a file.
func (a *alternatives) apply(objects []*unstructured.Unstructured) error {
	if len(a.images)+len(a.grids)+len(a.files) == 0 {
		return nil
	}
	if len(objects) != 1 {
		return fmt.Errorf("--image, --grid and --variant take a file with one run, but there are %d", len(objects))
	}
	run := objects[0]
	if _, has, _ := unstructured.NestedFieldNoCopy(run.Object, "spec", "variants"); has {
		return fmt.Errorf("run %s has variants already: --image, --grid and --variant need a run without", run.GetName())
	}
	spec, _, err := unstructured.NestedMap(run.Object, "spec")
	if err != nil {
		return err
	}
	axes, err := a.axes(spec)
	if err != nil {
		return err
	}
	variants, err := combined(axes)
	if err != nil {
		return err
	}
	if left := withoutRepetitions(spec); len(left) > 0 {
		a.say("left out, because rounds say how often variants are measured: " + strings.Join(left, ", "))
	}
	spec["variants"], run.Object["spec"] = variants, spec
	return nil
}

// axes are the choices of each flag, of which the run has the first ones.
func (a *alternatives) axes(spec map[string]any) (axes [][]choice, err error) {
	switch {
	case spec == nil:
		return nil, errors.New("the run has no spec")
	case len(a.grids) > 0 && len(a.files) > 0:
		return nil, errors.New("--grid sets what the file of --variant stands in place of: use one of them")
	}
	add := func(choices []choice, wrong error) {
		if axes, err = append(axes, choices), errors.Join(err, wrong); err == nil {
			layOver(spec, choices[0].spec)
		}
	}
	if len(a.images) > 0 {
		add(imageChoices(spec, a.images))
	}
	for _, grid := range a.grids {
		add(a.gridChoices(grid))
	}
	if len(a.files) > 0 && err == nil {
		add(a.fileChoices(spec))
	}
	return axes, err
}

// combined are the variants that have one choice of each axis: what the run has not, as it has the first ones.
func combined(axes [][]choice) ([]any, error) {
	n := 1
	for _, axis := range axes {
		if n *= len(axis); n > maxVariants {
			return nil, fmt.Errorf("these are more than %d variants: name fewer images, values or files", maxVariants)
		}
	}
	var variants []any
	taken := map[string]bool{}
	for i := range n {
		var names, titles []string
		variant, removed := map[string]any{}, []any{}
		rest, size := i, n
		for _, axis := range axes {
			size /= len(axis)
			c := axis[rest/size]
			names, titles = append(names, c.name), append(titles, c.title)
			if rest >= size {
				layOver(variant, c.spec)
				removed = append(removed, c.remove...)
			}
			rest %= size
		}
		variant["name"], variant["title"] = freeVariant(strings.Join(names, "-"), taken), strings.Join(titles, ", ")
		if len(removed) > 0 {
			variant["remove"] = removed
		}
		variants = append(variants, variant)
	}
	return variants, nil
}

// layOver a map another one, key by key.
func layOver(below, above map[string]any) {
	for key, value := range above {
		over, isMap := value.(map[string]any)
		if !isMap {
			below[key] = value
			continue
		}
		under, _ := below[key].(map[string]any)
		if under == nil {
			under = map[string]any{}
			below[key] = under
		}
		layOver(under, over)
	}
}

// withoutRepetitions takes what has no place in a run with variants out of a specification, and names it.
func withoutRepetitions(spec map[string]any) (left []string) {
	for _, field := range []string{"trials.repetitions", "trials.precision", "claims"} {
		path := strings.Split(field, ".")
		if _, found, _ := unstructured.NestedFieldNoCopy(spec, path...); found {
			left = append(left, field)
			unstructured.RemoveNestedField(spec, path...)
		}
	}
	return left
}

// gridChoices are the values of a field: PATH=VALUE,VALUE. The path is one that a variant has, or one in its database.
func (a *alternatives) gridChoices(grid string) ([]choice, error) {
	fieldPath, values, _ := strings.Cut(grid, "=")
	list, err := csv.NewReader(strings.NewReader(values)).Read()
	if err != nil || len(list) < fewest {
		return nil, fmt.Errorf(`--grid %s: write PATH=VALUE,VALUE with at least two values; "a,b" is one with a comma`, grid)
	}
	fieldPath = strings.TrimPrefix(fieldPath, "spec.")
	if first, _, _ := strings.Cut(fieldPath, "."); !slices.Contains([]string{"database", "workload", "loader"}, first) {
		fieldPath = "database." + fieldPath
	}
	if slices.Contains(a.fields, fieldPath) {
		return nil, fmt.Errorf("--grid %s: there are two grids of this field: write all values in one", grid)
	}
	a.fields = append(a.fields, fieldPath)
	var choices []choice
	for i, value := range list {
		if slices.Contains(list[:i], value) {
			return nil, fmt.Errorf("--grid %s: %s is listed twice", grid, value)
		}
		c := choice{name: value, title: fieldPath[strings.LastIndex(fieldPath, ".")+1:] + "=" + value, spec: map[string]any{}}
		if err := set(c.spec, fieldPath, value); err != nil {
			return nil, fmt.Errorf("--grid %s: %w", grid, err)
		}
		choices = append(choices, c)
	}
	return choices, nil
}

// fileChoices are the run as it is, and each of the option files, NAME=FILE, in place of its settings and variables.
func (a *alternatives) fileChoices(spec map[string]any) ([]choice, error) {
	database, _ := spec["database"].(map[string]any)
	named, _ := database["engine"].(string)
	image, _ := database["image"].(string)
	e, err := engine.Named(named, image)
	if err != nil {
		return nil, err
	}
	choices := []choice{{name: "baseline", title: "as in the run's file"}}
	for _, of := range a.files {
		name, file, found := strings.Cut(of, "=")
		if !found || name == "" || file == "" {
			return nil, fmt.Errorf("--variant %s: write NAME=FILE, where FILE is an option file such as my.cnf", of)
		}
		options, err := readOptions(file, e)
		if err != nil {
			return nil, fmt.Errorf("--variant %s: %w", of, err)
		}
		for _, line := range options.left {
			a.say("left out of variant " + name + ": " + line)
		}
		c := choice{name: name, title: path.Base(file), spec: map[string]any{"database": options.database()}}
		for _, field := range []string{"settings", "variables"} {
			has, _ := database[field].(map[string]any)
			for _, key := range slices.Sorted(maps.Keys(has)) {
				if _, said, _ := unstructured.NestedFieldNoCopy(c.spec, "database", field, key); !said {
					c.remove = append(c.remove, "database."+field+"."+key)
				}
			}
		}
		choices = append(choices, c)
	}
	return choices, nil
}

// imageChoices are images of the database server. The engine of the first one, or the one that the run names, is that of images
// whose names do not say which they are of.
func imageChoices(spec map[string]any, images []string) ([]choice, error) {
	references, err := parseImages(images)
	if err != nil {
		return nil, err
	}
	database, _ := spec["database"].(map[string]any)
	said := database["engine"]
	delete(database, "engine")
	if e := engine.OfImage(references[0].String()); e != nil {
		said = e.Name
	}
	var choices []choice
	for i, reference := range references {
		of := map[string]any{"image": reference.String()}
		if said != nil && engine.OfImage(reference.String()) == nil {
			of["engine"] = said
		}
		choices = append(choices, choice{name: imageName(references, i), title: images[i], spec: map[string]any{"database": of}})
	}
	return choices, nil
}

// parseImages reads the names of images: at least two, and none is listed twice.
func parseImages(images []string) ([]containername.Reference, error) {
	if len(images) < fewest {
		return nil, errors.New("name at least two images: the first is the baseline")
	}
	references, seen := make([]containername.Reference, len(images)), map[string]bool{}
	for i, image := range images {
		reference, err := containername.ParseReference(image)
		if err != nil {
			return nil, fmt.Errorf("%q is not the name of an image: %w", image, err)
		}
		if seen[reference.Name()] {
			return nil, fmt.Errorf("%s is listed twice: to see how far two runs of one image differ, write a run whose second "+
				"variant names nothing", image)
		}
		seen[reference.Name()] = true
		references[i] = reference
	}
	return references, nil
}

// imageName is an image's tag, or the first digits of its digest; after its repository, without folders, if there are several.
func imageName(references []containername.Reference, i int) string {
	of := references[i]
	repository := func(r containername.Reference) string { return path.Base(r.Context().RepositoryStr()) }
	name := strings.TrimPrefix(of.Identifier(), "sha256:")
	if name != of.Identifier() {
		name = name[:digestDigits]
	}
	if slices.ContainsFunc(references, func(r containername.Reference) bool { return repository(r) != repository(of) }) {
		name = repository(of) + "-" + name
	}
	return name
}

// freeVariant takes a text as the name of a variant, with a number behind it if that is taken.
func freeVariant(text string, taken map[string]bool) string {
	label := strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
	shortened := func(name, suffix string) string {
		return strings.TrimRight(name[:min(len(name), maxVariantName-len(suffix))], "-") + suffix
	}
	name := shortened(cmp.Or(label, "empty"), "")
	for n := 2; taken[name]; n++ {
		name = shortened(label, "-"+strconv.Itoa(n))
	}
	taken[name] = true
	return name
}
