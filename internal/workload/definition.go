// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// Definition is one kind of workload: all that the operator and the loader ask of it. New or NewTool is set, not both.
type Definition struct {
	// Type is the workload's name in the API.
	Type string
	// Shared says that several loader Pods can make the load together.
	Shared bool
	// Primes says that the load can be made on a new server before, for a bounded time: each client ends it after a transaction.
	Primes bool
	// Grows says that one of the parameters is rows, the number of rows to insert, and that a pilot may raise it.
	Grows bool
	// Validate checks what the API's schema cannot express about the parameters of one point. It is pure: the operator calls
	// it before anything is created, the loader before the first connection. Errors name fields as the API does.
	Validate func(cfg *result.Config) error
	// Pod is what the workload needs of its loader's Pod; nil if that is nothing.
	Pod func(cfg *result.Config) (Pod, error)
	// New makes a load of the loader's own clients.
	New func(cfg *result.Config) (Workload, error)
	// NewTool makes the load of another program.
	NewTool func(in ToolInput) (Tool, error)
}

// Pod is what a workload needs of its loader's Pod, besides the loader. It knows nothing of Kubernetes.
type Pod struct {
	// Bundle names an image of Benchrun's own that has a program beside the loader.
	Bundle Bundle
	// Image that has the program, if it is not one of Benchrun's. The loader is copied into it.
	Image string
	// User is the UID that runs Image.
	User int64
	// Work asks for a folder in memory at result.WorkPath.
	Work bool
	// Files is a ConfigMap of the user's, whose keys are files at result.FilesPath; empty if there is none.
	Files string
}

// Bundle is an image of Benchrun's own with a program beside the loader.
type Bundle string

const (
	// BundleNone is the loader alone.
	BundleNone Bundle = ""
	// BundleSysbench has sysbench.
	BundleSysbench Bundle = "sysbench"
)

// Decode reads a workload's parameters strictly: an unknown field is an error, because a loader that ignores part of its
// parameters measures something else.
func Decode[P any](cfg *result.Config) (*P, error) {
	if len(cfg.Workload.Parameters) == 0 {
		return nil, errors.New("the parameters are missing")
	}
	decoder := json.NewDecoder(bytes.NewReader(cfg.Workload.Parameters))
	decoder.DisallowUnknownFields()
	p := new(P)
	if err := decoder.Decode(p); err != nil {
		return nil, fmt.Errorf("reading the parameters: %w", err)
	}
	return p, nil
}

// Checked is a Validate that is satisfied with parameters that can be read.
func Checked[P any](read func(cfg *result.Config) (P, error)) func(cfg *result.Config) error {
	return func(cfg *result.Config) error {
		_, err := read(cfg)
		return err
	}
}
