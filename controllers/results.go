// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
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

const (
	// logGrace is how long after a container's end its log may still be incomplete or out of reach.
	logGrace = 30 * time.Second
	// maxLogBytes of a loader's log are read: a document of 2 MiB in base64, and progress lines.
	maxLogBytes = 16 << 20
)

// LogOpener opens the log of a container.
type LogOpener interface {
	OpenLog(ctx context.Context, namespace, pod, container string) (io.ReadCloser, error)
}

// PodLogs opens logs through the API server.
type PodLogs struct{ Clientset kubernetes.Interface }

// OpenLog implements LogOpener.
func (l PodLogs) OpenLog(ctx context.Context, namespace, pod, container string) (io.ReadCloser, error) {
	return l.Clientset.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{
		Container: container, LimitBytes: ptr.To[int64](maxLogBytes),
	}).Stream(ctx)
}

// recordAttempt writes what became of an attempt, once. An accepted attempt owes its document: without it, it is disturbed.
func (r *BenchmarkRunReconciler) recordAttempt(
	ctx context.Context, run *v1alpha1.BenchmarkRun, seen *lifecycle.Observed, a lifecycle.RecordAttempt,
) error {
	record := &result.Record{
		Version: result.RecordVersion,
		Trial:   a.Attempt.Trial, Attempt: a.Attempt.Number, Instance: a.Attempt.Instance, Parameters: a.Parameters,
		Outcome: a.Attempt.Verdict.Outcome, Cause: a.Attempt.Verdict.Cause, Message: a.Attempt.Verdict.Message, Summary: a.Attempt.Verdict.Summary,
		Recorded: r.Clock.Now().UTC(),
	}
	place(record, seen, a)
	var files []result.File
	if record.Outcome == result.OutcomeAccepted {
		doc, err := r.fetchDocument(ctx, a)
		switch {
		case errors.Is(err, result.ErrDocumentLost):
			v := a.Attempt.Verdict.Because(result.CauseDocumentLost, err.Error())
			record.Outcome, record.Cause, record.Message = v.Outcome, v.Cause, v.Message
		case err != nil:
			return err
		default:
			files = append(files, result.File{Name: result.DocumentKey, Data: doc.Gzip, Binary: true})
		}
	}
	text, err := record.Encode()
	if err != nil {
		return err
	}
	files = append([]result.File{{Name: result.RecordKey, Data: []byte(text)}}, files...)
	labels := plan.Labels(run, v1alpha1.ComponentAttempt)
	labels[v1alpha1.LabelTrial] = strconv.Itoa(record.Trial)
	labels[v1alpha1.LabelAttempt] = strconv.Itoa(record.Attempt)
	labels[v1alpha1.LabelOutcome] = string(record.Outcome)
	return r.store(ctx, run, plan.AttemptName(run, record.Trial, record.Attempt), labels, nil, files)
}

// place says where an attempt ran. Of a server that is not in the cluster's hands it says that this is not known.
func place(record *result.Record, seen *lifecycle.Observed, a lifecycle.RecordAttempt) {
	for _, i := range seen.Instances {
		switch {
		case i.Number != a.Attempt.Instance:
		case i.Provisioner == v1alpha1.ProvisionerExternal:
			record.Place.DatabaseNode, record.Place.DatabaseImage = result.Unknown, result.Unknown
		case i.Pod != nil:
			record.Place.DatabaseNode = i.Pod.Spec.NodeName
			record.Place.DatabaseImage = i.Image()
			record.Place.DatabasePodUID = string(i.Pod.UID)
			record.Fingerprint = lifecycle.PodFingerprint(i.Pod)
		}
	}
	if pod := a.Attempt.Verdict.Pod; pod != nil {
		record.Place.LoaderNode = pod.Spec.NodeName
		record.Place.LoaderImage = podutil.ImageID(pod, trial.Container)
		record.Place.LoaderPodUID = string(pod.UID)
	}
	if run := a.Attempt.Job.Spec.Completions; ptr.Deref(run, 1) > 1 {
		placeAll(&record.Place, a.Attempt.Pods)
	}
}

// placeAll says where several loaders ran; nothing unless all of them had a node.
func placeAll(place *result.Place, pods []corev1.Pod) {
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

// fetchDocument reads the document of a Pod from its log. Until some time after the Pod's end, a log that is incomplete or
// out of reach is an error, so that it is looked at again; after that the document is lost.
func (r *BenchmarkRunReconciler) fetchDocument(
	ctx context.Context, a lifecycle.RecordAttempt,
) (result.EncodedDocument, error) {
	v := a.Attempt.Verdict
	doc, err := r.readDocument(ctx, v, a.Attempt.Pods)
	if err == nil || r.Clock.Since(trial.EndOf(v.Pod)) > logGrace {
		return doc, err
	}
	// It is not lost yet: the error must not say so to errors.Is.
	return result.EncodedDocument{}, errors.New("fetching the document of Pod " + v.Pod.Name + ": " + err.Error())
}

func (r *BenchmarkRunReconciler) readDocument(
	ctx context.Context, v trial.Verdict, pods []corev1.Pod,
) (result.EncodedDocument, error) {
	log, err := r.Logs.OpenLog(ctx, v.Pod.Namespace, v.Pod.Name, trial.Container)
	if err != nil {
		return result.EncodedDocument{}, fmt.Errorf("%w: opening the log: %w", result.ErrDocumentLost, err)
	}
	defer log.Close() //nolint:errcheck // it was only read
	doc, err := result.ReadDocument(log, v.Summary.DocumentSHA256)
	if err != nil {
		return result.EncodedDocument{}, err
	}
	whole, err := result.DecodeDocument(doc.Gzip)
	if err != nil {
		return result.EncodedDocument{}, fmt.Errorf("%w: %w", result.ErrDocumentLost, err)
	}
	if whole.Identity.PodUID != string(v.Pod.UID) || !partsOf(whole, pods) {
		return result.EncodedDocument{}, fmt.Errorf("%w: it is that of another Pod", result.ErrDocumentLost)
	}
	return doc, nil
}

// partsOf says whether a document is what these Pods measured together, and no others.
func partsOf(doc *result.Document, pods []corev1.Pod) bool {
	if len(pods) == 1 {
		return len(doc.Pods) == 0
	}
	uids := map[int]string{}
	for i := range pods {
		uids[trial.PodIndex(&pods[i])] = string(pods[i].UID)
	}
	for i, p := range doc.Pods {
		if p.Pod != i || uids[i] != p.PodUID {
			return false
		}
	}
	return len(doc.Pods) == len(uids)
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
	annotations := map[string]string{}
	for _, f := range files {
		if f.Name == report.JSONFile {
			sum := sha256.Sum256(f.Data)
			annotations[digestAnnotation] = "sha256:" + hex.EncodeToString(sum[:])
		}
	}
	return r.store(ctx, run, plan.ResultsName(run), plan.Labels(run, v1alpha1.ComponentResults), annotations, files)
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

// store writes files into immutable ConfigMaps: the named one last, so that it stands for all of them.
func (r *BenchmarkRunReconciler) store(
	ctx context.Context, run *v1alpha1.BenchmarkRun, name string, labels, annotations map[string]string, files []result.File,
) error {
	bins, err := result.Pack(files)
	if err != nil {
		return err
	}
	owned := run.Spec.Results.Retention != v1alpha1.RetentionRetain
	for i, bin := range slices.Backward(bins) {
		cm := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: run.Namespace, Labels: labels, Annotations: annotations},
			Immutable:  ptr.To(true),
			Data:       map[string]string{},
			BinaryData: map[string][]byte{},
		}
		if i > 0 {
			cm.Name = fmt.Sprintf("%s-%d", name, i+1)
		}
		for _, f := range bin {
			if f.Binary {
				cm.BinaryData[f.Name] = f.Data
			} else {
				cm.Data[f.Name] = string(f.Data)
			}
		}
		if err := r.create(ctx, run, cm, owned); err != nil {
			return err
		}
	}
	return nil
}
