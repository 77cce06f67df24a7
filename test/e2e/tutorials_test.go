//go:build tutorials

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// gateTime is how long a tutorial's comparison may take on a slow and busy machine.
const gateTime = 20 * time.Minute

// reader is a user who does what a tutorial says, in a folder and a shell environment of their own.
type reader struct {
	folder      string
	environment []string
	// patient takes it that a comparison cannot say: on a busy machine, versions that hardly differ stay undecided.
	patient bool
}

// A tutorial's commands are typed one after the other, as its reader does; what must be saved as a file is.
var _ = Describe("a reader of the tutorial", func() {
	It("compare-two-settings.md has an answer at its end", takesMinutes, func(ctx SpecContext) {
		r := newReader(ctx)
		r.follow(ctx, "tutorials/compare-two-settings.md")
		answer := r.read("oltp.md")
		Expect(answer).To(MatchRegexp(`^# oltp: large-pool is .* as small-pool|^# oltp: large-pool is .*% faster than small-pool`))
		Expect(r.read("oltp.html")).To(ContainSubstring("<svg"))
		Expect(filepath.Join(r.folder, "oltp.tgz")).To(BeAnExistingFile())
	}, SpecTimeout(gateTime))

	// Judged by which variant wins and by its plan, on both engines: the page's table says in what the second differs.
	DescribeTable("is-my-query-faster.md says that it is, and why", func(ctx SpecContext, plan string, ofMariaDB bool) {
		var changes []string
		if ofMariaDB {
			page := string(need(os.ReadFile(filepath.Join(repository, "docs", "tutorials", "is-my-query-faster.md"))))
			for _, row := range regexp.MustCompile("(?m)^\\| `(.+)` \\| `(.+)` \\|$").FindAllStringSubmatch(page, -1) {
				changes = append(changes, row[1:]...)
			}
			Expect(changes).To(HaveLen(6))
		}
		out := newReader(ctx).follow(ctx, "tutorials/is-my-query-faster.md", changes...)
		Expect(out).To(MatchRegexp(`(?m)^query +Decided +[0-9/]+ +indexed [0-9.]+× as fast`))
		Expect(out).To(MatchRegexp(`(?m)^query: indexed is [0-9.]+× as fast as plain .* OK$`))
		Expect(out).To(MatchRegexp(`(?s)--- indexed: plan of newest, statement 1 ---.{0,200}` + plan))
		Expect(out).To(MatchRegexp(`(?m)^commits: Decided, .*: lazy is .*(× as fast as|% faster than) durable`))
	},
		Entry("on PostgreSQL", takesMinutes, SpecTimeout(gateTime), "Index Scan Backward using newest", false),
		Entry("on MariaDB", takesMinutes, SpecTimeout(gateTime), "key=newest", true))

	It("gate-in-ci.md knows what to do with what is not slower", takesMinutes, func(ctx SpecContext) {
		r := newReader(ctx)
		out := r.follow(ctx, "tutorials/gate-in-ci.md")
		// A busy machine cannot exclude 5% in twenty rounds, and says so.
		Expect(out).To(MatchRegexp(`(?m)^(no loss of more than 5%|cannot say: start the job again with --set rounds.atMost=40)$`))
		Expect(r.read("comment.md")).NotTo(BeEmpty())
		Expect(r.read("gate.xml")).NotTo(ContainSubstring("<failure"))
	}, SpecTimeout(gateTime))

	It("publish.md has a bundle that others can check and cite", takesMinutes, func(ctx SpecContext) {
		r := newReader(ctx)
		out := r.follow(ctx, "tutorials/publish.md")
		Expect(out).To(MatchRegexp(`(?m)^# batches\n\n.* rows/s`))
		Expect(out).To(ContainSubstring("rate-against-batch.svg"))
		Expect(r.read("batches.md")).To(ContainSubstring("transactions of 16 rows load at least twice as fast"))
	}, SpecTimeout(gateTime))
})

var _ = Describe("who hunts a regression", func() {
	It("has a matrix, an interval and the differences of the versions", takesMinutes, func(ctx SpecContext) {
		r := newReader(ctx)
		r.patient = true
		out := r.follow(ctx, "how-to/compare-versions.md")
		Expect(out).To(MatchRegexp(`(?m)^ *point-query +.*[-+=?]$`))
		Expect(out).To(ContainSubstring("innodb_"))
		Expect(filepath.Join(r.folder, "since-when.tgz")).To(BeAnExistingFile())
	}, SpecTimeout(2*gateTime))
})

func newReader(ctx SpecContext) *reader {
	GinkgoHelper()
	r := &reader{folder: GinkgoT().TempDir()}
	DeferCleanup(func(ctx SpecContext) { // which a tutorial has its reader create
		kubectl(ctx, "delete", "namespace", "benchmarks", "--ignore-not-found", "--timeout=3m")
	})
	config := filepath.Join(r.folder, "kubeconfig")
	content := need(os.ReadFile(os.Getenv("KUBECONFIG")))
	Expect(os.WriteFile(config, content, 0o600)).To(Succeed())
	r.environment = []string{"PATH=" + filepath.Join(repository, "bin") + ":/usr/bin:/bin", "HOME=" + r.folder, "KUBECONFIG=" + config}
	r.run(ctx, "kubectl config set-context --current --namespace "+namespace)
	return r
}

// follow a tutorial from its first to its last line, and return what its commands print. The shell stays the same, as on a
// terminal. Changes are pairs of what is written there and what is done in its place.
func (r *reader) follow(ctx context.Context, tutorial string, changes ...string) string {
	GinkgoHelper()
	content := need(os.ReadFile(filepath.Join(repository, "docs", filepath.FromSlash(tutorial))))
	text := string(content)
	for i := 0; i < len(changes); i += 2 {
		Expect(text).To(ContainSubstring(changes[i]))
		text = strings.ReplaceAll(text, changes[i], changes[i+1])
	}
	var commands []string
	for _, step := range testutil.Steps(text) {
		if step.File != "" {
			file := filepath.Join(r.folder, filepath.FromSlash(step.File))
			Expect(os.MkdirAll(filepath.Dir(file), 0o700)).To(Succeed())
			Expect(os.WriteFile(file, []byte(step.Content), 0o600)).To(Succeed())
			continue
		}
		commands = append(commands, step.Commands)
	}
	Expect(commands).NotTo(BeEmpty())
	if r.patient {
		commands = slices.Insert(commands, 0, `kubectl() { command kubectl "$@" || { code=$?; [ "$code" = 2 ] || return "$code"; }; }`+"\n")
	}
	return r.run(ctx, strings.Join(commands, ""))
}

// run commands in the reader's folder, of which none may fail.
func (r *reader) run(ctx context.Context, commands string) string {
	GinkgoHelper()
	c := exec.CommandContext(ctx, "bash", "-euvo", "pipefail", "-c", commands) // -x would print a token
	c.Dir, c.Env = r.folder, r.environment
	out, err := c.CombinedOutput()
	GinkgoWriter.Printf("%s\n", out)
	Expect(err).NotTo(HaveOccurred(), string(out))
	return string(out)
}

func (r *reader) read(name string) string {
	GinkgoHelper()
	content := need(os.ReadFile(filepath.Join(r.folder, name)))
	return string(content)
}
