// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Streams of a suite's random numbers: its order must not change when more seeds are drawn, nor the other way round.
const (
	suiteOrderStream = 0x7375697465   // "suite"
	roundSeedStream  = 0x726f756e6473 // "rounds"
)

// seedBits is the size of a seed: the largest is 2^53-1, which JSON can hold everywhere.
const seedBits = 53

// Member is one run of a suite: a variant in a round.
type Member struct {
	// Round counts from 1.
	Round int
	// Variant is an index into the suite's variants.
	Variant int
	// Seed of the run: the same for all members of a round, so that they load the same data.
	Seed int64
}

// ForSuite lists the members of a suite in the order of measuring, for the most rounds that it may have: an early stop leaves
// out the end. Rounds come in pairs. The first visits the variants in an order that is drawn from the seed, the second in the
// opposite order, so that a steady drift adds the same to every variant. (See order.go for how numbers are drawn.)
func ForSuite(spec *v1alpha1.BenchmarkSuiteSpec) []Member {
	seed := uint64(ptr.Deref(spec.Seed, v1alpha1.DefaultSeed)) //nolint:gosec // a seed is not negative
	orders, seeds := rand.NewPCG(seed, suiteOrderStream), rand.NewPCG(seed, roundSeedStream)
	variants := make([]int, len(spec.Variants))
	var members []Member
	for round := 1; round <= int(spec.MaxRounds); round++ {
		if round%2 == 1 {
			for i := range variants {
				variants[i] = i
			}
			shuffle(orders, variants)
		} else {
			slices.Reverse(variants)
		}
		of := int64(seeds.Uint64() >> (64 - seedBits))
		for _, v := range variants {
			members = append(members, Member{Round: round, Variant: v, Seed: of})
		}
	}
	return members
}

// Baseline is the index of the variant that the others are compared with.
func Baseline(spec *v1alpha1.BenchmarkSuiteSpec) int {
	return max(0, slices.IndexFunc(spec.Variants, func(v v1alpha1.Variant) bool { return v.Name == spec.Baseline }))
}

// MemberName is the name of a member's run.
func MemberName(suite *v1alpha1.BenchmarkSuite, m Member) string {
	return fmt.Sprintf("%s-r%d-%s", suite.Name, m.Round, suite.Spec.Variants[m.Variant].Name)
}

// SuiteKind is the kind of suites.
const SuiteKind = "BenchmarkSuite"

// SuiteOf is the name and the UID of the suite that controls a run; both are empty if none does.
func SuiteOf(run *v1alpha1.BenchmarkRun) (name, uid string) {
	for _, o := range run.OwnerReferences {
		ours := strings.HasPrefix(o.APIVersion, v1alpha1.GroupVersion.Group+"/")
		if ours && o.Kind == SuiteKind && ptr.Deref(o.Controller, false) {
			return o.Name, string(o.UID)
		}
	}
	return "", ""
}

// SuiteResultsName is the name of the ConfigMap of a finished suite.
func SuiteResultsName(suite *v1alpha1.BenchmarkSuite) string { return suite.Name + "-results" }

// SuiteLabels are on the runs and on the results of a suite.
func SuiteLabels(suite *v1alpha1.BenchmarkSuite) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":       "benchrun",
		"app.kubernetes.io/managed-by": "benchrun",
		v1alpha1.LabelSuite:            suite.Name,
		v1alpha1.LabelSuiteUID:         string(suite.UID),
	}
}

// MemberRun is the run of a member: the template with the variant laid over it, measured once.
func MemberRun(suite *v1alpha1.BenchmarkSuite, m Member) *v1alpha1.BenchmarkRun {
	variant := suite.Spec.Variants[m.Variant].DeepCopy()
	run := &v1alpha1.BenchmarkRun{Spec: *suite.Spec.Template.Spec.DeepCopy()}
	run.Namespace, run.Name, run.Labels = suite.Namespace, MemberName(suite, m), SuiteLabels(suite)
	run.Labels[v1alpha1.LabelRound], run.Labels[v1alpha1.LabelVariant] = strconv.Itoa(m.Round), variant.Name
	maps.Copy(run.Labels, QueueLabels(suite.Labels))
	if variant.Database != nil {
		overlay(&run.Spec.Database, variant.Database)
	}
	if variant.Workload != nil {
		overlay(&run.Spec.Workload, variant.Workload)
	}
	run.Spec.Trials.Repetitions, run.Spec.Trials.Precision = ptr.To[int32](1), nil
	run.Spec.Seed, run.Spec.Suspend, run.Spec.TTLSecondsAfterFinished = ptr.To(m.Seed), nil, nil
	return run
}
