// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterfiles_test

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// A document is that of a record if it has the digest that the record names.
func TestDocument(t *testing.T) {
	encoded := must.Get(result.EncodeDocument(testutil.Document("pod", 1, 1, 1000)))(t)
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "x-t1-a1"}, BinaryData: map[string][]byte{result.DocumentKey: encoded.Gzip},
	}
	from := fake.NewClientBuilder().WithObjects(cm).Build()
	record := testutil.Record(1, 1, nil, 1000)
	for digest, want := range map[string]bool{encoded.SHA256: true, result.Digest([]byte("another")): false, "": false} {
		record.Summary.DocumentSHA256 = digest
		doc, err := clusterfiles.Document(t.Context(), from, "bench", "x-t1-a1", record)
		if err != nil || (doc != nil) != want {
			t.Errorf("digest %q: %v, %+v", digest, err, doc)
		}
	}
	if doc, err := clusterfiles.Document(t.Context(), from, "bench", "x-t2-a1", record); doc != nil || err != nil {
		t.Errorf("of a ConfigMap that is not there: %v, %+v", err, doc)
	}
	record.Summary = nil
	if doc, err := clusterfiles.Document(t.Context(), from, "bench", "x-t1-a1", record); doc != nil || err != nil {
		t.Errorf("of an attempt that measured nothing: %v, %+v", err, doc)
	}
}

// endless has a ConfigMap of every name.
type endless struct {
	client.Reader
	reads int
}

var errTooManyReads = errors.New("too many reads")

func (e *endless) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	if e.reads++; e.reads > 1000 {
		return errTooManyReads
	}
	cm, _ := o.(*corev1.ConfigMap)
	cm.Data = map[string]string{"file." + key.Name: "text"}
	return nil
}

// Anybody may create ConfigMaps whose names continue those of a run: they take no memory without end, and replace nothing.
func TestReadOfStrangers(t *testing.T) {
	e := &endless{}
	if _, err := clusterfiles.Read(t.Context(), e, "bench", "x"); err == nil || errors.Is(err, errTooManyReads) {
		t.Errorf("%d reads, the error is %v", e.reads, err)
	}
	ours := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "x"}, Data: map[string]string{"a": "ours"},
		BinaryData: map[string][]byte{"b": []byte("ours")},
	}
	theirs := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "x-2"}, Data: map[string]string{"b": "theirs", "c": "further"},
		BinaryData: map[string][]byte{"a": []byte("theirs")},
	}
	contents, err := clusterfiles.Read(t.Context(), fake.NewClientBuilder().WithObjects(ours, theirs).Build(), "bench", "x")
	if err != nil || string(contents["a"]) != "ours" || string(contents["b"]) != "ours" || string(contents["c"]) != "further" {
		t.Errorf("%v, %q", err, contents)
	}
}
