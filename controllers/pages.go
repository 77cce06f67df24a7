// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// pages make the page of a run that has ended. Documents are read from the API server one after another: no cache
// holds them, and not more than one is to be in memory.
type pages struct {
	live     client.Reader
	decoding *sync.Mutex
}

// of a report is its page as a file; none if it cannot be made.
func (p pages) of(ctx context.Context, run *v1alpha1.BenchmarkRun, rep *report.Report) ([]result.File, error) {
	var details page.Details
	if err := p.visit(ctx, run, rep.Accepted(), details.Add); err != nil {
		return nil, err
	}
	return rendered(ctx, func(w io.Writer) error { return page.Write(w, rep, &details) }), nil
}

// rendered is a page. The results are worth more than their page: they are published without it if it cannot be drawn, which the
// library for plots may say by a panic.
func rendered(ctx context.Context, draw func(io.Writer) error) (files []result.File) {
	logger := log.FromContext(ctx)
	defer func() {
		if p := recover(); p != nil {
			logger.Error(fmt.Errorf("%v", p), "The page cannot be made", "stack", string(debug.Stack()))
			files = nil
		}
	}()
	var text bytes.Buffer
	err := draw(&text)
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

// visit calls add with the document of each attempt. One that is gone or cannot be read is left out: the page says nothing that
// depends on all of them.
func (p pages) visit(
	ctx context.Context, run *v1alpha1.BenchmarkRun, records []*result.Record, add func(*result.Record, *result.Document),
) error {
	for _, r := range records {
		name := plan.AttemptName(run, r.Trial, r.Attempt)
		doc, err := p.document(ctx, run.Namespace, name, r)
		switch {
		case errors.Is(err, result.ErrDocumentInvalid):
			log.FromContext(ctx).Info("The page lacks what a document would show", "configMap", name, "error", err.Error())
		case err != nil:
			return err
		case doc != nil:
			add(r, doc)
		}
	}
	return nil
}

func (p pages) document(ctx context.Context, namespace, name string, r *result.Record) (*result.Document, error) {
	p.decoding.Lock()
	defer p.decoding.Unlock()
	return clusterfiles.Document(ctx, p.live, namespace, name, r)
}
