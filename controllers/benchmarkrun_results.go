// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

const digestAnnotation = "benchrun.dev/digest"

// recordAttempt writes what became of an attempt, once, and adds it to what was seen. An accepted attempt without its document is
// invalidated.
func (r *RunReconciler) recordAttempt(ctx context.Context, s *runStep, action lifecycle.RecordAttempt) error {
	a := &action.Attempt
	var doc *document
	if a.Verdict.Outcome == result.OutcomeAccepted {
		var err error
		if doc, err = r.fetchDocument(ctx, s.run, a); err != nil {
			return err
		}
		if doc != nil {
			judgeSides(s, a, doc)
		}
	}
	record := r.newRecord(ctx, a, s.seen)
	record.Sides = r.sidesOf(ctx, s, a)
	if before := neighborsBefore(a.Job); before != nil {
		record.Neighbors = result.Between(before, r.neighborhood(ctx, s.run, record.Place.DatabaseNode))
	}
	record.Parameters, record.Recorded = action.Parameters, r.recordedAt(a)
	if s.seen.Newest.ConfigMap != "" {
		record.Previous = ptr.To(result.Reference(s.seen.Newest))
	}
	files, err := recordFiles(record, doc)
	if err != nil {
		return err
	}
	meta := metav1.ObjectMeta{
		Name: plan.AttemptName(s.run, record.Trial, record.Attempt), Labels: plan.Labels(s.run, v1alpha1.ComponentAttempt),
	}
	meta.Labels[v1alpha1.LabelTrial] = strconv.Itoa(record.Trial)
	meta.Labels[v1alpha1.LabelAttempt] = strconv.Itoa(record.Attempt)
	meta.Labels[v1alpha1.LabelOutcome] = string(record.Outcome)
	text, err := r.writer(s.run).storeRecord(ctx, meta, record, files)
	if err != nil {
		return unrecorded(record, err)
	}
	// The one that is there may have been written before, and say of what was looked up something else.
	if record, err = result.DecodeRecord(text); err != nil {
		return fmt.Errorf("reading the record that was written: %w", err)
	}
	newest := v1alpha1.RecordReference{ConfigMap: meta.Name, Digest: result.NamedDigest([]byte(text))}
	m := r.memories.of(s.run)
	m.chain = m.chain.with(newest, record)
	s.seen.Records, s.seen.Newest = m.chain.records, newest
	return nil
}

// recordedAt is when an attempt ended: what is written twice, by two operators, is then the same. The loader says so itself if it
// has left a summary.
func (r *RunReconciler) recordedAt(a *lifecycle.Attempt) time.Time {
	if s := a.Verdict.Summary; s != nil && !s.Identity.Ended.IsZero() {
		return s.Identity.Ended.UTC()
	}
	if a.Verdict.Pod != nil {
		if end := trial.EndOf(a.Verdict.Pod); !end.IsZero() {
			return end.UTC()
		}
	}
	return r.Clock.Now().UTC()
}

// unrecorded adds to the error of a record that could not be written what the attempt measured: the message may be all that is
// left of it.
func unrecorded(record *result.Record, err error) error {
	if record.Outcome != result.OutcomeAccepted || len(record.Summary.Metrics) == 0 {
		return err
	}
	m := record.Summary.Metrics[0]
	return fmt.Errorf("trial %d has measured %s %s: %w", record.Trial, stats.Format(m.Value), m.Unit, err)
}

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

func (r *RunReconciler) newRecord(ctx context.Context, a *lifecycle.Attempt, seen *lifecycle.Observed) *result.Record {
	record := &result.Record{
		Version: result.RecordVersion, Trial: a.Trial, Attempt: a.Number, JobUID: string(a.Job.UID), Instance: a.Instance,
		Outcome: a.Verdict.Outcome, Cause: a.Verdict.Cause, Message: a.Verdict.Message, Summary: a.Verdict.Summary,
	}
	record.Place, record.Fingerprint = r.measuredOn(ctx, seen.Instance(a.Instance))
	if pod := a.Verdict.Pod; pod != nil {
		record.Place.LoaderNode = pod.Spec.NodeName
		record.Place.LoaderImage = podutil.ImageID(pod, trial.Container)
		record.Place.LoaderPodUID = string(pod.UID)
		record.Place.LoaderQoS = string(pod.Status.QOSClass)
	}
	for n := range a.Pods {
		record.Place.AddForeign("loader", trial.ForeignContainers(&a.Pods[n]))
	}
	if ptr.Deref(a.Job.Spec.Completions, 1) > 1 {
		placeLoaders(&record.Place, a.Pods)
	}
	return record
}

// measuredOn is where an instance is that was measured, and what the probe read there, as far as that is known.
func (r *RunReconciler) measuredOn(ctx context.Context, i *lifecycle.Instance) (place result.Place, f *result.Fingerprint) {
	switch {
	case i == nil:
		return place, nil
	case i.Provisioner == v1alpha1.ProvisionerExternal:
		place.DatabaseNode, place.DatabaseImage = result.Unknown, result.Unknown
	case i.Pod != nil:
		place.DatabaseNode, place.DatabaseImage, place.DatabasePodUID = i.Pod.Spec.NodeName, i.Image(), string(i.Pod.UID)
		place.DatabaseQoS = string(i.Pod.Status.QOSClass)
		place.AddForeign("database", i.ForeignContainers())
		f = lifecycle.PodFingerprint(i.Pod)
	}
	place.RetainedClass = r.retainedClass(ctx, i)
	return place, f
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

// publish writes the results of the run, once, and adds them to what was seen.
func (r *RunReconciler) publish(ctx context.Context, s *runStep, outcome string) error {
	records, err := clusterfiles.Records(ctx, r.Live, s.run.Namespace, result.Reference(s.seen.Newest))
	if err != nil {
		return err
	}
	files, err := r.resultFiles(ctx, s, records, outcome)
	if err != nil {
		return err
	}
	text := files[slices.IndexFunc(files, func(f result.File) bool { return f.Name == report.JSONFile })].Data
	published := &v1alpha1.ResultsReference{ConfigMap: plan.ResultsName(s.run), Digest: result.NamedDigest(text)}
	meta := metav1.ObjectMeta{
		Name: published.ConfigMap, Labels: plan.Labels(s.run, v1alpha1.ComponentResults),
		Annotations: map[string]string{digestAnnotation: published.Digest},
	}
	if err := r.writer(s.run).storeResults(ctx, meta, files); err != nil {
		return err
	}
	s.seen.Results = published
	return nil
}

func (r *RunReconciler) resultFiles(
	ctx context.Context, s *runStep, records []*result.Record, outcome string,
) ([]result.File, error) {
	message := ""
	if failed := s.decision.Failure; failed != nil {
		message = failed.Reason + ": " + failed.Message
	} else if c := s.seen.Compared; c != nil {
		message = c.WhyStopped()
	}
	rep, err := report.Of(s.run, s.plan, records, s.seen.Compared, outcome, message)
	if err != nil {
		return nil, err
	}
	rep.HostTuning = lifecycle.Status(s.run, s.plan, s.seen, s.decision, s.now).HostTuning
	details, err := r.details(ctx, s.run, rep)
	if err != nil {
		return nil, err
	}
	files, err := report.Files(rep)
	return append(files, rendered(ctx, rep, details)...), err
}

// details of a run that has ended, for its page; the report gets the settings of the servers. One document after another is read,
// from the API server, so that not more than one is in memory. One that is gone or cannot be read is left out.
func (r *RunReconciler) details(ctx context.Context, run *v1alpha1.BenchmarkRun, rep *report.Report) (*page.Details, error) {
	details := new(page.Details)
	for _, record := range rep.Accepted() {
		doc, err := r.document(ctx, run, record)
		switch {
		case errors.Is(err, result.ErrDocumentInvalid):
			log.FromContext(ctx).Info("The results lack what a document would show",
				"configMap", plan.AttemptName(run, record.Trial, record.Attempt), "error", err.Error())
		case err != nil:
			return nil, err
		case doc != nil:
			details.Add(record, doc)
			rep.AddSettings(record, doc)
		}
	}
	return details, nil
}

// document of an attempt, from its ConfigMap; nil if it is gone.
func (r *RunReconciler) document(
	ctx context.Context, run *v1alpha1.BenchmarkRun, record *result.Record,
) (*result.Document, error) {
	r.decoding.Lock()
	defer r.decoding.Unlock()
	return clusterfiles.Document(ctx, r.Live, run.Namespace, plan.AttemptName(run, record.Trial, record.Attempt), record)
}

// rendered is a page. The results are worth more than their page: they are published without it if it cannot be drawn, which the
// library for plots may say by a panic.
func rendered(ctx context.Context, rep *report.Report, details *page.Details) (files []result.File) {
	logger := log.FromContext(ctx)
	defer func() {
		if p := recover(); p != nil {
			logger.Error(fmt.Errorf("%v", p), "The page cannot be made", "stack", string(debug.Stack()))
			files = nil
		}
	}()
	var text bytes.Buffer
	err := page.Write(&text, rep, details)
	if err == nil {
		var file result.File
		// Compressed, because a page is nothing to read in a ConfigMap.
		if file, err = (result.File{Name: page.File, Data: text.Bytes()}).Compressed(); err == nil {
			return []result.File{file}
		}
	}
	logger.Error(err, "The page cannot be made")
	return nil
}
