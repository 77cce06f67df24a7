// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clusterfiles reads what result.Pack has distributed over ConfigMaps, and the records of attempts.
package clusterfiles

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// Read reads the contents of ConfigMaps by key: of the one with that name and of those that continue it, name-2, name-3 and
// so on. It returns nil if there is none. Use result.UnpackFile to read a file in them.
func Read(ctx context.Context, from client.Reader, namespace, name string) (map[string][]byte, error) {
	var contents map[string][]byte
	for n := 1; n <= maxConfigMaps; n++ {
		key := client.ObjectKey{Namespace: namespace, Name: name}
		if n > 1 {
			key.Name = fmt.Sprintf("%s-%d", name, n)
		}
		var cm corev1.ConfigMap
		err := from.Get(ctx, key, &cm)
		switch {
		case apierrors.IsNotFound(err):
			return contents, nil
		case err != nil:
			return nil, fmt.Errorf("reading ConfigMap %s: %w", key.Name, err)
		}
		// The first one is ours: the others cannot replace what it has.
		further := map[string][]byte{}
		maps.Copy(further, cm.BinaryData)
		for file, text := range cm.Data {
			further[file] = []byte(text)
		}
		maps.Copy(further, contents)
		contents = further
	}
	return nil, fmt.Errorf("ConfigMap %s goes on in more than %d others: Benchrun writes fewer", name, maxConfigMaps)
}

// maxConfigMaps that are read for one name: anybody may create further ones.
const maxConfigMaps = 100

// File reads a file that result.Pack has distributed; nil if there is none. Nearly always that takes one request.
func File(ctx context.Context, from client.Reader, namespace, name, file string) ([]byte, error) {
	var cm corev1.ConfigMap
	err := from.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &cm)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading ConfigMap %s: %w", name, err)
	}
	if data, whole := cm.BinaryData[file]; whole {
		return data, nil
	}
	contents, err := Read(ctx, from, namespace, name)
	if err != nil {
		return nil, err
	}
	return result.UnpackFile(file, contents)
}

// ChangedError says that a record was deleted or changed. The run cannot say any more what it measured.
type ChangedError struct{ message string }

func (e *ChangedError) Error() string { return e.message }

// Record reads the record that a reference names. The error is a ChangedError if it is not what it was.
func Record(ctx context.Context, from client.Reader, namespace string, ref result.Reference) (*result.Record, error) {
	var cm corev1.ConfigMap
	err := from.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.ConfigMap}, &cm)
	switch {
	case apierrors.IsNotFound(err):
		return nil, &ChangedError{"ConfigMap " + ref.ConfigMap + ", the record of an attempt, was deleted"}
	case err != nil:
		return nil, fmt.Errorf("reading the record in ConfigMap %s: %w", ref.ConfigMap, err)
	case result.NamedDigest([]byte(cm.Data[result.RecordKey])) != ref.Digest:
		return nil, &ChangedError{"ConfigMap " + ref.ConfigMap + ", the record of an attempt, is not what the operator wrote"}
	}
	record, err := result.DecodeRecord(cm.Data[result.RecordKey])
	if err != nil {
		return nil, &ChangedError{fmt.Sprintf("ConfigMap %s: %v", ref.ConfigMap, err)}
	}
	return record, nil
}

// Records reads those of a run's attempts, the oldest first: the newest is named, and each record names the one before it. The
// chain is not circular: no record can have the digest of a record that follows from it.
func Records(ctx context.Context, from client.Reader, namespace string, newest result.Reference) ([]*result.Record, error) {
	var records []*result.Record
	for ref := &newest; ref != nil && ref.ConfigMap != ""; {
		record, err := Record(ctx, from, namespace, *ref)
		if err != nil {
			return nil, err
		}
		records, ref = append(records, record), record.Previous
	}
	slices.Reverse(records)
	return records, nil
}

// Document reads the document of an attempt from its ConfigMap, if it is the one that the record names; nil if it is not there.
func Document(ctx context.Context, from client.Reader, namespace, name string, record *result.Record) (*result.Document, error) {
	if record.Summary == nil {
		return nil, nil
	}
	text, err := File(ctx, from, namespace, name, result.DocumentKey)
	if err != nil || text == nil || result.Digest(text) != record.Summary.DocumentSHA256 {
		return nil, err
	}
	return result.DecodeDocument(text)
}
