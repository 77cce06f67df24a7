// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// mariaDBKind is the MariaDB operator's kind of a server. Its Go types would bring in three times as many modules as
// Benchrun has; what is used of them here is the same in its releases from 25.10.4 on.
var mariaDBKind = schema.GroupVersionKind{Group: "k8s.mariadb.com", Version: "v1alpha1", Kind: "MariaDB"}

// InstallMariaDBOperator is how to come by that kind.
const InstallMariaDBOperator = "the MariaDB operator (kind MariaDB of k8s.mariadb.com/v1alpha1) is not installed here. " +
	"Install its Helm charts mariadb-operator-crds and mariadb-operator (https://github.com/mariadb-operator/mariadb-operator), " +
	"or use provisioner StatefulSet, which needs nothing"

// Names that the MariaDB operator gives.
const (
	mariaDBContainer = "mariadb"
	mariaDBReadyType = "Ready"
	// mariaDBRunning is the reason of a Ready condition that is true because the server runs as it should.
	mariaDBRunning = "StatefulSetReady"
)

const (
	// never is the period, in seconds, of a probe that a Pod must have and a measurement cannot use: 30 days.
	never = 30 * 24 * 3600
	// seldom is that of the readiness probe. A kubelet that is younger than a period waits for a random part of it before it
	// asks for the first time, and the server is not ready until then.
	seldom = 30
)

// MariaDBList is an empty list of the MariaDB operator's resources.
func MariaDBList() *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(mariaDBKind.GroupVersion().WithKind(mariaDBKind.Kind + "List"))
	return list
}

// mariaDB is the resource of an instance. Children inherit its labels, by which their Pod is found. Once the server answers
// nothing asks it anything.
func mariaDB(
	e *engine.Engine, run *v1alpha1.BenchmarkRun, instance int, node string, images podutil.Images,
) (*unstructured.Unstructured, error) {
	db := &run.Spec.Database
	meta := objectMeta(run, instance)
	spec := map[string]any{
		"image":           images.Server(db.Image, e.Name, e.Image.Default),
		"imagePullPolicy": corev1.PullIfNotPresent,
		"replicas":        int64(1),
		"port":            int64(e.Image.Port),
		"inheritMetadata": map[string]any{"labels": ownLabels(meta.Labels)},
		"rootPasswordSecretKeyRef": map[string]any{
			"name": plan.SecretName(run), "key": podutil.PasswordKey, "generate": false,
		},
		"myCnf":              MyCnf(e, db),
		"storage":            mariaDBStorage(db, ownLabels(meta.Labels)),
		"tls":                map[string]any{"enabled": db.TLS.Mode != "" && db.TLS.Mode != v1alpha1.TLSDisabled, "required": false},
		"updateStrategy":     map[string]any{"type": "Never"},
		"resources":          resources(db, e.Image.Memory),
		"tolerations":        podutil.Tolerations(db.Tolerations),
		"podSecurityContext": podSecurity(e),
		"securityContext":    podutil.RestrictedContainer(),
		"startupProbe":       quietProbe(e, 1, run.Spec.Trials.StartDeadlineSeconds),
		"readinessProbe":     quietProbe(e, seldom, tolerant),
		"livenessProbe":      quietProbe(e, never, tolerant),
		// Unset and given as a file: the operator would put the password itself into the environment.
		"env": []any{
			map[string]any{"name": "MARIADB_ROOT_PASSWORD"},
			map[string]any{"name": e.Image.RootPasswordFile, "value": podutil.CredentialPath + "/" + podutil.PasswordKey},
		},
		"volumes": []any{
			map[string]any{"name": "credentials", "secret": map[string]any{"secretName": plan.SecretName(run)}},
			map[string]any{"name": "run", "emptyDir": map[string]any{}},
			map[string]any{"name": "tmp", "emptyDir": map[string]any{}},
		},
		"volumeMounts": []any{
			map[string]any{"name": "credentials", "mountPath": podutil.CredentialPath, "readOnly": true},
			map[string]any{"name": "run", "mountPath": e.Image.RunPath},
			map[string]any{"name": "tmp", "mountPath": "/tmp"},
		},
		"initContainers": []any{map[string]any{
			"name": ProbeContainer, "image": images.Name(images.Loader), "imagePullPolicy": corev1.PullIfNotPresent,
			"args": []string{"probe", "--data=" + e.Image.DataPath}, "resources": resources(db, e.Image.Memory),
		}},
	}
	if bound := podutil.BindToNodes(affinity(db), node); bound != nil {
		spec["affinity"] = bound
	}
	if len(db.NodeSelector) > 0 {
		spec["nodeSelector"] = db.NodeSelector
	}
	if secrets := images.Secrets(run.Spec.PullSecrets()); len(secrets) > 0 {
		spec["imagePullSecrets"] = secrets
	}
	if added := run.Spec.PodMetadata; len(added.Labels) > 0 || len(added.Annotations) > 0 {
		spec["podMetadata"] = map[string]any{"labels": added.Labels, "annotations": added.Annotations}
	}
	if db.PriorityClassName != "" {
		spec["priorityClassName"] = db.PriorityClassName
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&struct {
		Spec map[string]any `json:"spec"`
	}{spec})
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(mariaDBKind)
	object.SetNamespace(meta.Namespace)
	object.SetName(meta.Name)
	object.SetLabels(meta.Labels)
	return object, nil
}

// ownLabels are those that only Benchrun looks at: the operator has uses of its own for the others.
func ownLabels(all map[string]string) map[string]string {
	own := maps.Clone(all)
	maps.DeleteFunc(own, func(key, _ string) bool { return strings.HasPrefix(key, "app.kubernetes.io/") })
	return own
}

// mariaDBStorage is said by the claim's template alone: what is also said beside it would replace the template, and its labels.
func mariaDBStorage(db *v1alpha1.DatabaseSpec, labels map[string]string) map[string]any {
	requested := storage(db)
	template := map[string]any{
		"metadata":    map[string]any{"labels": labels},
		"accessModes": []any{corev1.ReadWriteOnce},
		"resources":   map[string]any{"requests": map[string]any{"storage": requested.Size.String()}},
	}
	if requested.StorageClassName != "" {
		template["storageClassName"] = requested.StorageClassName
	}
	return map[string]any{
		"pvcRetentionPolicy":  map[string]any{"whenDeleted": "Delete", "whenScaled": "Delete"},
		"volumeClaimTemplate": template,
	}
}

// tolerant is how often in a row a probe may fail: a server under load is not to be taken away or killed.
const tolerant = 100

// quietProbe asks no more than whether a server listens.
func quietProbe(e *engine.Engine, periodSeconds, failureThreshold int32) map[string]any {
	return map[string]any{
		"tcpSocket": map[string]any{"port": int64(e.Image.Port)}, "periodSeconds": int64(periodSeconds),
		"failureThreshold": int64(failureThreshold),
	}
}

// mariaDBUnready is what the operator says of the resource until it is done with that; then it is empty. Its Ready condition is
// also true while it is about to restart the server.
func mariaDBUnready(object *unstructured.Unstructured) string {
	var status struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &status)
	switch c := apimeta.FindStatusCondition(status.Status.Conditions, mariaDBReadyType); {
	case err != nil || c == nil:
		return "it has not reported anything yet; is it running?"
	case c.Status == metav1.ConditionTrue && c.Reason == mariaDBRunning:
		return ""
	default:
		return c.Reason + ": " + c.Message
	}
}
