// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package podutil

// Images are the container images that belong to this version of the operator.
type Images struct {
	// Loader has the loader, one static program, which is also the probe of a database's node and volume.
	Loader string
	// Sysbench has the loader and sysbench.
	Sysbench string
}
