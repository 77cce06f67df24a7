//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func external(r *v1alpha1.BenchmarkRun) {
	r.Spec.Database = v1alpha1.DatabaseSpec{
		Provisioner: v1alpha1.ProvisionerExternal,
		External:    &v1alpha1.ExternalSpec{Host: "db.example.com", CredentialsSecretName: "mine"},
	}
}

// An external server is measured without anything being made for it but a guard for the loader, and what is not known of it
// is said to be unknown.
func TestEnvtestExternal(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Sweep(1, 2).Repetitions(1).With(external).Obj())
	c.until("run", v1alpha1.ConditionDatabaseReady)
	var guards policyv1.PodDisruptionBudgetList
	var secrets corev1.SecretList
	c.list(&guards)
	c.list(&secrets)
	if len(guards.Items) != 1 || len(secrets.Items) != 0 {
		t.Errorf("%d guards and %d Secrets while measuring, want 1 and 0", len(guards.Items), len(secrets.Items))
	}
	run := c.until("run", v1alpha1.ConditionComplete)
	c.settle("run")
	c.list(&guards)
	if len(guards.Items) != 0 {
		t.Errorf("%d guards are left", len(guards.Items))
	}
	c.nothingRuns()
	e := run.Status.Environment
	for _, fact := range []string{e.DatabaseNode, e.DatabaseImage, e.Kernel, e.CPUModel, e.Filesystem, e.TransparentHugePages} {
		if fact != result.Unknown {
			t.Errorf("environment is %+v", e)
			break
		}
	}
	if e.LoaderNode == "" || e.LoaderNode == result.Unknown || e.ServerVersion == "" || e.FdatasyncMicros != 0 {
		t.Errorf("environment is %+v", e)
	}
}

// A cluster without the MariaDB operator says so, and how to come by it. A manager without rights on that operator's kind asks
// nothing about it, and says who can change that.
func TestEnvtestMariaDBOperatorMissing(t *testing.T) {
	for off, says := range map[bool]string{false: "charts mariadb-operator-crds and mariadb-operator", true: "mariadbOperator.enabled"} {
		c := newCluster(t)
		c.reconciler.NoMariaDBOperator = off
		c.apply(testutil.MakeRun("run", "").With(func(r *v1alpha1.BenchmarkRun) {
			r.Spec.Database.Provisioner = v1alpha1.ProvisionerMariaDBOperator
		}).Obj())
		failed := c.until("run", v1alpha1.ConditionFailed)
		c.settle("run")
		condition := apimeta.FindStatusCondition(failed.Status.Conditions, v1alpha1.ConditionFailed)
		if condition.Reason != v1alpha1.ReasonMariaDBOperatorMissing || !strings.Contains(condition.Message, says) {
			t.Errorf("failed with %s: %s", condition.Reason, condition.Message)
		}
		c.nothingRuns()
	}
}

// The message says what only an event tells, for example that a Secret does not exist.
func TestEnvtestClusterWarnings(t *testing.T) {
	warn := func(c *cluster, about client.Object, kind, reason, message string) {
		now := metav1.NewTime(c.clock.Now())
		c.must(api.Create(t.Context(), &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{GenerateName: "event-", Namespace: c.namespace},
			InvolvedObject: corev1.ObjectReference{Kind: kind, Namespace: c.namespace, Name: about.GetName(), UID: about.GetUID()},
			Type:           corev1.EventTypeWarning, Reason: reason, Message: message, FirstTimestamp: now, LastTimestamp: now,
		}))
	}
	pending := func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }
	for name, test := range map[string]struct {
		prepare      func(*cluster)
		change       func(*v1alpha1.BenchmarkRun)
		about        func(*cluster) (client.Object, string)
		warning      string
		reason, says string
	}{
		"the database's Pod": {
			prepare: func(c *cluster) { c.server = pending },
			about: func(c *cluster) (client.Object, string) {
				var pods corev1.PodList
				c.list(&pods)
				return &pods.Items[0], "Pod"
			},
			warning: `MountVolume.SetUp failed for volume "credentials" : secret "x" not found`,
			reason:  v1alpha1.ReasonDatabaseNotStarted, says: `the database's Pod is starting: MountVolume.SetUp failed for volume "credentials" : secret "x" not found`,
		},
		"a claim of the database": {
			prepare: func(c *cluster) {
				c.server = func(p *corev1.Pod) {
					pending(p)
					p.Status.Conditions = []corev1.PodCondition{{
						Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: `persistentvolumeclaim "run-db1" not found`,
					}}
				}
			},
			about: func(c *cluster) (client.Object, string) {
				var claims corev1.PersistentVolumeClaimList
				c.list(&claims)
				return &claims.Items[0], "PersistentVolumeClaim"
			},
			warning: `failed to provision volume with StorageClass "slow": no room`,
			reason:  v1alpha1.ReasonDatabaseNotStarted,
			says:    `a volume of the database cannot be provisioned: failed to provision volume with StorageClass "slow": no room`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			test.prepare(c)
			run := testutil.MakeRun("run", "")
			if test.change != nil {
				run.With(test.change)
			}
			c.apply(run.Obj())
			for range 6 {
				c.reconcile("run")
				c.react()
			}
			object, kind := test.about(c)
			warn(c, object, kind, "FailedMount", test.warning)
			c.clock.Step(10e9)
			c.reconcile("run")
			ready := apimeta.FindStatusCondition(c.get("run").Status.Conditions, v1alpha1.ConditionReady)
			if !strings.Contains(ready.Message, test.warning) {
				t.Errorf("while it waits it says %q", ready.Message)
			}
			c.clock.Step(300e9)
			failed := c.until("run", v1alpha1.ConditionFailed)
			condition := apimeta.FindStatusCondition(failed.Status.Conditions, v1alpha1.ConditionFailed)
			if condition.Reason != test.reason || !strings.Contains(condition.Message, test.says) {
				t.Errorf("failed with %s: %s", condition.Reason, condition.Message)
			}
		})
	}
}
