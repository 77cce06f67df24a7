//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
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
	must.Same(t, "guards that are left", 0, len(guards.Items))
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
		c.reconciler.MariaDBOperator = !off
		if off {
			c.reconciler.Live.Reader = interceptor.NewClient(api, interceptor.Funcs{
				List: func(ctx context.Context, to client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
					if kind := list.GetObjectKind().GroupVersionKind(); kind == database.MariaDBList().GroupVersionKind() {
						return apierrors.NewForbidden(schema.GroupResource{Resource: kind.Kind}, "", nil)
					}
					return to.List(ctx, list, opts...)
				},
			})
			gone := lifecycle.Holder{Kind: lifecycle.RunKind, Namespace: c.namespace, Name: "gone", UID: "gone"}
			if abandoned, err := c.reconciler.abandoned(t.Context(), gone); !abandoned || err != nil {
				t.Errorf("a run that is gone: abandoned %t, %v", abandoned, err)
			}
		}
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
		prepare       func(*cluster)
		about         func(*cluster) (client.Object, string)
		warning, says string
	}{
		"the database's Pod": {
			prepare: func(c *cluster) { c.server = pending },
			about: func(c *cluster) (client.Object, string) {
				var pods corev1.PodList
				c.list(&pods)
				return &pods.Items[0], "Pod"
			},
			warning: `MountVolume.SetUp failed for volume "credentials" : secret "x" not found`,
			says:    `the database's Pod is starting: MountVolume.SetUp failed for volume "credentials" : secret "x" not found`,
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
			says:    `a volume of the database cannot be provisioned: failed to provision volume with StorageClass "slow": no room`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			test.prepare(c)
			c.apply(testutil.MakeRun("run", "").Obj())
			c.cycle("run", 6)
			object, kind := test.about(c)
			warn(c, object, kind, "FailedMount", test.warning)
			c.clock.Step(10e9)
			c.reconcile("run")
			ready := apimeta.FindStatusCondition(c.get("run").Status.Conditions, v1alpha1.ConditionReady)
			must.Has(t, ready.Message, test.warning)
			c.clock.Step(300e9)
			failed := c.until("run", v1alpha1.ConditionFailed)
			condition := apimeta.FindStatusCondition(failed.Status.Conditions, v1alpha1.ConditionFailed)
			if condition.Reason != v1alpha1.ReasonDatabaseNotStarted || !strings.Contains(condition.Message, test.says) {
				t.Errorf("failed with %s: %s", condition.Reason, condition.Message)
			}
		})
	}
}

// A result that does not leave its Pod whole is no result, whatever of it arrives.
func TestEnvtestResultsThatDoNotArriveWhole(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		log      func([]byte) []byte
		message  func(string) string
		document func(*result.Document)
		says     string
	}{
		"the log is cut":                 {log: func(b []byte) []byte { return b[:len(b)/2] }, says: "DocumentLost"},
		"the termination message is cut": {message: func(m string) string { return m[:len(m)/2] }, says: "Silent"},
		"the result is another Pod's": {
			message: func(m string) string {
				at := strings.Index(m, `"podUID":"`) + len(`"podUID":"`)
				return m[:at] + "another-" + m[at+8:]
			},
			says: "ForeignResult",
		},
		// It is whole, and not what this attempt was asked for.
		"the document is another trial's": {document: func(d *result.Document) { d.Identity.Trial = 2 }, says: "is of trial 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
				document := testutil.Document(pod.UID, 1, 1, 1000)
				document.Config, document.Identity.RunUID = *c.configOf(job), job.Labels[v1alpha1.LabelRunUID]
				if test.document != nil {
					test.document(document)
				}
				c.write(job, pod, document)
				end := pod.Status.ContainerStatuses[0].State.Terminated
				end.FinishedAt = metav1.NewTime(c.clock.Now().Add(-time.Minute))
				if test.log != nil {
					c.logs[pod.Name] = test.log(c.logs[pod.Name])
				}
				if test.message != nil {
					end.Message = test.message(end.Message)
				}
			}
			c.apply(testutil.MakeRun("run", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) {
				r.Spec.Trials.MaxInvalid = ptr.To[int32](0)
			}).Obj())
			failed := c.patiently("run", v1alpha1.ConditionFailed)
			condition := apimeta.FindStatusCondition(failed.Status.Conditions, v1alpha1.ConditionFailed)
			if condition.Reason != v1alpha1.ReasonTooManyInvalid || !strings.Contains(condition.Message, test.says) {
				t.Errorf("failed with %s: %s; want %s", condition.Reason, condition.Message, test.says)
			}
			if failed.Status.Answer.Detail != "" || len(failed.Status.Points) != 0 || *failed.Status.Trials.Measured != 0 {
				t.Errorf("there is a number: %+v", failed.Status)
			}
		})
	}
}

// restoring is a run of two variants of a server, in two rounds, that begin with copies of prepared data.
func restoring() *v1alpha1.BenchmarkRun {
	run := withVariants()
	run.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadSysbench, Sysbench: &v1alpha1.SysbenchWorkload{Script: "tpcc"}}
	run.Spec.Trials.Data = v1alpha1.DataRestore
	return run
}

// copies are the claims of copies.
func (c *cluster) copies() []corev1.PersistentVolumeClaim {
	c.t.Helper()
	var claims corev1.PersistentVolumeClaimList
	c.must(api.List(c.t.Context(), &claims, client.InNamespace(c.namespace),
		client.MatchingLabels{v1alpha1.LabelComponent: v1alpha1.ComponentDataCopy}))
	return claims.Items
}

// All servers of a variant have the same copy, and what counts is measured on those that begin with it: the attempt that makes it is
// invalid, which trials.maxInvalid does not count. The copies are gone at the end.
func TestEnvtestVariantsCopyData(t *testing.T) {
	c := newCluster(t)
	used, uids := map[string]string{}, map[string]types.UID{}
	c.server = func(pod *corev1.Pod) {
		testutil.ReadyDatabasePod(pod)
		for _, volume := range pod.Spec.Volumes {
			if volume.Name == "copy" {
				used[pod.Name] = volume.PersistentVolumeClaim.ClaimName
			}
		}
		for _, claim := range c.copies() {
			if known := uids[claim.Name]; known != "" && known != claim.UID {
				t.Errorf("%s is another one", claim.Name)
			}
			uids[claim.Name] = claim.UID
		}
	}
	c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		doc := c.measured(job, pod)
		for i := range doc.Sides {
			doc.Sides[i].Tool = &result.ToolFacts{Data: result.DataKept}
			if len(c.attemptNames()) == 0 {
				doc.Sides[i].Tool.Data = result.DataPrepared
			}
		}
		c.leave(job, pod, doc)
	}
	run := restoring()
	run.Spec.Trials.MaxInvalid = ptr.To[int32](0)
	c.apply(run)
	c.until("run", v1alpha1.ConditionComplete)
	must.Same(t, "records", []string{"run-t1-a1 Invalidated", "run-t1-a2 Accepted", "run-t2-a1 Accepted"}, c.attemptNames())
	want := map[string]string{
		"run-db1-0": "run-data-durable", "run-db2-0": "run-data-lazy", "run-db3-0": "run-data-durable", "run-db4-0": "run-data-lazy",
		"run-db5-0": "run-data-durable", "run-db6-0": "run-data-lazy",
	}
	must.Same(t, "what the servers use", want, used)
	must.Same(t, "copies that the status names", 2, len(c.get("run").Status.DataCopies))
	c.settle("run")
	if left := c.copies(); len(left) > 0 {
		t.Errorf("%d copies are left", len(left))
	}
}

// A third party's claim under the name of a copy is left alone, and no server begins with what is in it.
func TestEnvtestDataCopyNameTaken(t *testing.T) {
	c := newCluster(t)
	theirs := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "run-data-lazy"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	c.must(api.Create(t.Context(), theirs))
	c.apply(restoring())
	want := "PersistentVolumeClaim run-data-lazy exists and does not belong to this run"
	run := c.until("run", v1alpha1.ConditionFinished)
	if f := apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFailed); f.Reason != v1alpha1.ReasonNameTaken || !strings.HasPrefix(f.Message, want) {
		t.Errorf("it ended with %s: %s", f.Reason, f.Message)
	}
	if err := c.exists(theirs, "run-data-lazy"); err != nil || theirs.DeletionTimestamp != nil {
		t.Errorf("it was touched: %v, %+v", err, theirs.ObjectMeta)
	}
}
