//go:build e2e || faults || samples || reliability

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// apply a manifest. A run that names no lane gets one of its own: it must not wait for other runs of its spec, or for what the
// spec before has left. A comparison gets the lane of its spec.
func apply(ctx context.Context, manifest string) {
	GinkgoHelper()
	applyText(ctx, prepared(manifest, func(name string) string { return namespace + "-" + name }))
}

// applyInLane applies a manifest, all of it in the lane of its spec unless it names another one.
func applyInLane(ctx context.Context, manifest string) {
	GinkgoHelper()
	applyText(ctx, inLane(manifest))
}

// inLane is a manifest as applyInLane applies it.
func inLane(manifest string) string {
	GinkgoHelper()
	return prepared(manifest, func(string) string { return namespace })
}

func applyText(ctx context.Context, manifest string) {
	GinkgoHelper()
	out, err := commandWith(ctx, manifest, "apply", "-f", "-")
	Expect(err).NotTo(HaveOccurred(), out)
}

// prepared is a manifest whose runs name a lane, by their name, and leave room for other specs.
func prepared(manifest string, laneOf func(name string) string) string {
	GinkgoHelper()
	documents := strings.Split(manifest, "\n---\n")
	for i, document := range documents {
		var o unstructured.Unstructured
		Expect(yaml.Unmarshal([]byte(document), &o.Object)).To(Succeed())
		if o.GetKind() != "BenchmarkRun" {
			continue
		}
		spec, found, err := unstructured.NestedMap(o.Object, "spec")
		Expect(err).NotTo(HaveOccurred())
		Expect(found).To(BeTrue(), document)
		setUnlessFound(spec, strings.TrimRight(fmt.Sprintf("%.40s", laneOf(o.GetName())), "-"), "lane")
		leaveRoom(spec)
		Expect(unstructured.SetNestedMap(o.Object, spec, "spec")).To(Succeed())
		text := need(yaml.Marshal(o.Object))
		documents[i] = string(text)
	}
	return strings.Join(documents, "\n---\n")
}

// leaveRoom lets a run that says nothing of its resources share nodes of two CPUs with the run of a spec beside its own. By
// default a server and its loader claim a CPU each, so that the second run's server would take the place of the first run's next
// loader. A Serial spec runs alone, and keeps the defaults.
func leaveRoom(spec map[string]any) {
	if comparison, _ := GinkgoConfiguration(); comparison.ParallelTotal == 1 || CurrentSpecReport().IsSerial {
		return
	}
	if provisioner, _, _ := unstructured.NestedString(spec, "database", "provisioner"); provisioner != "External" {
		setUnlessFound(spec, claim("200m", "1200Mi"), "database", "resources")
	}
	setUnlessFound(spec, claim("100m", "256Mi"), "loader", "resources")
}

// claim is a request of that much CPU, with a limit of one CPU, and of memory with the same limit.
func claim(cpu, memory string) map[string]any {
	return map[string]any{
		"requests": map[string]any{"cpu": cpu}, "limits": map[string]any{"cpu": "1", "memory": memory},
	}
}

func setUnlessFound(o map[string]any, value any, path ...string) {
	GinkgoHelper()
	_, found, err := unstructured.NestedFieldNoCopy(o, path...)
	Expect(err).NotTo(HaveOccurred())
	if !found {
		Expect(unstructured.SetNestedField(o, value, path...)).To(Succeed())
	}
}
