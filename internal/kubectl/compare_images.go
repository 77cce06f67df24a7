// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"strconv"
	"strings"

	containername "github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// versions are the options of compare-images.
type versions struct {
	file, images, name string
	settings           []string
}

func newCompareImages(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	o, v := newCreation(c, streams), &versions{}
	command := &cobra.Command{
		Use:   "compare-images -f RUN [IMAGE]... [--images FILE]",
		Short: "Compare versions of a database server: a run with an image for each variant",
		Long: `Compare versions of a database server: start a run that has each of these images as a variant.

The first image is the baseline. Every other image is a variant that differs in nothing but the image, whose name says of which
engine it is. The name of a variant is the image's tag. --images reads more images from a file, one in
a line; empty lines and lines that begin with # are skipped.

Claims, trials.repetitions and trials.precision of the file are left out, and that is said. --set sets fields of the run: its
paths are those that "kubectl explain brun.spec" shows.`,
		Example: `  # Three versions, in as many rounds as the answer takes.
  kubectl benchrun compare-images -f config/samples/commit-size.yaml mariadb:10.11 mariadb:11.8 mysql:9.7 --watch

  # A list that a job keeps, in slices; print the run, to keep it in a file.
  kubectl benchrun compare-images -f run.yaml --images versions.txt --set alternation=Slices --dry-run=client -o yaml`,
		RunE: func(command *cobra.Command, arguments []string) error {
			object, err := v.run(o, arguments)
			if err != nil {
				return err
			}
			return o.all(command.Context(), []*unstructured.Unstructured{object})
		},
	}
	command.Flags().StringVarP(&v.file, "filename", "f", "", "file with one run; - is the standard input")
	command.Flags().StringVar(&v.images, "images", "", "file with more images, one in a line; - is the standard input")
	command.Flags().StringVar(&v.name, "name", "", "name of the run (default: that in the file)")
	command.Flags().StringArrayVar(&v.settings, "set", nil, "set a field of the run: PATH=VALUE")
	o.addFlags(command)
	return command
}

// run is the one that the flags describe.
func (v *versions) run(o *creation, images []string) (*unstructured.Unstructured, error) {
	switch {
	case v.file == "":
		return nil, errNoFile
	case v.file == "-" && v.images == "-":
		return nil, errors.New("-f and --images cannot both be the standard input")
	}
	objects, err := o.read([]string{v.file})
	if err != nil {
		return nil, err
	}
	if len(objects) != 1 || objects[0].GetKind() != plan.RunKind {
		return nil, fmt.Errorf("compare-images needs a file with one %s", plan.RunKind)
	}
	if v.images != "" {
		listed, err := linesOf(v.images, o.streams.In)
		if err != nil {
			return nil, err
		}
		images = append(images, listed...)
	}
	run := objects[0]
	if _, has, _ := unstructured.NestedFieldNoCopy(run.Object, "spec", "variants"); has {
		return nil, fmt.Errorf("run %s has variants already: compare-images needs a run without", run.GetName())
	}
	spec, left, err := ofImages(run, images)
	if err != nil {
		return nil, err
	}
	if len(left) > 0 {
		say(o.streams.ErrOut, "left out, because rounds say how often variants are measured: "+strings.Join(left, ", "))
	}
	if err := setAll(spec, v.settings); err != nil {
		return nil, err
	}
	run.Object["spec"] = spec
	run.SetName(cmp.Or(v.name, run.GetName()))
	return run, nil
}

// linesOf a file, without those that are empty or comments.
func linesOf(name string, stdin io.Reader) ([]string, error) {
	var text []byte
	var err error
	if name == "-" {
		text, err = io.ReadAll(stdin)
	} else {
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines, nil
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
