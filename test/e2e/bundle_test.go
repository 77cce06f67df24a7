//go:build e2e

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
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
			Expect(headline).To(Equal("# handed: all 2 points are reproduced"))
		case 2: // too much scatter for an answer at one point or both; never another number
			Expect(headline).To(Or(Equal("# handed: reproduced at 1, cannot say at 1 of 2 points"), Equal("# handed: cannot say at 2 of 2 points")))
		default:
			Fail(fmt.Sprintf("exit code %d: %s%s", code, out, errs))
		}
		Expect(out).To(ContainSubstring("What differs between there and here"))

		By("comparing the bundle with what was measured here")
		code, out, errs = plugin(ctx, "", "-n", other.Name, "compare", path, "handed")
		GinkgoWriter.Println(out)
		Expect(code).To(Or(Equal(0), Equal(2)), errs)
		Expect(out).To(ContainSubstring("rowsPerCommit"))
	}, SpecTimeout(2*runTime))

	It("is refused if a byte of it was changed", func(ctx SpecContext) {
		apply(ctx, small("handed", ""))
		complete(ctx, "handed")
		path := filepath.Join(GinkgoT().TempDir(), "handed.tgz")
		code, _, errs := plugin(ctx, "", "export", "handed", "-o", path)
		Expect(code).To(Equal(0), errs)
		text, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		text[len(text)/2] ^= 1
		Expect(os.WriteFile(path, text, 0o600)).To(Succeed())
		code, _, errs = plugin(ctx, "", "reproduce", path)
		Expect(code).To(Equal(3))
		Expect(errs).To(ContainSubstring(path + ": this is not a complete, unchanged bundle"))
	}, SpecTimeout(runTime))
})
