// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Schema is the database in which workloads make their tables.
const Schema = "bench"

// DatabasePort is the port that a provisioned server listens on.
const DatabasePort = 3306

// InstanceName is the name of the objects of a database instance; instances count from 1 and are never used twice.
func InstanceName(run *v1alpha1.BenchmarkRun, instance int) string {
	return fmt.Sprintf("%s-db%d", run.Name, instance)
}

// InstanceHost is the DNS name of a database instance within the cluster, without the cluster's own domain.
func InstanceHost(run *v1alpha1.BenchmarkRun, instance int) string {
	return fmt.Sprintf("%s.%s.svc", InstanceName(run, instance), run.Namespace)
}

// SecretName is the name of a run's credentials. It carries the run's UID, so that it is never another run's.
func SecretName(run *v1alpha1.BenchmarkRun) string {
	return fmt.Sprintf("%s-%.8s", run.Name, run.UID)
}

// AttemptName is the name of an attempt's Job and of its ConfigMap.
func AttemptName(run *v1alpha1.BenchmarkRun, trial, attempt int) string {
	return fmt.Sprintf("%s-t%d-a%d", run.Name, trial, attempt)
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
