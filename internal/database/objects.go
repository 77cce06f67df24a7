// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package database makes the objects of a database instance, and says of observed ones whether the server is up, or why not.
//
// A fresh database is a new instance: another StatefulSet with another volume and the next number. Instances are never
// changed and never used again after they were removed, so that no trial meets data of which the plan knows nothing. The
// objects are created once; what converges elsewhere has nothing to converge to here.
package database

import (
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// Object is any Kubernetes object.
type Object interface {
	metav1.Object
	runtime.Object
}

// Objects are the objects of a database instance, in the order of creation; all but the credentials, which need a
// password. A node that is not empty binds the instance to it.
func Objects(whole *v1alpha1.BenchmarkRun, instance int, node string, images podutil.Images) ([]Object, error) {
	run := plan.Side(whole, plan.VariantOf(whole, instance), 1)
	e, err := plan.EngineOf(&run.Spec.Database)
	if err != nil {
		return nil, err
	}
	switch run.Spec.Database.Provisioner {
	case v1alpha1.ProvisionerExternal:
		return []Object{guard(run, instance)}, nil
	case v1alpha1.ProvisionerMariaDBOperator:
		server, err := mariaDB(e, run, instance, node, images)
		if err != nil {
			return nil, fmt.Errorf("making the MariaDB resource: %w", err)
		}
		return []Object{guard(run, instance), server}, nil
	default:
		objects := []Object{configMap(e, run, instance), service(e, run, instance), guard(run, instance)}
		volume := storage(&run.Spec.Database)
		if volume.Medium == v1alpha1.MediumVolume {
			objects = append(objects, claimOf(objectMeta(run, instance), volume.Size, volume.StorageClassName))
		}
		if plan.UsesSocket(run) {
			socket := objectMeta(run, instance)
			socket.Name = plan.SocketClaim(run, instance)
			objects = append(objects, claimOf(socket, socketSize, volume.StorageClassName))
		}
		return append(objects, statefulSet(e, run, instance, node, plan.DataCopyName(whole, instance), images)), nil
	}
}

// Implied are objects that others will make of those of an instance, by name and kind only: what stands there already would be
// used or changed.
func Implied(run *v1alpha1.BenchmarkRun, instance int) []Object {
	name := plan.InstanceName(run, instance)
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: run.Namespace, Name: name} }
	pod := &corev1.Pod{ObjectMeta: meta(name + "-0")}
	switch run.Spec.Database.Provisioner {
	case v1alpha1.ProvisionerExternal:
		return nil
	case v1alpha1.ProvisionerStatefulSet:
		return []Object{pod}
	default:
		return []Object{
			pod,
			&appsv1.StatefulSet{ObjectMeta: meta(name)},
			&corev1.Service{ObjectMeta: meta(name)},
			&corev1.Service{ObjectMeta: meta(name + "-internal")},
			&corev1.PersistentVolumeClaim{ObjectMeta: meta("storage-" + name + "-0")},
		}
	}
}

// NeedsSecret says whether Benchrun makes the credentials of a run's database.
func NeedsSecret(run *v1alpha1.BenchmarkRun) bool {
	return run.Spec.Database.Provisioner != v1alpha1.ProvisionerExternal
}

// guard keeps a client that asks first, as a drain of a node does, from evicting what measures or is measured: as many Pods
// must be available as there can be. Only a number of available Pods may be asked of Pods of several owners.
func guard(run *v1alpha1.BenchmarkRun, instance int) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: objectMeta(run, instance),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: ptr.To(intstr.FromInt32(1 + run.Spec.Loader.Pods)),
			Selector:     &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelRunUID: string(run.UID)}},
		},
	}
}

// Guarding is what of the objects of an instance is made if so many servers of other variants are up with it: one of them, the
// first, has a guard, and that is of all.
func Guarding(objects []Object, first bool, beside int) []Object {
	return slices.DeleteFunc(objects, func(object Object) bool {
		budget, is := object.(*policyv1.PodDisruptionBudget)
		if is && first {
			budget.Spec.MinAvailable.IntVal += int32(beside) //nolint:gosec // at most 15
		}
		return is && !first && beside > 0
	})
}

// Secret is the credentials of a database: one for all of its instances. It is created once and never read by the operator.
func Secret(run *v1alpha1.BenchmarkRun, password string) *corev1.Secret {
	user := engine.MariaDB.Image.Superuser
	if e, err := plan.EngineOf(&run.Spec.Database); err == nil {
		user = e.Image.Superuser
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: plan.SecretName(run), Namespace: run.Namespace, Labels: plan.Labels(run, v1alpha1.ComponentDatabase),
		},
		Immutable:  ptr.To(true),
		StringData: map[string]string{podutil.UserKey: user, podutil.PasswordKey: password},
	}
}

func configMap(e *engine.Engine, run *v1alpha1.BenchmarkRun, instance int) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: objectMeta(run, instance),
		Immutable:  ptr.To(true),
		Data:       map[string]string{configKey: MyCnf(e, &run.Spec.Database)},
	}
}

// service gives the instance a name. It is headless, so that no packet takes the way through a proxy's address
// translation. The name stands for the Pod whether it is ready or not: that is asked of the server's container, and the
// observer's must not matter.
func service(e *engine.Engine, run *v1alpha1.BenchmarkRun, instance int) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: objectMeta(run, instance),
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone,
			Selector:  selector(run, instance),
			Ports:     []corev1.ServicePort{{Name: e.Image.PortName, Port: e.Image.Port}},

			PublishNotReadyAddresses: true,
		},
	}
}

func objectMeta(run *v1alpha1.BenchmarkRun, instance int) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: plan.InstanceName(run, instance), Namespace: run.Namespace, Labels: plan.InstanceLabels(run, instance),
	}
}

func selector(run *v1alpha1.BenchmarkRun, instance int) map[string]string {
	return map[string]string{
		v1alpha1.LabelRunUID:    string(run.UID),
		v1alpha1.LabelComponent: v1alpha1.ComponentDatabase,
		v1alpha1.LabelInstance:  strconv.Itoa(instance),
	}
}

// MyCnf is the server's option file: everything that the specification asks for and nothing else, sorted.
func MyCnf(e *engine.Engine, db *v1alpha1.DatabaseSpec) string {
	return e.Options.File(plan.Settings(e, db))
}

// NetworkPolicy lets only the Pods of the run connect to the server of an instance and to its observer. nil if Benchrun does not
// make the server's Pod itself: the MariaDB operator connects to that.
func NetworkPolicy(run *v1alpha1.BenchmarkRun, instance int) *networkingv1.NetworkPolicy {
	if run.Spec.Database.Provisioner != v1alpha1.ProvisionerStatefulSet {
		return nil
	}
	peers := map[string]string{v1alpha1.LabelRunUID: string(run.UID)}
	return &networkingv1.NetworkPolicy{
		ObjectMeta: objectMeta(run, instance),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: selector(run, instance)},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress: []networkingv1.NetworkPolicyIngressRule{{
				From: []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{MatchLabels: peers}}},
			}},
		},
	}
}

// Images are the full names of the images of servers that a run does not name, by their engines.
func Images(installation podutil.Images) map[string]string {
	images := map[string]string{}
	for _, e := range engine.All() {
		images[e.Name] = installation.Server("", e.Name, e.Image.Default)
	}
	return images
}

// storage defaults what is unset here, not in the API server, because an external server has none.
func storage(db *v1alpha1.DatabaseSpec) v1alpha1.StorageSpec {
	s := db.Storage
	if s.Medium == "" {
		s.Medium = v1alpha1.MediumVolume
	}
	if s.Size.IsZero() {
		s.Size = resource.MustParse(v1alpha1.DefaultStorageSize)
	}
	return s
}

// resources of the server: those of computeResources and, with data on the node's disk, as much of it as the data may take, so
// that a node without that room is not chosen.
func resources(db *v1alpha1.DatabaseSpec, beside int64) corev1.ResourceRequirements {
	r, requested := computeResources(db, beside), storage(db)
	if _, own := r.Requests[corev1.ResourceEphemeralStorage]; own || requested.Medium != v1alpha1.MediumNodeDisk {
		return r
	}
	if r.Requests == nil {
		r.Requests = corev1.ResourceList{}
	}
	r.Requests[corev1.ResourceEphemeralStorage] = requested.Size.DeepCopy()
	return r
}

// computeResources are CPU and memory: those of the specification, with missing requests equal to limits. Unset: one CPU, and
// memory for 1.25 times the buffer pool plus the memory that the engine takes beside it, and for a data directory in memory.
func computeResources(db *v1alpha1.DatabaseSpec, beside int64) corev1.ResourceRequirements {
	if db.Resources.Limits != nil || db.Resources.Requests != nil {
		return podutil.Guaranteed(db.Resources)
	}
	pool := int64(128 << 20) // by default
	if db.Settings.BufferPoolSize != nil {
		pool = db.Settings.BufferPoolSize.Value()
	}
	memory := pool + pool/4 + beside
	if requested := storage(db); requested.Medium == v1alpha1.MediumMemory {
		memory += requested.Size.Value()
	}
	return podutil.Guaranteed(corev1.ResourceRequirements{Limits: corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(plan.DefaultCPUMillis, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
	}})
}

func affinity(db *v1alpha1.DatabaseSpec) *corev1.Affinity {
	if db.NodeAffinity == nil {
		return nil
	}
	return &corev1.Affinity{NodeAffinity: db.NodeAffinity}
}
