// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"encoding/json"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
)

// Delivery is the document that a loader has written to its log, whole, and the summary of it. A loader writes its document last:
// nothing is left for it but to exit, which a kubelet reports up to a second later. Only a loader that makes the load itself
// delivers: where it starts programs, an attempt ends with its container, whose termination message is the loader's.
type Delivery struct {
	Summary  *result.Summary
	Document result.EncodedDocument
}

// Deliver is the delivery of a document: its summary is what the loader leaves as its termination message.
func Deliver(doc *result.Document, encoded result.EncodedDocument) (*Delivery, error) {
	message, err := result.EncodeSummary(doc.Summarize(encoded))
	if err != nil {
		return nil, err
	}
	summary, err := result.DecodeSummary(string(message))
	if err != nil {
		return nil, err
	}
	return &Delivery{Summary: summary, Document: encoded}, nil
}

// Delivers is the Pod whose log will have the document of an attempt, if that is all that the attempt waits for: its only loader,
// which runs. It is nil with several loaders, of which each must have confirmed that its part is in the document.
func Delivers(job *batchv1.Job, pods []corev1.Pod) *corev1.Pod {
	l := loadersOf(job, pods)
	pod := l.leader()
	if l.wanted > 1 || len(l.pods) > 1 || pod == nil || pod.DeletionTimestamp != nil || job.DeletionTimestamp != nil {
		return nil
	}
	ran := pod.Status.Phase != corev1.PodRunning && pod.Status.Phase != corev1.PodPending
	if ran || !begun(pod) || podutil.Ended(pod, Container) != nil {
		return nil
	}
	return pod
}

// StartsPrograms says whether the loaders of a run start other programs, which may write whatever they like.
func StartsPrograms(run *v1alpha1.BenchmarkRun) bool {
	return registry.IsTool(&result.Config{Workload: result.Workload{Type: string(run.Spec.Workload.Type)}})
}

// given is the configuration that a Job gives its loaders.
func given(job *batchv1.Job) (*result.Config, error) {
	for _, c := range job.Spec.Template.Spec.Containers {
		for _, e := range c.Env {
			if c.Name == Container && e.Name == result.EnvConfig {
				return result.ParseConfig([]byte(e.Value))
			}
		}
	}
	return nil, fmt.Errorf("Job %s gives its loader no configuration", job.Name)
}

// Differs names what a document does not have in common with the Job whose loader is to have written it: the run, the trial, the
// attempt, or what was asked of it. It is empty if they agree.
func Differs(doc *result.Document, job *batchv1.Job) string {
	config, err := given(job)
	if err != nil {
		return err.Error()
	}
	who := doc.Identity
	switch run := job.Spec.Template.Labels[v1alpha1.LabelRunUID]; {
	case who.RunUID != run:
		return fmt.Sprintf("it is of the run %q, not %q", who.RunUID, run)
	case who.Trial != config.Trial || who.Attempt != config.Attempt:
		return fmt.Sprintf("it is of trial %d, attempt %d, not %d and %d", who.Trial, who.Attempt, config.Trial, config.Attempt)
	}
	if asked, done := digestOf(config), digestOf(&doc.Config); asked != done {
		return fmt.Sprintf("its configuration has the digest %s, that of the attempt %s", done, asked)
	}
	return ""
}

// digestOf a configuration, however it was written.
func digestOf(c *result.Config) string {
	text, err := json.Marshal(c)
	if err != nil { // what was read as JSON can be written
		return err.Error()
	}
	return result.Digest(text)
}
