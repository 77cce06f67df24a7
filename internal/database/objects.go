// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// Images are the container images that the operator itself brings.
type Images struct {
	// Loader is the image of the loader, which also is the probe.
	Loader string
	// Sysbench is the image of the loader that has sysbench too.
	Sysbench string
}

// Object is any Kubernetes object.
type Object interface {
	metav1.Object
	runtime.Object
}

// Objects are the objects of a database instance, in the order of creation; all but the credentials, which need a
// password. A node that is not empty binds the instance to it.
func Objects(run *v1alpha1.BenchmarkRun, instance int, node string, images Images) []Object {
	return []Object{
		configMap(run, instance),
		service(run, instance),
		statefulSet(run, instance, node, images),
	}
}

// Secret is the run's credentials: one for all of its instances. It is created once and never read by the operator.
func Secret(run *v1alpha1.BenchmarkRun, password string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: plan.SecretName(run), Namespace: run.Namespace,
			Labels: plan.Labels(run, v1alpha1.ComponentDatabase),
		},
		Immutable: ptr.To(true),
		StringData: map[string]string{
			podutil.UserKey:     "root",
			podutil.PasswordKey: password,
		},
	}
}

func configMap(run *v1alpha1.BenchmarkRun, instance int) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: objectMeta(run, instance),
		Immutable:  ptr.To(true),
		Data:       map[string]string{configKey: MyCnf(&run.Spec.Database)},
	}
}

// service gives the instance a name. It is headless, so that no packet takes the way through a proxy's address
// translation.
func service(run *v1alpha1.BenchmarkRun, instance int) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: objectMeta(run, instance),
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone,
			Selector:  selector(run, instance),
			Ports:     []corev1.ServicePort{{Name: "mysql", Port: plan.DatabasePort}},
		},
	}
}

func objectMeta(run *v1alpha1.BenchmarkRun, instance int) metav1.ObjectMeta {
	labels := plan.Labels(run, v1alpha1.ComponentDatabase)
	labels[v1alpha1.LabelInstance] = strconv.Itoa(instance)
	return metav1.ObjectMeta{
		Name: plan.InstanceName(run, instance), Namespace: run.Namespace, Labels: labels,
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
func MyCnf(db *v1alpha1.DatabaseSpec) string {
	var b strings.Builder
	b.WriteString("# Made by Benchrun from spec.database of the run.\n[mariadbd]\n")
	for _, s := range plan.Settings(db) {
		b.WriteString(s.Line + "\n")
	}
	return b.String()
}
