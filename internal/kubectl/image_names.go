// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	containername "github.com/google/go-containerregistry/pkg/name"

	"github.com/benchrun-dev/benchrun/internal/engine"
)

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
			return nil, fmt.Errorf("%s is listed twice: to see how far two runs of one image differ, write a comparison whose "+
				"second variant names nothing", image)
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

// databaseOf is a database with this image; with its engine, if its name says that it is not of this one. No engine is the
// default.
func databaseOf(reference containername.Reference, other string) map[string]any {
	database := map[string]any{"image": reference.String()}
	of := ""
	switch repository := repositoryOf(reference); {
	case strings.Contains(repository, "mariadb"):
		of = engine.MariaDB.Name
	case strings.Contains(repository, "mysql"), strings.Contains(repository, "percona"): // which is made of MySQL
		of = engine.MySQL.Name
	}
	if of != "" && of != cmp.Or(other, engine.MariaDB.Name) {
		database["engine"] = of
	}
	return database
}

// shortened is a name with a suffix, of which there are so many characters at most.
func shortened(name, suffix string, most int) string {
	return strings.TrimRight(name[:min(len(name), most-len(suffix))], "-") + suffix
}
