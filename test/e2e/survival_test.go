//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
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
})
