// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"fmt"
	"slices"
	"strings"
)

// ObservationVersion is the version of Observation.
const ObservationVersion = 1

// Observation is an answer of the observer, which runs beside a server and sees what the server cannot say of itself.
type Observation struct {
	Version int `json:"version"`
	// Process is the server's, or nil if there is none.
	Process *ProcessFacts `json:"process,omitempty"`
	// Probe is what was asked for with it, or nil.
	Probe *NodeProbe `json:"probe,omitempty"`
}

// ProcessFacts are what the kernel says of a server's process since it was started. A number that cannot be read is -1.
type ProcessFacts struct {
	// Process is its number and when it was started: two readings are of the same process if this is the same.
	Process string `json:"process"`
	// UserMicros and SystemMicros are CPU time, which the kernel counts in hundredths of a second.
	UserMicros   int64 `json:"userMicros"`
	SystemMicros int64 `json:"systemMicros"`
	// ReadBytes and WriteBytes were read from and written to disks, or will be: the kernel counts a write when a page
	// becomes dirty.
	ReadBytes  int64 `json:"readBytes"`
	WriteBytes int64 `json:"writeBytes"`
	// ReadCalls and WriteCalls are system calls like read and pwrite. The network's own calls and asynchronous I/O are not
	// among them.
	ReadCalls  int64 `json:"readCalls"`
	WriteCalls int64 `json:"writeCalls"`
	// MinorFaults and MajorFaults of pages; the major ones waited for a disk.
	MinorFaults int64 `json:"minorFaults"`
	MajorFaults int64 `json:"majorFaults"`
	// VoluntarySwitches and InvoluntarySwitches of the threads that run: those that waited, and those that had to give way.
	VoluntarySwitches   int64 `json:"voluntarySwitches"`
	InvoluntarySwitches int64 `json:"involuntarySwitches"`
	// MaxRSSBytes is the most memory that was resident.
	MaxRSSBytes int64 `json:"maxRSSBytes"`
	// CPULimitMillis is the limit of the server's container in thousandths of a CPU; 0 is none.
	CPULimitMillis int64 `json:"cpuLimitMillis"`
	// ThrottledMicros is for how long that limit held the container back, summed over the CPUs.
	ThrottledMicros int64 `json:"throttledMicros"`
	// DataBytes is the size of the files in the server's data directory; 0 is unknown.
	DataBytes int64 `json:"dataBytes,omitempty"`
	// DeviceReads and DeviceWrites are the operations that the block device of the data directory has completed, for any process
	// on the node.
	DeviceReads  int64 `json:"deviceReads"`
	DeviceWrites int64 `json:"deviceWrites"`
}

// NodeProbe is what a server's node was like for a moment: how long its disk takes until data is durable, and how much CPU
// time a fixed piece of work takes.
type NodeProbe struct {
	// Fdatasync latencies of 4 KiB on the data volume, one every two milliseconds or fewer.
	Fdatasync FsyncLatency `json:"fdatasync"`
	// CPU is the CPU time that the same work took, each time.
	CPU WorkTime `json:"cpu"`
}

// WorkTime summarises the CPU times of a fixed piece of work, in nanoseconds. Without any, they are -1.
type WorkTime struct {
	Times  int   `json:"times"`
	Median int64 `json:"median"`
	P95    int64 `json:"p95"`
}

// Observed is what the observer saw of an attempt. What is nil is unknown.
type Observed struct {
	// Probe of the node, in the quiet time before the measured phase.
	Probe *NodeProbe `json:"probe,omitempty"`
	// Before and After are the server's process around the measured phase.
	Before *ProcessFacts `json:"before,omitempty"`
	After  *ProcessFacts `json:"after,omitempty"`
}

// ObservedSummary is what a Summary has of an Observed.
type ObservedSummary struct {
	Probe *NodeProbe `json:"probe,omitempty"`
	// ThrottledMicros is for how long a CPU limit held the server back in the measured phase, summed over the CPUs; -1 is
	// unknown.
	ThrottledMicros int64 `json:"throttledMicros"`
	// CPULimitMillis is the lowest CPU limit that the server had before or after it, in thousandths of a CPU; 0 is none, -1
	// unknown.
	CPULimitMillis int64 `json:"cpuLimitMillis"`
}

// DecodeObservation reads an answer of the observer.
func DecodeObservation(data []byte) (*Observation, error) {
	return Versioned(data, "the observation", func(o *Observation) int { return o.Version }, ObservationVersion)
}

// Used is what the server's process used between Before and After. Limits and sizes are those of After. It is
// false if that is not known, or if they are not the same process.
func (o *Observed) Used() (ProcessFacts, bool) {
	if o == nil || o.Before == nil || o.After == nil || o.Before.Process != o.After.Process {
		return ProcessFacts{}, false
	}
	used, before := *o.After, o.Before.counters()
	for i, counter := range used.counters() {
		if was := *before[i]; was < 0 || *counter < was { // threads that end take their counts with them
			*counter = -1
		} else {
			*counter -= was
		}
	}
	used.CPULimitMillis = lowestLimit(o.Before.CPULimitMillis, used.CPULimitMillis)
	return used, true
}

// counters only grow while the process lives.
func (p *ProcessFacts) counters() []*int64 {
	return []*int64{
		&p.UserMicros, &p.SystemMicros, &p.ReadBytes, &p.WriteBytes, &p.ReadCalls, &p.WriteCalls, &p.MinorFaults, &p.MajorFaults,
		&p.VoluntarySwitches, &p.InvoluntarySwitches, &p.ThrottledMicros, &p.DeviceReads, &p.DeviceWrites,
	}
}

// lowestLimit of two, of which 0 is none and -1 unknown.
func lowestLimit(a, b int64) int64 {
	switch {
	case a < 0 || b < 0:
		return -1
	case a == 0 || b == 0:
		return max(a, b)
	}
	return min(a, b)
}

// Summarize is what fits into a summary; nil if nothing is known.
func (o *Observed) Summarize() *ObservedSummary {
	used, known := o.Used()
	switch {
	case known:
		return &ObservedSummary{Probe: o.Probe, ThrottledMicros: used.ThrottledMicros, CPULimitMillis: used.CPULimitMillis}
	case o != nil && o.Probe != nil:
		return &ObservedSummary{Probe: o.Probe, ThrottledMicros: -1, CPULimitMillis: -1}
	}
	return nil
}

// Throttled is the part of the measured phase for which a CPU limit held the server back, 1 at most; -1 if it is not known.
func (s *Summary) Throttled() float64 {
	if s.Observed == nil || s.Observed.ThrottledMicros < 0 || s.Totals.Micros <= 0 {
		return -1
	}
	return min(1, float64(s.Observed.ThrottledMicros)/float64(s.Totals.Micros))
}

// DataCopy is what putting a copy of prepared data aside took, or beginning with one.
type DataCopy struct {
	Bytes  int64 `json:"bytes"`
	Micros int64 `json:"micros"`
}

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
