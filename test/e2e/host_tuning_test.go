//go:build faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// swappiness of this machine, whose kernel all nodes share.
func swappiness() string {
	GinkgoHelper()
	text := need(os.ReadFile("/proc/sys/vm/swappiness"))
	return strings.TrimSpace(string(text))
}

// withManagerFlag starts the manager with another flag for the rest of a spec.
func withManagerFlag(ctx context.Context, flag string) {
	GinkgoHelper()
	patch := func(ctx context.Context, op string) {
		kubectl(ctx, "patch", "deployment/benchrun-manager", "-n", "benchrun-system", "--type=json", "-p", op)
		kubectl(ctx, "rollout", "status", "deployment/benchrun-manager", "-n", "benchrun-system", "--timeout=3m")
	}
	args := kubectl(ctx, "get", "deployment/benchrun-manager", "-n", "benchrun-system", "-o",
		"jsonpath={.spec.template.spec.containers[0].args}")
	DeferCleanup(func(ctx SpecContext) {
		patch(ctx, `[{"op": "replace", "path": "/spec/template/spec/containers/0/args", "value": `+args+`}]`)
	}, NodeTimeout(4*time.Minute))
	patch(ctx, `[{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "`+flag+`"}]`)
}

// restoredTo waits until the machine has a value again, and no node counts as tuned.
func restoredTo(ctx context.Context, value string) {
	GinkgoHelper()
	Eventually(func() (string, error) {
		leases, err := commandWith(ctx, "", "get", "leases", "-n", "benchrun-system", "-l", v1alpha1.LabelTunedNode, "-o", "name")
		return swappiness() + leases, err
	}).WithContext(ctx).WithTimeout(2 * time.Minute).Should(Equal(value))
}

var _ = It("tunes the database's node where that is allowed, and restores it, also if the run is deleted", Serial, func(ctx SpecContext) {
	before, requested := swappiness(), "59"
	if before == requested {
		requested = "58"
	}
	tuning := "    hostTuning: {swappiness: " + requested + "}"
	apply(ctx, small("refused", tuning))
	Expect(failure(finished(ctx, "refused"))).To(HavePrefix("HostTuningNotAllowed: database.hostTuning changes kernel settings of a node"))

	withManagerFlag(ctx, "--host-tuning-namespaces="+namespace)
	apply(ctx, small("tuned", tuning))
	run := complete(ctx, "tuned")
	Expect(run.Status.Environment.Swappiness).To(Equal(requested))
	Expect(run.Status.HostTuning).To(Equal([]v1alpha1.HostTuningStatus{{
		Node: run.Status.Environment.DatabaseNode, Before: v1alpha1.HostSettings{Swappiness: before},
		After: v1alpha1.HostSettings{Swappiness: requested}, Restored: ptr.To(true),
	}}))
	restoredTo(ctx, before)

	apply(ctx, strings.ReplaceAll(small("deleted", tuning), "rows: 200", "rows: 1000000000"))
	kubectl(ctx, "wait", "--for=create", "--timeout=4m", "job/deleted-t1-a1")
	Expect(swappiness()).To(Equal(requested))
	kubectl(ctx, "delete", "benchmarkrun/deleted", "--wait=false")
	restoredTo(ctx, before)
}, SpecTimeout(runTime))
