// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clusterfiles reads what result.Pack has distributed over ConfigMaps.
package clusterfiles

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Read reads the contents of ConfigMaps by key: of the one with that name and of those that continue it, name-2, name-3 and
// so on. It returns nil if there is none. Use result.UnpackFile to read a file in them.
func Read(ctx context.Context, from client.Reader, namespace, name string) (map[string][]byte, error) {
	var contents map[string][]byte
	for n := 1; ; n++ {
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
		case contents == nil:
			contents = map[string][]byte{}
		}
		maps.Copy(contents, cm.BinaryData)
		for file, text := range cm.Data {
			contents[file] = []byte(text)
		}
	}
}
