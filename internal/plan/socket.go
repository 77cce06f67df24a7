// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/benchrun-dev/benchrun/api/v1alpha1"

// UsesSocket says whether the loader reaches the server by a Unix socket.
func UsesSocket(run *v1alpha1.BenchmarkRun) bool {
	return run.Spec.Loader.Transport == v1alpha1.TransportUnixSocket
}

// SocketClaim is the name of the volume claim that the Pods of a database instance and of its loaders share, with the socket.
func SocketClaim(run *v1alpha1.BenchmarkRun, instance int) string {
	return InstanceName(run, instance) + "-socket"
}
