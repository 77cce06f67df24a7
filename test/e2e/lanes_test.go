//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

var _ = It("measures the runs of a lane one after the other, also if the first is deleted", func(ctx SpecContext) {
	applyInLane(ctx, strings.ReplaceAll(small("first", ""), "rows: 200", "rows: 1000000000"))
	kubectl(ctx, "wait", "--for=condition=Admitted", "--timeout=1m", "benchmarkrun/first")
	applyInLane(ctx, small("second", ""))
	kubectl(ctx, "wait", "--for=condition=Admitted=False", "--timeout=1m", "benchmarkrun/second")
	Expect(kubectl(ctx, "get", "benchmarkrun/second")).To(ContainSubstring("Queued"))
	Expect(kubectl(ctx, "get", "benchmarkrun/second", "-o", `jsonpath={.status.conditions[?(@.type=="Admitted")].message}`)).To(Equal(
		"waiting for run " + namespace + "/first, which holds lane " + namespace + "; next in the queue"))
	kubectl(ctx, "wait", "--for=create", "--timeout=4m", "job/first-t1-a1")
	Expect(kubectl(ctx, "get", "all,secrets,configmaps,pvc", "-l", v1alpha1.LabelRun+"=second", "-o", "name")).To(BeEmpty())
	kubectl(ctx, "delete", "benchmarkrun/first", "--wait=false")
	kubectl(ctx, "wait", "--for=condition=Admitted", "--timeout=2m", "benchmarkrun/second")
	// A Pod whose containers have ended may still be listed.
	Expect(kubectl(ctx, "get", "pods", "-l", v1alpha1.LabelRun+"=first", "--field-selector", "status.phase!=Succeeded,status.phase!=Failed",
		"-o", "name")).To(BeEmpty())
	complete(ctx, "second")
	Eventually(func() (string, error) {
		return commandWith(ctx, "", "get", "leases", "-n", "benchrun-system", "-l", v1alpha1.LabelLane+"="+namespace, "-o", "name")
	}).WithContext(ctx).WithTimeout(time.Minute).WithPolling(time.Second).Should(BeEmpty())
}, SpecTimeout(runTime))
