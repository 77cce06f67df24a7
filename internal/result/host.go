// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"encoding/json"
	"fmt"
)

// HostReportVersion is the version of HostReport.
const HostReportVersion = 1

// HostSettings are kernel settings of a node, in the kernel's words. Those that nobody asked about are empty.
type HostSettings struct {
	Swappiness string `json:"swappiness,omitempty"`
	// IOScheduler is that of the disk below the data volume.
	IOScheduler          string `json:"ioScheduler,omitempty"`
	TransparentHugePages string `json:"transparentHugePages,omitempty"`
}

// HostTuning is what a run has changed on a node.
type HostTuning struct {
	Node string `json:"node"`
	// Disk whose I/O scheduler was changed.
	Disk   string       `json:"disk,omitempty"`
	Before HostSettings `json:"before"`
	After  HostSettings `json:"after"`
	// Restored says whether the values of Before were read back at the end, and Message why not.
	Restored bool   `json:"restored"`
	Message  string `json:"message,omitempty"`
}

// HostReport is what a Pod that reads or changes a node's settings leaves in its termination message.
type HostReport struct {
	Version int `json:"version"`
	// Settings as they were read back last.
	Settings HostSettings `json:"settings"`
	// Problem is why not all was read or changed, in a sentence; empty if it was.
	Problem string `json:"problem,omitempty"`
}

// maxHostReport bounds a report in bytes.
const maxHostReport = 3 << 10

// EncodeHostReport is a report as it stands in a termination message.
func EncodeHostReport(r HostReport) ([]byte, error) {
	r.Version, r.Problem = HostReportVersion, Truncate(r.Problem, 1024)
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding the report about the node: %w", err)
	}
	if len(data) > maxHostReport {
		return nil, fmt.Errorf("the report about the node has %d bytes; at most %d are allowed", len(data), maxHostReport)
	}
	return data, nil
}

// DecodeHostReport reads a termination message.
func DecodeHostReport(message string) (*HostReport, error) {
	if len(message) > maxHostReport {
		return nil, fmt.Errorf("the report about the node has %d bytes; at most %d are allowed", len(message), maxHostReport)
	}
	var r HostReport
	if err := json.Unmarshal([]byte(message), &r); err != nil {
		return nil, fmt.Errorf("reading the report about the node: %w", err)
	}
	if r.Version != HostReportVersion {
		return nil, fmt.Errorf("the report about the node has version %d, this program reads %d", r.Version, HostReportVersion)
	}
	return &r, nil
}
