// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"strconv"
	"strings"

	containername "github.com/google/go-containerregistry/pkg/name"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/benchrun-dev/benchrun/internal/engine"
)

// compareImages makes a run without variants one that has each of these images as a variant, of which the first is the baseline.
func (o *creation) compareImages(objects []*unstructured.Unstructured, images []string) error {
	if len(objects) != 1 {
		return fmt.Errorf("--image takes a file with one run, but there are %d", len(objects))
	}
	run := objects[0]
	if _, has, _ := unstructured.NestedFieldNoCopy(run.Object, "spec", "variants"); has {
		return fmt.Errorf("run %s has variants already: --image needs a run without", run.GetName())
	}
	spec, left, err := ofImages(run, images)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		say(o.streams.ErrOut, "left out, because rounds say how often variants are measured: "+strings.Join(left, ", "))
	}
	run.Object["spec"] = spec
	return nil
}

// ofImages is the specification of a run with these images as its variants, and what of it has no place there.
func ofImages(run *unstructured.Unstructured, images []string) (spec map[string]any, left []string, err error) {
	references, err := parseImages(images)
	if err != nil {
		return nil, nil, err
	}
	if spec, _, err = unstructured.NestedMap(run.Object, "spec"); err != nil {
		return nil, nil, err
	}
	names := variantNames(references)
	trials, _ := spec["trials"].(map[string]any)
	for _, name := range []string{"repetitions", "precision"} {
		if _, found := trials[name]; found {
			left = append(left, "trials."+name)
			delete(trials, name)
		}
	}
	if _, found := spec["claims"]; found {
		left = append(left, "claims")
		delete(spec, "claims")
	}
	database, _ := spec["database"].(map[string]any)
	if database == nil {
		database = map[string]any{}
		spec["database"] = database
	}
	said := database["engine"]
	delete(database, "engine")
	if e := engine.OfImage(references[0].String()); e != nil {
		said = e.Name
	}
	// databaseOf an image has the engine of the first one, or of the file, where its own name says nothing.
	databaseOf := func(reference containername.Reference) map[string]any {
		of := map[string]any{"image": reference.String()}
		if said != nil && engine.OfImage(reference.String()) == nil {
			of["engine"] = said
		}
		return of
	}
	maps.Copy(database, databaseOf(references[0]))
	variants := []any{map[string]any{"name": names[0], "title": images[0]}}
	for i, reference := range references[1:] {
		variants = append(variants, map[string]any{
			"name": names[i+1], "title": images[i+1], "database": databaseOf(reference),
		})
	}
	spec["variants"] = variants
	return spec, left, nil
}

// maxVariantName is how long the name of a variant may be.
const maxVariantName = 20

// digestDigits are enough of a digest to tell images apart.
const digestDigits = 12

// fewestImages are a baseline, and what is compared with it.
const fewestImages = 2

// parseImages reads the names of images: at least two, and none is listed twice.
func parseImages(images []string) ([]containername.Reference, error) {
	if len(images) < fewestImages {
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

// variantNames are the names of variants with these images: the tags, or the first digits of the digests; with the names of the
// repositories before them if there are several repositories.
func variantNames(references []containername.Reference) []string {
	repositories := map[string]bool{}
	for _, reference := range references {
		repositories[repositoryOf(reference)] = true
	}
	names, taken := make([]string, len(references)), map[string]bool{}
	for i, reference := range references {
		name := strings.TrimPrefix(reference.Identifier(), "sha256:")
		if name != reference.Identifier() {
			name = name[:digestDigits]
		}
		if len(repositories) > 1 {
			name = repositoryOf(reference) + "-" + name
		}
		names[i] = freeVariant(name, taken)
		taken[names[i]] = true
	}
	return names
}

// repositoryOf a reference is the repository's name without its folders.
func repositoryOf(reference containername.Reference) string {
	return path.Base(reference.Context().RepositoryStr())
}

// freeVariant is a text as the name of a variant, with a number behind it if that is taken.
func freeVariant(text string, taken map[string]bool) string {
	label := strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
	name := shortened(label, "", maxVariantName)
	for n := 2; taken[name]; n++ {
		name = shortened(label, "-"+strconv.Itoa(n), maxVariantName)
	}
	return name
}

// shortened is a name with a suffix, of which there are so many characters at most.
func shortened(name, suffix string, most int) string {
	return strings.TrimRight(name[:min(len(name), most-len(suffix))], "-") + suffix
}
