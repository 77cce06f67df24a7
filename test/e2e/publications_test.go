//go:build samples

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// standIn is a server that the cluster has, in place of one of a publication.
type standIn struct {
	image string
	// without are variables that it no longer has.
	without []string
}

var standIns = map[string]standIn{
	"mariadb:10.3":    {"mariadb:10.11", []string{"innodb_buffer_pool_instances", "innodb_log_files_in_group"}},
	"mariadb:10.5.16": {image: "mariadb:10.11"},
	"mariadb:10.6":    {image: "mariadb:10.11"},
	"mysql:8.4":       {image: "mysql:9.7"},
}

// storageHere are the StorageClasses of the cluster in place of those of the publications.
var storageHere = map[string]string{"xfs": "fast-xfs", "ext4": "fast-ext4"}

// Each server of each publication, in its full size, starts and has what its file asks for: sizes of the buffer pool and of the
// redo log, flush at commit, binary log, and every variable. A server allocates its buffer pool as it fills it, so that all sizes
// stay; its Pod requests less than the file says, and what is done with it is ten rows.
var _ = DescribeTable("a server of a publication in full has what its file asks for",
	func(ctx SpecContext, file string) {
		text := need(os.ReadFile(filepath.Join(repository, "config", "samples", "publications", file)))
		asked := variantsOf(string(text))
		names := slices.Sorted(maps.Keys(asked))
		for _, name := range names {
			manifest := need(yaml.Marshal(tenRows(name, asked[name])))
			apply(ctx, string(manifest))
		}
		for _, name := range names {
			hasWhatWasAsked(ctx, complete(ctx, "of-"+name))
		}
	},
	inFull())

// inFull has an entry for the full file of each publication.
func inFull() []TableEntry {
	files, err := filepath.Glob("../../config/samples/publications/*.yaml")
	if err != nil || len(files) == 0 {
		panic(fmt.Sprintf("%d publications, %v", len(files), err))
	}
	var entries []TableEntry
	for _, file := range files {
		if !strings.HasSuffix(file, "-small.yaml") {
			entries = append(entries, Entry(nil, filepath.Base(file), SpecTimeout(sampleTime)))
		}
	}
	return entries
}

// variantsOf a file are the databases of its runs, or of their variants, by their names.
func variantsOf(manifest string) map[string]v1alpha1.DatabaseSpec {
	GinkgoHelper()
	databases := map[string]v1alpha1.DatabaseSpec{}
	for document := range strings.SplitSeq(manifest, "\n---\n") {
		var run v1alpha1.BenchmarkRun
		Expect(yaml.Unmarshal([]byte(document), &run)).To(Succeed())
		if len(run.Spec.Variants) == 0 {
			databases[run.Name] = run.Spec.Database
		}
		for i, v := range run.Spec.Variants {
			databases[v.Name] = plan.Side(&run, i, 1).Spec.Database
		}
	}
	return databases
}

// tenRows is a run of ten rows on the server of a variant. Its name begins with a letter.
func tenRows(name string, asked v1alpha1.DatabaseSpec) *v1alpha1.BenchmarkRun {
	GinkgoHelper()
	var run v1alpha1.BenchmarkRun
	Expect(yaml.Unmarshal([]byte(`
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
spec:
  workload: {type: CommitSize, commitSize: {rows: 10, rowsPerCommit: 1}}
  trials: {repetitions: 1}
  loader: {resources: {requests: {cpu: 50m}, limits: {memory: 256Mi}}}
`), &run)).To(Succeed())
	run.Name, run.Spec.Database = "of-"+name, *asked.DeepCopy()
	db := &run.Spec.Database
	said := []string{"requests 50m of CPU and 512Mi"}
	if s, needed := standIns[db.Image]; needed {
		said = append(said, fmt.Sprintf("%s stands in for %s", s.image, db.Image))
		said = append(said, substitute(db, s)...)
	}
	if class := db.Storage.StorageClassName; class != "" {
		said = append(said, fmt.Sprintf("StorageClass %s stands in for %s", storageHere[class], class))
		db.Storage.StorageClassName = storageHere[class]
	}
	if db.HostTuning != nil {
		said, db.HostTuning = append(said, "without hostTuning, which the cluster does not allow"), nil
	}
	db.Resources.Requests = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("512Mi"),
	}
	fmt.Fprintf(GinkgoWriter, "%s: %s\n", name, strings.Join(said, "; "))
	return &run
}

// substitute the server, and say what is lost.
func substitute(db *v1alpha1.DatabaseSpec, s standIn) []string {
	GinkgoHelper()
	var said []string
	db.Image = s.image
	for _, variable := range s.without {
		value, set := db.Variables[variable]
		if !set {
			continue
		}
		said = append(said, fmt.Sprintf("%s has no %s=%s", s.image, variable, value))
		delete(db.Variables, variable)
	}
	return said
}

// hasWhatWasAsked compares what the server of a finished run said of itself with what its specification asks for: nothing is
// rounded, and nothing is left out.
func hasWhatWasAsked(ctx context.Context, run *v1alpha1.BenchmarkRun) {
	GinkgoHelper()
	s := &run.Spec.Database.Settings
	Expect([]bool{s.BufferPoolSize != nil, s.RedoLogSize != nil, s.FlushLogAtTrxCommit != nil, s.BinaryLog != nil}).
		To(HaveEach(true), "a publication says what its server has")
	e := need(plan.EngineOf(&run.Spec.Database))
	server := document(ctx, run.Name+"-t1-a1").Server
	for _, setting := range plan.Settings(e, &run.Spec.Database) {
		i := slices.IndexFunc(server.Settings, func(a result.AppliedSetting) bool { return a.Name == setting.Name })
		Expect(i).To(BeNumerically(">=", 0), "%s of %s was not compared", setting.Name, run.Name)
		a := server.Settings[i]
		fmt.Fprintf(GinkgoWriter, "%s: %s asked %s, has %s\n", run.Name, a.Name, a.Requested, a.Effective)
		Expect(a.Outcome).To(Equal(result.SettingEffective), "%s: %+v", run.Name, a)
		if size, err := strconv.ParseInt(setting.Value, 10, 64); err == nil && size > 1 {
			Expect(a.Effective).To(Equal(setting.Value), "%s: %+v", run.Name, a)
		}
	}
}
