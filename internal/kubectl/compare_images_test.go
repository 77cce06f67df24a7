// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestVariantNames(t *testing.T) {
	for name, tc := range map[string]struct {
		images, want []string
		err          string
	}{
		"tags":             {[]string{"mariadb:10.11", "docker.io/library/mariadb:11.8"}, []string{"10-11", "11-8"}, ""},
		"no tag":           {[]string{"mariadb", "mariadb:11.8"}, []string{"latest", "11-8"}, ""},
		"repositories":     {[]string{"mariadb:11.8", "example.com:5000/x/mysql:9.7"}, []string{"mariadb-11-8", "mysql-9-7"}, ""},
		"folders":          {[]string{"a.example/mariadb:11.8", "b.example/mariadb:11.8"}, []string{"11-8", "11-8-2"}, ""},
		"digests":          {[]string{"mariadb:11.8", "mariadb@" + digest}, []string{"11-8", "0123456789ab"}, ""},
		"a tag and digest": {[]string{"mariadb:11.8", "mariadb:11.8@" + digest}, []string{"11-8", "0123456789ab"}, ""},
		"long": {
			[]string{"mariadb:11.8-a-very-long-tag-of-a-build-1", "mariadb:11.8-a-very-long-tag-of-a-build-2", "mariadb:_.11"},
			[]string{"11-8-a-very-long-tag", "11-8-a-very-long-t-2", "11"},
			"",
		},
		"one":   {[]string{"mariadb:11.8"}, nil, "name at least two images"},
		"twice": {[]string{"mariadb:11.8", "docker.io/library/mariadb:11.8"}, nil, "docker.io/library/mariadb:11.8 is listed twice"},
		"bad":   {[]string{"mariadb:11.8", "mariadb:11:8"}, nil, `"mariadb:11:8" is not the name of an image`},
	} {
		var got []string
		references, err := parseImages(tc.images)
		if err == nil {
			got = variantNames(references)
		}
		if d := cmp.Diff(tc.want, got); d != "" || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %v %s", name, err, d)
		}
	}
}

// TestCompareImages prints the comparison of a run's file with a list of images, as it would be created: it is valid.
func TestCompareImages(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	list := filepath.Join(t.TempDir(), "versions.txt")
	if err := os.WriteFile(list, []byte("# what we ship\n\n  mysql:9.7\npercona/percona-server:8.4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const run = `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: sizes, namespace: lab, labels: {kueue.x-k8s.io/queue-name: q, mine: x}}
spec:
  title: Sizes
  seed: 7
  database: {image: "mariadb:10.6", settings: {binaryLog: false}}
  workload: {type: CommitSize, commitSize: {rows: 10}}
  trials: {repetitions: 6, primeSeconds: 1}
`
	code, out, errs := runMain(t, run, "compare-images", "-f", "-", "--images", list, "mariadb:10.11", "mariadb:11.8", "--name", "versions",
		"--set", "alternation=Trials", "--set", "maxRounds=30", "--dry-run=client", "-o", "yaml")
	want := `apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkComparison
metadata:
  labels:
    kueue.x-k8s.io/queue-name: q
  name: versions
  namespace: lab
spec:
  alternation: Trials
  maxRounds: 30
  seed: 7
  template:
    spec:
      database:
        image: mariadb:10.11
        settings:
          binaryLog: false
      trials:
        primeSeconds: 1
      workload:
        commitSize:
          rows: 10
        type: CommitSize
  variants:
  - name: mariadb-10-11
    title: mariadb:10.11
  - database:
      image: mariadb:11.8
    name: mariadb-11-8
    title: mariadb:11.8
  - database:
      engine: MySQL
      image: mysql:9.7
    name: mysql-9-7
    title: mysql:9.7
  - database:
      engine: MySQL
      image: percona/percona-server:8.4
    name: percona-server-8-4
    title: percona/percona-server:8.4
`
	if d := cmp.Diff(want, out); code != ExitFine || d != "" ||
		errs != "left out, because a comparison decides it: title, trials.repetitions\n" {
		t.Error(code, errs, d)
	}
}

// TestCompareImagesEngine: a baseline of another engine than the run's file sets it for all that do not say otherwise.
func TestCompareImagesEngine(t *testing.T) {
	code, out, errs := runMain(t, runWith("seed: 3"), "compare-images", "-f", "-", "mysql:9.7", "example.com/build:42", "mariadb:11.8",
		"--dry-run=client", "-o", "jsonpath={.spec.template.spec.database} {.spec.variants[*].database}")
	want := `{"engine":"MySQL","image":"mysql:9.7"} {"image":"example.com/build:42"} {"engine":"MariaDB","image":"mariadb:11.8"}`
	if code != ExitFine || out != want {
		t.Errorf("%d %s\n%s\n%s", code, errs, out, want)
	}
}

func TestCompareImagesErrors(t *testing.T) {
	valid := runWith("database: {}")
	for name, tc := range map[string]struct {
		stdin     string
		arguments []string
		says      string
	}{
		"no file":      {"", []string{"mariadb:10.11", "mariadb:11.8"}, "-f FILE is missing"},
		"one image":    {valid, []string{"-f", "-", "mariadb:11.8"}, "name at least two images"},
		"two inputs":   {valid, []string{"-f", "-", "--images", "-"}, "cannot both be the standard input"},
		"two runs":     {valid + "---\n" + valid, []string{"-f", "-", "a:1", "a:2"}, "needs a file with one BenchmarkRun"},
		"no such list": {valid, []string{"-f", "-", "--images", "none"}, "none"},
		"set": {
			valid,
			[]string{"-f", "-", "a:1", "a:2", "--set", "rounds=3"},
			`--set rounds=3: spec has no field "rounds"; it has alternation, baseline`,
		},
		"names too long": {
			valid,
			[]string{"-f", "-", "a:a-tag-of-a-nightly-build", "a:2", "--name", "the-name-of-a-comparison", "--dry-run=client"},
			"at most 35 characters together",
		},
	} {
		if code, _, errs := runMain(t, tc.stdin, append([]string{"compare-images"}, tc.arguments...)...); code != ExitError || !strings.Contains(errs, tc.says) {
			t.Errorf("%s: %d %s", name, code, errs)
		}
	}
}
