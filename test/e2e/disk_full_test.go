//go:build faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("a disk that is full", func() {
	It("ends the run with the server's error", func(ctx SpecContext) {
		apply(ctx, tooMuch("full", "InnoDB", 300))
		Expect(failure(finished(ctx, "full"))).To(MatchRegexp(
			`^LoaderFailed: trial 1: inserting rows \d+ to \d+: Error 1114 \(HY000\): The table 'inserts' is full`))
	}, SpecTimeout(runTime))

	// A server waits for room in a table of MyISAM, and asks again every minute: it never says no.
	It("that the server waits for ends the run at its deadline", func(ctx SpecContext) {
		apply(ctx, tooMuch("waits", "MyISAM", 60))
		kubectl(ctx, "wait", "--for=create", "--timeout=4m", "pod/waits-db1-0")
		Eventually(func() (string, error) {
			return command(ctx, "logs", "waits-db1-0", "-c", "server")
		}).WithContext(ctx).WithTimeout(3 * time.Minute).WithPolling(time.Second).Should(ContainSubstring("Disk is full"))
		Expect(failure(finished(ctx, "waits"))).To(And(
			HavePrefix("DeadlineExceeded: trial 1: the attempt took longer than trials.deadlineSeconds allows (60 s): the loader was told to stop"),
			MatchRegexp(`in phase measure, \d+ rows`)))
		Eventually(func() []string { return running(ctx) }).WithContext(ctx).WithTimeout(time.Minute).WithPolling(time.Second).Should(BeEmpty())
	}, SpecTimeout(runTime))
})
