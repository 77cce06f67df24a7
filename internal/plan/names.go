// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
)

// InstanceName is the name of the objects of a database instance. The instances of an owner count from 1, and none is used twice.
func InstanceName(run *v1alpha1.BenchmarkRun, instance int) string {
	return NameOfInstance(run.Name, instance)
}

// NameOfInstance is the same of an owner with that name.
func NameOfInstance(owner string, instance int) string {
	return fmt.Sprintf("%s-db%d", owner, instance)
}

// Address is where a database instance is reached. A provisioned one has a DNS name of the cluster, without the cluster's
// own domain, by a headless Service, so that no packet takes the way through a proxy's address translation.
func Address(e *engine.Engine, run *v1alpha1.BenchmarkRun, instance int) (host string, port int) {
	service := InstanceName(run, instance)
	switch run.Spec.Database.Provisioner {
	case v1alpha1.ProvisionerExternal:
		return run.Spec.Database.External.Host, int(run.Spec.Database.External.Port)
	case v1alpha1.ProvisionerMariaDBOperator:
		// The Pod's own name: the operator's certificate is for that.
		service = service + "-0." + service + "-internal"
	case v1alpha1.ProvisionerStatefulSet:
	}
	return fmt.Sprintf("%s.%s.svc", service, run.Namespace), int(e.Image.Port)
}

// Schema is the database in which workloads make their tables.
func Schema(run *v1alpha1.BenchmarkRun) string {
	external := run.Spec.Database.External
	switch {
	case external == nil:
		return "bench"
	case external.Schema != "":
		return external.Schema
	default:
		return "benchrun_" + strings.ReplaceAll(run.Name, "-", "_")
	}
}

// SecretName is the name of a run's credentials. Those that Benchrun makes carry the UID of their owner, so that they are never
// another's.
func SecretName(run *v1alpha1.BenchmarkRun) string {
	if external := run.Spec.Database.External; external != nil {
		return external.CredentialsSecretName
	}
	return fmt.Sprintf("%s-%.8s", run.Name, run.UID)
}

// AttemptName is the name of an attempt's Job and of its ConfigMap.
func AttemptName(run *v1alpha1.BenchmarkRun, trial, attempt int) string {
	return fmt.Sprintf("%s-t%d-a%d", run.Name, trial, attempt)
}

// AttemptOf is which attempt of a run has that name, or false: none.
func AttemptOf(run *v1alpha1.BenchmarkRun, name string) (trial, attempt int, found bool) {
	rest, _ := strings.CutPrefix(name, run.Name)
	if _, err := fmt.Sscanf(rest, "-t%d-a%d", &trial, &attempt); err != nil {
		return 0, 0, false
	}
	return trial, attempt, AttemptName(run, trial, attempt) == name
}

// ResultsName is the name of the ConfigMap of a finished run.
func ResultsName(run *v1alpha1.BenchmarkRun) string {
	return run.Name + "-results"
}

// Labels are on every object of a run.
func Labels(run *v1alpha1.BenchmarkRun, component string) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":       "benchrun",
		"app.kubernetes.io/instance":   run.Name,
		"app.kubernetes.io/component":  component,
		"app.kubernetes.io/managed-by": "benchrun",
		v1alpha1.LabelRun:              run.Name,
		v1alpha1.LabelRunUID:           string(run.UID),
		v1alpha1.LabelComponent:        component,
	}
}

// PodLabels are those of a Pod of the run: its own, over what podMetadata adds.
func PodLabels(run *v1alpha1.BenchmarkRun, own map[string]string) map[string]string {
	return over(run.Spec.PodMetadata.Labels, own)
}

// PodAnnotations are those of a Pod of the run: its own, over what podMetadata adds; nil if there are none.
func PodAnnotations(run *v1alpha1.BenchmarkRun, own map[string]string) map[string]string {
	return over(run.Spec.PodMetadata.Annotations, own)
}

func over(added, own map[string]string) map[string]string {
	if len(added) == 0 {
		return own
	}
	all := maps.Clone(added)
	maps.Copy(all, own)
	return all
}

// QueueLabels are the labels of a run that tell Kueue in which of its queues a Job or StatefulSet stands. They are
// for these objects alone: their Pods get from Kueue what they need.
func QueueLabels(of map[string]string) map[string]string {
	labels := map[string]string{}
	for _, key := range []string{v1alpha1.LabelKueueQueue, v1alpha1.LabelKueuePriority} {
		if value, found := of[key]; found {
			labels[key] = value
		}
	}
	return labels
}
