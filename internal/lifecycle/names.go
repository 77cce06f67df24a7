// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// taken is that somebody else's object has a name that is needed, or nil. The noun is what messages call the owner.
func (h *Blockers) taken(noun string, needed func(name string) bool) *Failure {
	i := slices.IndexFunc(h.Strangers, needed)
	if i < 0 {
		return nil
	}
	return &Failure{
		Reason: v1alpha1.ReasonNameTaken,
		Message: fmt.Sprintf("%s does not belong to this %[2]s, or was kept from an earlier %[2]s of this name: "+
			"delete it, or use another name for the %[2]s", h.Strangers[i], noun),
	}
}

// needs says whether a run needs an object's name next: for an attempt, for the instance that this measures, or for its results.
func (s *situation) needs(name string) bool {
	if name == plan.ResultsName(s.run) && s.seen.Results == nil {
		return true
	}
	if s.next == nil {
		return false
	}
	return name == plan.AttemptName(s.run, s.next.Number, s.attempt) ||
		ofInstance(name, plan.InstanceName(s.run, s.wantedInstance()))
}

// ofInstance says whether a name is that of a database instance, or of a Pod or a claim of it.
func ofInstance(name, instance string) bool {
	for _, prefix := range []string{"data-", "storage-"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return name == instance || strings.HasPrefix(name, instance+"-")
}

// needs says whether a comparison needs an object's name: for one of its runs, for the database that they share, or for its
// results.
func (s *comparisonSituation) needs(name string) bool {
	if name == plan.ComparisonResultsName(s.comparison) && s.seen.Results == nil {
		return true
	}
	if s.plan.SharesDatabase && ofInstance(name, plan.NameOfInstance(s.comparison.Name, int(ptr.Deref(s.lastInstance(), 0))+1)) {
		return true
	}
	return slices.ContainsFunc(s.plan.Members, func(m plan.Member) bool { return plan.MemberName(s.comparison, m) == name })
}
