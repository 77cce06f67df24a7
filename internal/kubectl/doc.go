// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kubectl is `kubectl benchrun`. Each command is a file: it reads from the cluster with the user's own rights, or
// from a file that was exported, and prints what the packages below it have computed.
package kubectl
