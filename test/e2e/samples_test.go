//go:build samples

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// sampleTime is how long one file may take on a slow and busy machine.
const sampleTime = 30 * time.Minute

// runsOf are the runs of a file of config/samples, in its order; whatever is suspended there waits for its turn.
func runsOf(ctx SpecContext, file string) []string {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join(repository, "config", "samples", file))
	Expect(err).NotTo(HaveOccurred())
	apply(ctx, string(text))
	var names []string
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		var run v1alpha1.BenchmarkRun
		Expect(yaml.Unmarshal([]byte(document), &run)).To(Succeed())
		switch run.Kind {
		case "BenchmarkRun":
			names = append(names, run.Name)
		case "Job": // of what a run needs besides, and waits for
			kubectl(ctx, "wait", "--for=condition=Complete", "--timeout="+runTime.String(), "job/"+run.Name)
		}
	}
	Expect(names).NotTo(BeEmpty())
	return names
}

var _ = DescribeTable("a sample ends Complete",
	func(ctx SpecContext, file string) {
		for _, name := range runsOf(ctx, file) {
			kubectl(ctx, "patch", "benchmarkrun/"+name, "--type=merge", "-p", `{"spec":{"suspend":false}}`)
			kubectl(ctx, "wait", "--for=condition=Finished", "--timeout="+sampleTime.String(), "benchmarkrun/"+name)
			Expect(failure(getRun(ctx, name))).To(BeEmpty())
		}
	},
	Entry(nil, "bulk-insert.yaml", SpecTimeout(sampleTime)),
	Entry(nil, "iibench.yaml", SpecTimeout(sampleTime)),
	Entry(nil, "tproch-load.yaml", SpecTimeout(sampleTime)),
	Entry(nil, "sysbench.yaml", SpecTimeout(sampleTime)),
	Entry(nil, "sysbench-tpcc.yaml", SpecTimeout(sampleTime)),
	Entry(nil, "custom.yaml", SpecTimeout(sampleTime)),
	Entry(nil, "own-data.yaml", SpecTimeout(sampleTime)),
	Entry(nil, "publications/000-file-list-inserts-small.yaml", SpecTimeout(sampleTime)),
	Entry(nil, "publications/001-innodb-bulk-insert-small.yaml", SpecTimeout(sampleTime)),
	Entry(nil, "publications/002-tpcc-four-configurations-small.yaml", SpecTimeout(sampleTime)),
	Entry(nil, "publications/003-iibench-contest-small.yaml", SpecTimeout(sampleTime)),
)
