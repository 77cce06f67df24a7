// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// digestAnnotation holds the sha256 of results.json.
const digestAnnotation = "benchrun.dev/digest"

// recordAttempt writes what became of an attempt, once. An accepted attempt without its document is invalidated.
func (r *BenchmarkRunReconciler) recordAttempt(
	ctx context.Context, run *v1alpha1.BenchmarkRun, seen *lifecycle.Observed, action lifecycle.RecordAttempt,
) error {
	a := &action.Attempt
	var doc *document
	if a.Verdict.Outcome == result.OutcomeAccepted {
		var err error
		doc, err = r.fetchDocument(ctx, a)
		switch {
		case errors.Is(err, result.ErrDocumentLost):
			a.Verdict = a.Verdict.Because(result.CauseDocumentLost, err.Error())
		case err != nil:
			return err
		}
	}
	record := newRecord(a, seen)
	record.Parameters, record.Recorded = action.Parameters, r.Clock.Now().UTC()
	files, err := recordFiles(record, doc)
	if err != nil {
		return err
	}
	meta := metav1.ObjectMeta{
		Name: plan.AttemptName(run, record.Trial, record.Attempt), Labels: plan.Labels(run, v1alpha1.ComponentAttempt),
	}
	meta.Labels[v1alpha1.LabelTrial] = strconv.Itoa(record.Trial)
	meta.Labels[v1alpha1.LabelAttempt] = strconv.Itoa(record.Attempt)
	meta.Labels[v1alpha1.LabelOutcome] = string(record.Outcome)
	return r.writer(run).store(ctx, meta, files, run.Spec.Results.Retention)
}

// recordFiles are a record, and the document that completes it if there is one.
func recordFiles(record *result.Record, doc *document) ([]result.File, error) {
	if doc != nil {
		if err := record.Complete(doc.Document, doc.encoded); err != nil {
			return nil, err
		}
	}
	text, err := record.Encode()
	if err != nil {
		return nil, err
	}
	files := []result.File{{Name: result.RecordKey, Data: []byte(text)}}
	if doc != nil {
		files = append(files, result.File{Name: result.DocumentKey, Data: doc.encoded.Gzip, Binary: true})
	}
	return files, nil
}

// newRecord says what became of an attempt, and where it ran.
func newRecord(a *lifecycle.Attempt, seen *lifecycle.Observed) *result.Record {
	record := &result.Record{
		Version: result.RecordVersion, Trial: a.Trial, Attempt: a.Number, Instance: a.Instance,
		Outcome: a.Verdict.Outcome, Cause: a.Verdict.Cause, Message: a.Verdict.Message, Summary: a.Verdict.Summary,
	}
	for _, i := range seen.Instances {
		switch {
		case i.Number != a.Instance:
		case i.Provisioner == v1alpha1.ProvisionerExternal:
			record.Place.DatabaseNode, record.Place.DatabaseImage = result.Unknown, result.Unknown
		case i.Pod != nil:
			record.Place.DatabaseNode = i.Pod.Spec.NodeName
			record.Place.DatabaseImage = i.Image()
			record.Place.DatabasePodUID = string(i.Pod.UID)
			record.Place.DatabaseQoS = string(i.Pod.Status.QOSClass)
			record.Fingerprint = lifecycle.PodFingerprint(i.Pod)
		}
	}
	if pod := a.Verdict.Pod; pod != nil {
		record.Place.LoaderNode = pod.Spec.NodeName
		record.Place.LoaderImage = podutil.ImageID(pod, trial.Container)
		record.Place.LoaderPodUID = string(pod.UID)
		record.Place.LoaderQoS = string(pod.Status.QOSClass)
	}
	if ptr.Deref(a.Job.Spec.Completions, 1) > 1 {
		placeLoaders(&record.Place, a.Pods)
	}
	return record
}

// placeLoaders sets the nodes of several loaders, or none unless all of them have a node.
func placeLoaders(place *result.Place, pods []corev1.Pod) {
	nodes := sets.New[string]()
	for i := range pods {
		nodes.Insert(pods[i].Spec.NodeName)
	}
	if nodes.Has("") {
		place.LoaderNode = ""
		return
	}
	place.LoaderNodes = sets.List(nodes)
}

// publish writes the results of the run, once.
func (r *BenchmarkRunReconciler) publish(
	ctx context.Context, run *v1alpha1.BenchmarkRun, p *plan.Plan, seen *lifecycle.Observed, outcome string,
) error {
	rep, err := buildReport(run, p, seen, outcome)
	if err != nil {
		return err
	}
	files, err := report.Files(rep)
	if err != nil {
		return err
	}
	meta := metav1.ObjectMeta{
		Name: plan.ResultsName(run), Labels: plan.Labels(run, v1alpha1.ComponentResults), Annotations: map[string]string{},
	}
	for _, f := range files {
		if f.Name == report.JSONFile {
			meta.Annotations[digestAnnotation] = "sha256:" + result.Digest(f.Data)
		}
	}
	return r.writer(run).store(ctx, meta, files, run.Spec.Results.Retention)
}

func buildReport(
	run *v1alpha1.BenchmarkRun, p *plan.Plan, seen *lifecycle.Observed, outcome string,
) (*report.Report, error) {
	digest, err := plan.Digest(&run.Spec)
	if err != nil {
		return nil, err
	}
	spec, err := json.Marshal(run.Spec)
	if err != nil {
		return nil, fmt.Errorf("encoding the specification: %w", err)
	}
	rep := &report.Report{
		Run: report.Run{
			Namespace: run.Namespace, Name: run.Name, UID: string(run.UID), Workload: string(run.Spec.Workload.Type),
			Seed: plan.Seed(&run.Spec), SpecDigest: digest, Outcome: outcome, Spec: spec,
		},
		Records: seen.Records,
	}
	if run.Status.StartTime != nil {
		rep.Run.Started = run.Status.StartTime.UTC()
	}
	if outcome == v1alpha1.ConditionFailed {
		for _, c := range run.Status.Conditions {
			if c.Type == v1alpha1.ConditionFailed {
				rep.Run.Message = c.Reason + ": " + c.Message
			}
		}
	}
	for _, t := range p.Trials {
		rep.Trials = append(rep.Trials, report.Trial{Number: t.Number, Round: t.Round, Parameters: p.Points[t.Point].Parameters})
	}
	rep.Run.Planned, rep.Points = lifecycle.Measured(run, p, seen.Records)
	return rep, nil
}
