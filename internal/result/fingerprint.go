// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"fmt"
	"slices"
	"strings"
)

// FingerprintVersion is the version of Fingerprint.
const FingerprintVersion = 1

// Unknown stands for a fact that could not be read. It is never left empty, and never zero.
const Unknown = "unknown"

// NoLimit stands for a limit that does not exist.
const NoLimit = "none"

// Fingerprint is what the probe reads of a database's node and data volume before the server starts. It travels in the
// termination message of the probe's container.
type Fingerprint struct {
	Version      int    `json:"version"`
	Kernel       string `json:"kernel"`
	CPUModel     string `json:"cpuModel"`
	CPUs         int    `json:"cpus"`
	MemoryBytes  int64  `json:"memoryBytes"`
	Filesystem   string `json:"filesystem"`
	MountOptions string `json:"mountOptions"`
	Device       string `json:"device"`
	IOScheduler  string `json:"ioScheduler"`
	// BlockIO is what limits the Pod on the disk of the data volume, or NoLimit; empty in records of older versions.
	BlockIO              string `json:"blockIO,omitempty"`
	Swappiness           string `json:"swappiness"`
	TransparentHugePages string `json:"transparentHugePages"`
	CPUGovernor          string `json:"cpuGovernor"`
	// FdatasyncMicros are latencies of a 4 KiB overwrite with fdatasync on the data volume.
	FdatasyncMicros FsyncLatency `json:"fdatasyncMicros"`
}

// Limited says whether something limits the Pod on the disk of the data volume.
func (f *Fingerprint) Limited() bool {
	return f.BlockIO != "" && f.BlockIO != NoLimit && f.BlockIO != Unknown
}

// FsyncLatency summarises fdatasync calls, in microseconds.
type FsyncLatency struct {
	Calls  int   `json:"calls"`
	Median int64 `json:"median"`
	// Mean is far above the median where a limit lets some calls pass at once and then makes one wait; 0 in records of older
	// versions.
	Mean int64 `json:"mean,omitempty"`
	P95  int64 `json:"p95"`
	Max  int64 `json:"max"`
}

// DecodeFingerprint reads the probe's termination message.
func DecodeFingerprint(message string) (*Fingerprint, error) {
	if len(message) > 4<<10 {
		return nil, fmt.Errorf("the fingerprint has %d bytes; at most %d are allowed", len(message), 4<<10)
	}
	return Versioned([]byte(message), "the fingerprint", func(f *Fingerprint) int { return f.Version }, FingerprintVersion)
}

// HostSettings are kernel settings of a node, in the kernel's words. Those that were not asked for are empty.
type HostSettings struct {
	Swappiness string `json:"swappiness,omitempty"`
	// IOScheduler is that of the disk below the data volume.
	IOScheduler          string `json:"ioScheduler,omitempty"`
	TransparentHugePages string `json:"transparentHugePages,omitempty"`
}

// HostReport is what a Pod that reads or changes a node's settings leaves in its termination message.
type HostReport struct {
	// Settings as they were read back last.
	Settings HostSettings `json:"settings"`
	// Problem is why not all was read or changed, in a sentence; empty if it was.
	Problem string `json:"problem,omitempty"`
}

// Input is a file that the run brought along: a script, SQL, data.
type Input struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	// Rows of a file of rows, without its header.
	Rows int64 `json:"rows,omitempty"`
	// SHA256 is the hexadecimal digest.
	SHA256 string `json:"sha256"`
}

// MaxSummaryInputs is how many inputs a summary names. More of them become one, whose digest is that of what sha256sum prints
// about all of them, sorted by name.
const MaxSummaryInputs = 3

// condense makes inputs few enough for a summary.
func condense(all []Input) []Input {
	if len(all) <= MaxSummaryInputs {
		return all
	}
	var printed strings.Builder
	one := Input{Name: fmt.Sprintf("%d files", len(all))}
	for _, in := range slices.SortedFunc(slices.Values(all), func(a, b Input) int { return strings.Compare(a.Name, b.Name) }) {
		printed.WriteString(sumLine(in.SHA256, in.Name))
		one.Bytes += in.Bytes
		one.Rows += in.Rows
	}
	one.SHA256 = Digest([]byte(printed.String()))
	return []Input{one}
}

// InputOf is a file with that content.
func InputOf(name string, content []byte) Input {
	return Input{Name: name, Bytes: int64(len(content)), SHA256: Digest(content)}
}
