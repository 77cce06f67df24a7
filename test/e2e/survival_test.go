//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

var _ = Describe("runs", func() {
	// The layer reliability does the same for longer, with 36 trials in each run.
	It("in four lanes beside Pods of somebody else that come and go on their node: each is Complete with its 12 trials", takesMinutes, func(ctx SpecContext) {
		l := keepLedger(ctx)
		node := workers(ctx)[0]
		others := startChurn(ctx, node, 400)
		var names []string
		for i := range 4 {
			name := fmt.Sprintf("lane%d", i+1)
			names = append(names, name)
			apply(ctx, sixSizes(name, fmt.Sprintf("%s-%d", namespace, i+1), node, 2))
		}
		l.allComplete(ctx, names, 12, 15*time.Minute)
		Expect(others.came(ctx)).To(BeNumerically(">", 20), "Pods that came and went meanwhile")
	}, SpecTimeout(20*time.Minute))

	It("leave their lane when they are deleted, whoever else has a finalizer on them", func(ctx SpecContext) {
		held := strings.Replace(small("held", ""), "{name: held}", "{name: held, finalizers: [e.com/x]}", 1)
		letGo := func(ctx SpecContext) {
			_, _ = command(ctx, "patch", "benchmarkrun/held", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`) // if it is there
		}
		DeferCleanup(letGo)
		applyInLane(ctx, strings.ReplaceAll(held, "rows: 200", "rows: 1000000000"))
		kubectl(ctx, "wait", "--for=create", "--timeout=4m", "job/held-t1-a1")
		kubectl(ctx, "wait", "--for=jsonpath={.status.ready}=1", "--timeout=2m", "job/held-t1-a1")
		applyInLane(ctx, small("next", ""))
		kubectl(ctx, "wait", "--for=condition=Admitted=False", "--timeout=1m", "benchmarkrun/next")

		kubectl(ctx, "delete", "benchmarkrun/held", "--wait=false")
		Eventually(func() string {
			return kubectl(ctx, "get", "pods,jobs,statefulsets,pvc", "-l", v1alpha1.LabelRun+"=held", "-o", "name")
		}).WithContext(ctx).WithTimeout(time.Minute).WithPolling(time.Second).Should(BeEmpty(), "what puts load on nodes")
		complete(ctx, "next")

		By("being there until the finalizer goes")
		Expect(getRun(ctx, "held").DeletionTimestamp).NotTo(BeNil())
		letGo(ctx)
		kubectl(ctx, "wait", "--for=delete", "--timeout=1m", "benchmarkrun/held")
	}, SpecTimeout(runTime))
})
