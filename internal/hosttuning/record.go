// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hosttuning decides how a node is tuned for a run and restored afterwards. A node is tuned by whoever has created its
// Lease, in the operator's namespace. The Lease has a Record: what was asked, what the node had before, and what was done.
//
// Nothing is changed before the values that the node had are in the record, and the Lease stays until they were read back. An
// operator that is killed between any two writes therefore knows what to restore, and to what:
//
//	created -> Job read -> Before -> Job set -> After -> ... the run measures ... -> Release -> Job restore -> Restored -> deleted
package hosttuning

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// recordVersion is the version of Record.
const recordVersion = 1

// Record is what is known of a tuned node, or one that is to be tuned.
type Record struct {
	Version int    `json:"version"`
	Node    string `json:"node"`
	// Disk whose I/O scheduler is asked for, or unknown.
	Disk      string              `json:"disk,omitempty"`
	Requested result.HostSettings `json:"asked"`
	// Before are the values that the node had, of those that are asked for. Nothing was changed as long as they are not known.
	Before *result.HostSettings `json:"before,omitempty"`
	// After are the values that were read back after the change.
	After *result.HostSettings `json:"after,omitempty"`
	// Failed is why the node could not be tuned. NotEffective: its kernel does not take a value.
	Failed       string `json:"failed,omitempty"`
	NotEffective bool   `json:"notEffective,omitempty"`
	// Drop names the attempt before which the page cache is to be dropped, and Dropped the last one before which it was.
	Drop    string `json:"drop,omitempty"`
	Dropped string `json:"dropped,omitempty"`
	// Release: whoever has tuned the node does not need it any more.
	Release bool `json:"release,omitempty"`
	// Restored: the values of Before were read back, or nothing was changed.
	Restored bool `json:"restored,omitempty"`
	// Unrestored is why the last attempt to restore the node failed, of so many. Gone: the node no longer exists.
	Unrestored string `json:"unrestored,omitempty"`
	Attempts   int    `json:"attempts,omitempty"`
	Gone       bool   `json:"gone,omitempty"`
	// Tried is when the node was last restored, or that failed.
	Tried time.Time `json:"tried,omitzero"`
}

// reportedAfter so many failed attempts a node counts as not restored. The operator goes on trying.
const reportedAfter = 3

// Changes says whether the node has, or may have, other values than before.
func (r *Record) Changes() bool { return r.Before != nil && r.Requested != (result.HostSettings{}) }

// Tuned says whether the node has what was asked for.
func (r *Record) Tuned() bool { return r.After != nil && r.Failed == "" && !r.Release }

// NotRestored says whether the node counts as one that could not be restored.
func (r *Record) NotRestored() bool { return !r.Restored && (r.Gone || r.Attempts >= reportedAfter) }

// Settled says whether the node is restored, or counts as one that could not be.
func (r *Record) Settled() bool { return r.Restored || r.NotRestored() }

// New is the record of a node that is to be tuned for a run.
func New(spec *v1alpha1.HostTuningSpec, node, disk string) Record {
	r := Record{Version: recordVersion, Node: node, Requested: Settings(spec)}
	if r.Requested.IOScheduler != "" {
		r.Disk = disk
	}
	return r
}

// Settings are what a run asks for, in the kernel's words.
func Settings(spec *v1alpha1.HostTuningSpec) result.HostSettings {
	s := result.HostSettings{IOScheduler: string(spec.IOScheduler), TransparentHugePages: string(spec.TransparentHugePages)}
	if spec.Swappiness != nil {
		s.Swappiness = strconv.Itoa(int(*spec.Swappiness))
	}
	return s
}

// Encode is a record as it stands in the annotation of a Lease.
func (r *Record) Encode() (string, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("encoding the record of node %s: %w", r.Node, err)
	}
	return string(data), nil
}

// Decode reads the annotation of a Lease.
func Decode(text string) (*Record, error) {
	var r Record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return nil, fmt.Errorf("reading the record of a tuned node: %w", err)
	}
	if r.Version != recordVersion || r.Node == "" {
		return nil, fmt.Errorf("the record of a tuned node has version %d, this program reads %d", r.Version, recordVersion)
	}
	return &r, nil
}

// LeaseName is the name of the Lease of a node. The name of a node that is too long for that is replaced by its hash.
func LeaseName(node string) string {
	const suffix, longest = ".host.benchrun.dev", 253
	if len(node)+len(suffix) > longest {
		node = hash(node)
	}
	return node + suffix
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:16]
}
