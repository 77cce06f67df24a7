//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// copying is a comparison s of two variants of a server, in two rounds, that begin with copies of prepared data.
type copying struct {
	*inLane
	// used are, by StatefulSet, the claim of the copy and the Secret with the password; claims are the copies that were seen.
	used   map[string][]string
	claims map[string]*corev1.PersistentVolumeClaim
}

func newCopying(t *testing.T) *copying {
	t.Helper()
	c := &copying{newInLane(t), map[string][]string{}, map[string]*corev1.PersistentVolumeClaim{}}
	c.before = c.look
	c.comparison("s", 2, func(comparison *v1alpha1.BenchmarkComparison) {
		run := &comparison.Spec.Template.Spec
		run.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadSysbench, Sysbench: &v1alpha1.SysbenchWorkload{Script: "tpcc"}}
		run.Trials.Data = v1alpha1.DataRestore
		comparison.Spec.Variants[1].Database = &v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{FlushLogAtTrxCommit: ptr.To[int32](0)}}
	})
	return c
}

// look at what is there.
func (c *copying) look() {
	var there appsv1.StatefulSetList
	c.list(&there)
	for _, set := range there.Items {
		var names []string
		for _, volume := range set.Spec.Template.Spec.Volumes {
			switch volume.Name {
			case "copy":
				names = append(names, volume.PersistentVolumeClaim.ClaimName)
			case "credentials":
				names = append(names, volume.Secret.SecretName)
			}
		}
		c.used[set.Name] = names
	}
	for _, claim := range c.copies() {
		c.claims[claim.Name] = &claim
	}
}

// copies are the claims of copies.
func (c *copying) copies() []corev1.PersistentVolumeClaim {
	c.t.Helper()
	var claims corev1.PersistentVolumeClaimList
	c.must(api.List(c.t.Context(), &claims, client.InNamespace(c.namespace),
		client.MatchingLabels{v1alpha1.LabelComponent: v1alpha1.ComponentDataCopy}))
	return claims.Items
}

// All servers of a variant have the same copy and the same password. The copies are the comparison's, and gone at its end.
func TestEnvtestComparisonCopiesData(t *testing.T) {
	c := newCopying(t)
	c.until("s", v1alpha1.ConditionFinished, "s")
	secret := "s-" + string(c.getComparison().UID)[:8]
	want := map[string][]string{
		"s-r1-a-db1": {secret, "s-data-a"}, "s-r2-a-db1": {secret, "s-data-a"},
		"s-r1-b-db1": {secret, "s-data-b"}, "s-r2-b-db1": {secret, "s-data-b"},
	}
	if diff := cmp.Diff(want, c.used); diff != "" {
		t.Errorf("what the servers use (-want +got):\n%s", diff)
	}
	uids := sets.New[string]()
	for name, claim := range c.claims {
		uids.Insert(string(claim.UID))
		if !metav1.IsControlledBy(claim, c.getComparison()) {
			t.Errorf("%s has the owners %v", name, claim.OwnerReferences)
		}
	}
	if len(c.claims) != 2 || len(uids) != 2 {
		t.Errorf("%d copies were there, under the names %v", len(uids), sets.KeySet(c.claims))
	}
	for range 3 {
		c.turn("s")
	}
	if left := c.copies(); len(left) > 0 {
		t.Errorf("%d copies are left", len(left))
	}
	c.nothingRuns()
}

// A claim of somebody else's under the name of a copy is left alone, and nobody's server begins with what is in it.
func TestEnvtestDataCopyNameTaken(t *testing.T) {
	c := newCopying(t)
	theirs := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "s-data-a"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	c.must(api.Create(t.Context(), theirs))
	c.until("s", v1alpha1.ConditionFinished, "s")
	want := "NameTaken: PersistentVolumeClaim s-data-a exists and does not belong to this comparison"
	if got := reasonOfEnd(c.getComparison()); !strings.HasPrefix(got, "MemberFailed: ") || !strings.Contains(got, want) {
		t.Errorf("it ended %s", got)
	}
	if err := c.exists(theirs, "s-data-a"); err != nil || theirs.DeletionTimestamp != nil {
		t.Errorf("it was touched: %v, %+v", err, theirs.ObjectMeta)
	}
}
