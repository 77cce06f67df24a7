//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// plugin calls kubectl benchrun as a user does, who has it in a folder of the PATH. It returns the exit code and the two outputs.
func plugin(ctx context.Context, stdin string, arguments ...string) (code int, out, errs string) {
	GinkgoHelper()
	bin := filepath.Join(repository, "bin")
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "kubectl"), append([]string{"benchrun", "-n", namespace}, arguments...)...)
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	ended := new(exec.ExitError)
	if err != nil && !errors.As(err, &ended) {
		Expect(err).NotTo(HaveOccurred())
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

var _ = Describe("the kubectl plugin", func() {
	It("takes a run from its file to its report", func(ctx SpecContext) {
		manifest := inLane(small("sizes", ""))

		By("checking the file without a cluster")
		code, out, errs := plugin(ctx, manifest, "validate", "-f", "-")
		Expect(code).To(Equal(0), errs)
		Expect(out).To(HavePrefix("-: BenchmarkRun sizes: valid: 2 points × 1 repetition = 2 trials"))

		By("creating it, and following it to its end")
		code, out, errs = plugin(ctx, manifest, "run", "-f", "-", "--watch")
		Expect(code).To(Equal(0), errs)
		Expect(out).To(And(
			HavePrefix("benchmarkrun.benchrun.dev/sizes created\n"), ContainSubstring("\nsizes: 0/2 trials, Measuring: trial 1 of 2 (rowsPerCommit="),
			MatchRegexp(`sizes: Complete, 2/2 trials in \S+: .* rows/s`)))

		By("explaining and reporting it")
		_, out, errs = plugin(ctx, "", "explain", "sizes")
		Expect(out).To(And(
			MatchRegexp(`^Run sizes: Complete since \d\d:\d\d:\d\d UTC .*, 2 of 2 trials measured\.`),
			ContainSubstring("Everything is measured, and the results are published.")), errs)
		_, out, errs = plugin(ctx, "", "report", "sizes")
		Expect(out).To(And(HavePrefix("sizes: "), ContainSubstring("rowsPerCommit")), errs)
		_, out, errs = plugin(ctx, "", "report", "sizes", "-o", "html")
		Expect(out).To(And(ContainSubstring("<svg"), ContainSubstring("</html>")), errs)

		By("reading the record of a trial whose Pod is gone")
		Eventually(func(g Gomega) {
			code, out, errs := plugin(ctx, "", "logs", "sizes", "--trial", "1")
			g.Expect(code).To(Equal(0), errs)
			g.Expect(out).To(And(HavePrefix("The Pod is gone. Trial 1, attempt 1 (rowsPerCommit="), ContainSubstring("rowsPerSecond: ")))
		}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
	}, SpecTimeout(2*runTime))

	It("follows the loader's log while it measures", func(ctx SpecContext) {
		manifest := inLane(strings.ReplaceAll(small("long", ""), "rows: 200", "rows: 1000000000"))
		code, _, errs := plugin(ctx, manifest, "run", "-f", "-")
		Expect(code).To(Equal(0), errs)
		kubectl(ctx, "wait", "--for=create", "--timeout=4m", "job/long-t1-a1")
		kubectl(ctx, "wait", "--for=jsonpath={.status.ready}=1", "--timeout=2m", "job/long-t1-a1")
		Eventually(func(g Gomega) {
			_, out, errs := plugin(ctx, "", "logs", "long", "--trial", "1")
			g.Expect(out).To(MatchRegexp(`(?m)^ *\d+ s: measure, \d+ rows`), errs)
		}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
		kubectl(ctx, "delete", "benchmarkrun/long", "--wait=false")
	}, SpecTimeout(runTime))
})

var _ = Describe("a bundle", func() {
	It("is measured again in another namespace, and compared", takesMinutes, func(ctx SpecContext) {
		apply(ctx, strings.Replace(small("handed", ""), "repetitions: 1", "repetitions: 6", 1))
		complete(ctx, "handed")
		path := filepath.Join(GinkgoT().TempDir(), "handed.tgz")
		code, out, errs := plugin(ctx, "", "export", "handed", "-o", path)
		Expect(code).To(Equal(0), errs)
		Expect(out).To(Equal(path + "\n"))

		other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			GenerateName: "e2e-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
		}}
		Expect(cluster.Create(ctx, other)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(cluster.Delete(ctx, other)).To(Succeed()) })
		// A machine that others use may be twice as slow a minute later: what is proven here is the way, not the number.
		code, out, errs = plugin(ctx, "", "reproduce", path, "-n", other.Name, "--within", "900%", "--yes")
		GinkgoWriter.Println(out)
		headline, _, _ := strings.Cut(out, "\n")
		switch code {
		case 0:
			Expect(headline).To(Equal("handed: all 2 points are reproduced, 6 trials each  REPRODUCED"))
		case 2: // too much scatter for an answer at one point or both; never another number
			Expect(headline).To(MatchRegexp(`^handed: (reproduced at 1, cannot say at 1|cannot say at 2) of 2 points, .* CANNOT SAY$`))
		default:
			Fail(fmt.Sprintf("exit code %d: %s%s", code, out, errs))
		}
		Expect(out).To(ContainSubstring("Differences"))

		By("comparing the bundle with what was measured here")
		code, out, errs = plugin(ctx, "", "-n", other.Name, "compare", path, "handed")
		GinkgoWriter.Println(out)
		Expect(code).To(Or(Equal(0), Equal(2)), errs)
		Expect(out).To(ContainSubstring("rowsPerCommit"))
	}, SpecTimeout(2*runTime))
})
