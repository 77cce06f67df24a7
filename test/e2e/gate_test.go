//go:build tutorials

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/benchrun-dev/benchrun/internal/testutil"
)

const (
	gateWorkflow = ".github/workflows/gate.yaml"
	// sameImage is the Dockerfile of the repository: the pull requests change it, or what stands beside it.
	sameImage = "FROM mariadb:11.8\n"
	// slowerImage has the server count and time every wait, which takes about a tenth of its rate.
	slowerImage = `RUN sed -i '/^\[mariadbd\]/a performance_schema = ON\nperformance_schema_instrument = wait/%=ON\n` +
		`performance_schema_consumer_events_waits_current = ON' /etc/mysql/my.cnf` + "\n"
)

// The workflow that the tutorial ends with is run as it stands, for pull requests on a Git server, by an account with the rights that
// the tutorial gives. Images are built, and go to the nodes in place of a registry.
var _ = Describe("the workflow of gate-in-ci.md", func() {
	var f *forge

	BeforeEach(func(ctx SpecContext) {
		content := need(os.ReadFile(filepath.Join(repository, "docs", "tutorials", "gate-in-ci.md")))
		files := map[string]string{"Dockerfile": sameImage}
		var commands []string
		for _, step := range testutil.Steps(string(content)) {
			if step.File != "" {
				files[step.File] = step.Content
			} else {
				commands = append(commands, step.Commands)
			}
		}
		Expect(files).To(And(HaveKey("gate.yaml"), HaveKey(gateWorkflow)))
		administrator := newReader(ctx)
		administrator.run(ctx, strings.Join(commands[:2], "")) // the account, and its kubeconfig
		f = newForge(ctx, map[string]string{"BENCHMARKS_KUBECONFIG": administrator.read("ci.kubeconfig")})
		f.pushes(ctx, mainBranch, files)
	})

	// attempt of the job for a pull request. What takes the place of a registry has the environment of the tests.
	attempt := func(ctx SpecContext, pullRequest, number int, replaced ...string) job {
		GinkgoHelper()
		load := fmt.Sprintf(`HOME=%s PATH=%s BENCHRUN_CLUSTER=%s %s load "$IMAGE"`, os.Getenv("HOME"), os.Getenv("PATH"),
			os.Getenv("BENCHRUN_CLUSTER"), filepath.Join(repository, "hack", "cluster.sh"))
		return f.runs(ctx, gateWorkflow, pullRequest, number,
			append(replaced, "registry.example.com/mariadb:", "mariadb:gate-", `docker push "$IMAGE"`, load)...)
	}

	It("passes a pull request that makes nothing slower", takesMinutes, func(ctx SpecContext) {
		f.pushes(ctx, "refs/pull/7/head", map[string]string{"README.md": "A database.\n"})
		got := attempt(ctx, 7, 1)
		if got.code == 1 || got.code == 2 { // what the tutorial says to do then: one in 40 is stopped by chance
			got = attempt(ctx, 7, 2)
		}
		Expect(got.code).To(Equal(0), "%s", got.summary)
	}, SpecTimeout(2*gateTime))

	It("stops one that makes the server slower", takesMinutes, func(ctx SpecContext) {
		f.pushes(ctx, "refs/pull/8/head", map[string]string{"Dockerfile": sameImage + slowerImage})
		got := attempt(ctx, 8, 1)
		if got.code == 2 {
			got = attempt(ctx, 8, 2)
		}
		Expect(got.code).To(Equal(1), "%s", got.summary)
		Expect(got.summary).To(ContainSubstring("performance_schema"))
	}, SpecTimeout(2*gateTime))

	It("fails one whose image does not start, and measures the push that mends it", takesMinutes, func(ctx SpecContext) {
		f.pushes(ctx, "refs/pull/10/head", map[string]string{"Dockerfile": sameImage + `ENTRYPOINT ["false"]` + "\n"})
		got := attempt(ctx, 10, 1)
		Expect(got.code).To(Equal(3), "%s", got.summary)
		f.pushes(ctx, "refs/pull/10/head", map[string]string{"Dockerfile": sameImage, "README.md": "It starts.\n"})
		got = attempt(ctx, 10, 1, "ROUNDS: 20", "ROUNDS: 6")
		Expect(got.code).To(BeNumerically("<", 3), "%s", got.summary)
	}, SpecTimeout(2*gateTime))
})
