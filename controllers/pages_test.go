//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// pageIn is the page among results. It is whole, and has a plot, and what else it is to have.
func pageIn(t *testing.T, results *corev1.ConfigMap, name string, more ...string) {
	t.Helper()
	text, err := result.UnpackFile(page.File, results.BinaryData)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range append([]string{"<!DOCTYPE html>", "<title>" + name, "<svg", "</html>"}, more...) {
		if !bytes.Contains(bytes.ToLower(text), bytes.ToLower([]byte(want))) {
			t.Errorf("the page lacks %q:\n%.2000s", want, text)
		}
	}
}
