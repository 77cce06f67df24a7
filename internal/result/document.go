// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package result is what crosses the border of the loader's Pod: the configuration that goes in, and the result that comes
// out, as a model, on the wire, and as the data of a ConfigMap.
//
// Units stand in the names: Micros are microseconds by the loader's monotonic clock, Bytes are bytes. The zero of every
// offset is the start of the measured phase. Counts and histograms of several Pods may be added; percentiles may not be
// averaged, and wall clocks of two nodes may not be subtracted.
//
// The way out has two lanes. The termination message of the container carries a Summary of at most 3 KiB, on every exit
// path; the log carries the whole Document between markers. The Summary has the Document's checksum, so that a result
// counts only if both arrived.
//
// The package uses the standard library only: it is linked into the operator, the loader and the kubectl plugin alike.
package result

import (
	"time"

	"github.com/benchrun-dev/benchrun/internal/finding"
)

// DocumentVersion is the version of Document and Summary that this package writes and reads.
const DocumentVersion = 1

// Document is everything that one loader Pod knows about one attempt.
type Document struct {
	Version    int         `json:"version"`
	Identity   Identity    `json:"identity"`
	Config     Config      `json:"config"`
	Phases     []Phase     `json:"phases"`
	Totals     Totals      `json:"totals"`
	Metrics    []Metric    `json:"metrics"`
	Latencies  []Latency   `json:"latencies,omitempty"`
	Series     []Interval  `json:"series,omitempty"`
	Milestones []Milestone `json:"milestones,omitempty"`
	// Stages are what was measured, if the workload has several stages. The document then has the sums of their totals, the time
	// from the beginning of the first to the end of the last, and no metrics, latencies and series besides.
	Stages []Stage `json:"stages,omitempty"`
	// Stage is the name of the stage that this is about; empty for a whole attempt, and in what is written down.
	Stage string `json:"-"`
	// Inputs are the files that the run brought along.
	Inputs []Input `json:"inputs,omitempty"`
	// Tables are how a workload that loads tables loaded each, in the order of their first statements.
	Tables []TableLoad `json:"tables,omitempty"`
	Server ServerFacts `json:"server"`
	// Client is what all loader Pods consumed together. Pods are what each did, if there were several.
	Client ClientFacts `json:"client"`
	Pods   []PodFacts  `json:"pods,omitempty"`
	// Observed is what the observer in the database's Pod saw; nil if there is none, or if it did not answer.
	Observed *Observed `json:"observed,omitempty"`
	// Sides are what was measured of each variant, in the order of the configuration; nil if this was measured alone. What they have
	// stands nowhere else.
	Sides []SideDocument `json:"sides,omitempty"`
	// Turns are those that were taken with other variants; nil if this was measured alone.
	Turns  *TurnFacts `json:"turns,omitempty"`
	Checks []Check    `json:"checks"`
	// Findings are what must be read with the numbers.
	Findings []finding.Finding `json:"findings,omitempty"`
	// Tool is the program that made the load, if it was not the loader itself. ToolOutput is what it printed, by phase; of the
	// loader's own statements, how the server said that it would execute each.
	Tool       *ToolFacts        `json:"tool,omitempty"`
	ToolOutput map[string]string `json:"toolOutput,omitempty"`
}

// Identity says whose result this is. A result whose identity is not that of the Pod it came from does not count.
type Identity struct {
	RunUID  string `json:"runUID"`
	Trial   int    `json:"trial"`
	Attempt int    `json:"attempt"`
	PodUID  string `json:"podUID"`
	PodName string `json:"podName"`
	Node    string `json:"node"`
	// Pod is which of several Pods this is, counted from 0.
	Pod int `json:"pod,omitempty"`
	// Loader is the loader's version.
	Loader string `json:"loader"`
	// Started is the wall-clock time at which the loader started, for people; durations never come from it.
	Started time.Time `json:"started"`
	// Ended is Started plus the monotonic time since.
	Ended time.Time `json:"ended"`
}

// TurnFacts are the turns of a measured phase.
type TurnFacts struct {
	// Slices of the measured phase, and what counts of each of the first MaxSlices.
	Slices int     `json:"slices"`
	Each   []Slice `json:"each,omitempty"`
	// Micros from the first turn of all variants to the end of the last one of this: the time of the others with it.
	Micros int64 `json:"micros"`
	// Outside is what the load did besides: while it came to its steady state, and after a slice's end was asked for. It is in no
	// rate. LongestDrainMicros is the longest time that transactions under way at a slice's end took to end.
	Outside            Totals `json:"outside,omitzero"`
	LongestDrainMicros int64  `json:"longestDrainMicros,omitempty"`
	// PagesInPauses are those that the server wrote back while others had their turns; nil if that is not known.
	PagesInPauses *int64 `json:"pagesInPauses,omitempty"`
	// Idle is what the server's process used then; nil if that is not known.
	Idle *Idle `json:"idle,omitempty"`
}

// MaxSlices is of how many slices a document has each.
const MaxSlices = 1000

// Slice is what counts of one: for so long, so much was done.
type Slice struct {
	Micros     int64 `json:"micros"`
	Statements int64 `json:"statements"`
	Rows       int64 `json:"rows,omitempty"`
}

// Idle is what a server used in so much time in which others were measured.
type Idle struct {
	Micros    int64 `json:"micros"`
	CPUMicros int64 `json:"cpuMicros"`
	// BytesWritten were written to disks, or will be.
	BytesWritten int64 `json:"bytesWritten"`
}

// Phase is one part of the loader's work: connect, readback, prepare, quiesce, measure, verify, and what a workload does
// besides, for example stage before quiesce, warmup before measure, and index before verify. With stages, there is a phase of
// each stage's name in place of measure.
type Phase struct {
	Name   string `json:"name"`
	Micros int64  `json:"micros"`
}

// StoppedBy says what ended the measured phase.
type StoppedBy string

const (
	// StoppedByRows: all rows were written, or all events done.
	StoppedByRows StoppedBy = "Rows"
	// StoppedBySeconds: the time limit came first.
	StoppedBySeconds StoppedBy = "Seconds"
)

// Totals are the measured phase's sums. The intervals of the series add up to them.
type Totals struct {
	Rows         int64 `json:"rows"`
	Transactions int64 `json:"transactions"`
	Statements   int64 `json:"statements"`
	// Bytes of text that were sent with LOAD DATA.
	Bytes int64 `json:"bytes,omitempty"`
	// RowsDeleted and Queries are of workloads that delete and query beside what they insert.
	RowsDeleted int64 `json:"rowsDeleted,omitempty"`
	Queries     int64 `json:"queries,omitempty"`
	// Errors are transactions that were rolled back, because of a deadlock, a lock wait timeout or a row that another one had
	// changed, and tried again. Transactions does not count them.
	Errors    int64     `json:"errors,omitempty"`
	Micros    int64     `json:"micros"`
	StoppedBy StoppedBy `json:"stoppedBy"`
}

// Work is all that the load did in its measured phase, also what is in no rate, and for how long: what things cost is of that.
func (d *Document) Work() Totals {
	all := d.Totals
	if d.Turns != nil {
		all.Add(&d.Turns.Outside)
		all.Micros += d.Turns.Outside.Micros
	}
	return all
}

// ErrorRate is the part of all transactions that was rolled back. Where there are no transactions, each row is one.
func (t *Totals) ErrorRate() Metric {
	succeeded := t.Transactions
	if succeeded == 0 {
		succeeded = t.Rows
	}
	share := 100 * float64(t.Errors) / float64(max(t.Errors+succeeded, 1))
	return Metric{Name: "errorPercent", Value: share, Unit: "%", Better: "lower"}
}

// Metric is one number that people compare.
type Metric struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Better is "higher" or "lower".
	Better string `json:"better"`
	// Part of the work that it is of, for example a table's name; empty for the whole.
	Part string `json:"part,omitempty"`
	// Shown metrics stand beside the headline wherever people look first.
	Shown bool `json:"shown,omitempty"`
}

// Latency is the distribution of one kind of operation, in microseconds to three significant digits.
type Latency struct {
	// Operation, for example commit or insert.
	Operation  string `json:"operation"`
	Count      int64  `json:"count"`
	MinMicros  int64  `json:"minMicros"`
	MeanMicros int64  `json:"meanMicros"`
	P50Micros  int64  `json:"p50Micros"`
	P90Micros  int64  `json:"p90Micros,omitempty"`
	P95Micros  int64  `json:"p95Micros"`
	P99Micros  int64  `json:"p99Micros"`
	P999Micros int64  `json:"p999Micros"`
	MaxMicros  int64  `json:"maxMicros"`
	// Histogram is the whole distribution in the HdrHistogram V2 encoding, base64: what may be merged.
	Histogram string `json:"histogram,omitempty"`
}

// Interval is one stretch of the measured phase.
type Interval struct {
	// EndMicros since the measured phase began.
	EndMicros    int64 `json:"endMicros"`
	Rows         int64 `json:"rows"`
	Transactions int64 `json:"transactions"`
	// Bytes of text that were sent with LOAD DATA; Rows are then those that were sent with them.
	Bytes       int64 `json:"bytes,omitempty"`
	RowsDeleted int64 `json:"rowsDeleted,omitempty"`
	Queries     int64 `json:"queries,omitempty"`
	Errors      int64 `json:"errors,omitempty"`
	// MaxMicros is the longest latency of any operation that ended in the interval: where stalls show.
	MaxMicros int64 `json:"maxMicros"`
	// PercentileMicros is the percentile of latencies that a tool reports for the interval; 0 if nothing ended in it.
	PercentileMicros int64 `json:"percentileMicros,omitempty"`
}

// Milestone is a point of the measured phase after a number of rows.
type Milestone struct {
	// Rows inserted so far, and when the statement with the last of them was answered.
	Rows   int64 `json:"rows"`
	Micros int64 `json:"micros"`
	// RowsPerSecond since the milestone before, and since the measured phase began.
	RowsPerSecond        float64 `json:"rowsPerSecond"`
	OverallRowsPerSecond float64 `json:"overallRowsPerSecond"`
	// TableBytes and IndexBytes are what the server said soon after: the table with its primary key, and the secondary
	// indexes. InnoDB counts both now and then only. -1 is unknown.
	TableBytes int64 `json:"tableBytes"`
	IndexBytes int64 `json:"indexBytes"`
}

// ServerFacts are what the server says of itself.
type ServerFacts struct {
	Version        string `json:"version"`
	VersionComment string `json:"versionComment,omitempty"`
	// Variables are SHOW GLOBAL VARIABLES as the measured phase began.
	Variables map[string]string `json:"variables"`
	// Session are those variables that the measuring sessions have otherwise than Variables.
	Session map[string]string `json:"session,omitempty"`
	// Encryption of the measuring sessions as the server names it, for example "TLSv1.3 TLS_AES_256_GCM_SHA384"; empty is none.
	Encryption string `json:"encryption,omitempty"`
	// SettingsDigest is of Variables without state and identity.
	SettingsDigest string `json:"settingsDigest"`
	// Settings are the requested ones, compared.
	Settings []AppliedSetting `json:"settings,omitempty"`
	// StatusBefore and StatusAfter are SHOW GLOBAL STATUS around the measured phase.
	StatusBefore map[string]string `json:"statusBefore"`
	StatusAfter  map[string]string `json:"statusAfter"`
	// UptimeSeconds of the server at the end of what was measured, by its own clock.
	UptimeSeconds int64 `json:"uptimeSeconds"`
	// WorkingSet is nil if it is not known.
	WorkingSet *WorkingSet `json:"workingSet,omitempty"`
}

// WorkingSet is how much there was for a server's caches to hold.
type WorkingSet struct {
	// BufferPoolBytes of pages were in the buffer pool after the measured phase, and RedoLogBytes were written in it.
	BufferPoolBytes int64 `json:"bufferPoolBytes"`
	RedoLogBytes    int64 `json:"redoLogBytes"`
}

// SettingOutcome says how a requested setting fared.
type SettingOutcome string

const (
	// SettingEffective: the server runs with the value that was asked for.
	SettingEffective SettingOutcome = "Effective"
	// SettingAdjusted: the server rounded it.
	SettingAdjusted SettingOutcome = "Adjusted"
	// SettingIgnored: the server does not know it, and it was marked loose_.
	SettingIgnored SettingOutcome = "Ignored"
	// SettingNotVerifiable: the server was started with it, and has no variable that shows it.
	SettingNotVerifiable SettingOutcome = "NotVerifiable"
	// SettingRefused: the value is another one, or the variable does not exist.
	SettingRefused SettingOutcome = "Refused"
)

// AppliedSetting is a requested setting beside what the server made of it.
type AppliedSetting struct {
	Name      string         `json:"name"`
	Requested string         `json:"requested"`
	Effective string         `json:"effective,omitempty"`
	Outcome   SettingOutcome `json:"outcome"`
}

// ClientFacts are what making the load cost: a client near its limit measures itself.
type ClientFacts struct {
	// UserMicros and SystemMicros are CPU time in the measured phase.
	UserMicros   int64 `json:"userMicros"`
	SystemMicros int64 `json:"systemMicros"`
	// CPULimitMillis is the container's limit in thousandths of a CPU; 0 is none.
	CPULimitMillis int64 `json:"cpuLimitMillis,omitempty"`
	// CPUs that the loader saw.
	CPUs int `json:"cpus"`
	// ThrottledMicros is the time for which the container was held back at its CPU limit in the measured phase; -1 is unknown.
	ThrottledMicros int64 `json:"throttledMicros"`
	MaxRSSBytes     int64 `json:"maxRSSBytes"`
	// LateAnswers are answers to inserts that came while the next statement was made, at an unknown time: these latencies last
	// until it was made. 0 where the kernel says when an answer came.
	LateAnswers int64 `json:"lateAnswers,omitempty"`
}

// PodFacts are one of several loader Pods' part of the measured phase.
type PodFacts struct {
	// Pod counts from 0.
	Pod     int    `json:"pod"`
	PodUID  string `json:"podUID"`
	PodName string `json:"podName"`
	Node    string `json:"node"`
	// Clients are its connections.
	Clients      int   `json:"clients"`
	Rows         int64 `json:"rows"`
	Transactions int64 `json:"transactions"`
	// WarmupRows were inserted before the measured phase, and are not in Rows.
	WarmupRows int64 `json:"warmupRows,omitempty"`
	// Micros from the start that all Pods had in common to the end of this one's last statement.
	Micros int64       `json:"micros"`
	Client ClientFacts `json:"client"`
}

// Check is something that must hold for the result to count.
type Check struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Detail string `json:"detail,omitempty"`
}

// Summary is what a termination message has room for: either the numbers, or the reason why there are none.
type Summary struct {
	Version  int      `json:"version,omitempty"`
	Identity Identity `json:"identity,omitzero"`
	// Failure says why there is no result; nil if there is one.
	Failure *Failure `json:"failure,omitempty"`
	// Delivered says that this Pod's part is in the result of the Pod that leads.
	Delivered bool `json:"delivered,omitempty"`
	// DocumentSHA256 is the hexadecimal digest of the Document as it stands in the log, compressed; DocumentBytes its size.
	DocumentSHA256 string    `json:"documentSHA256,omitempty"`
	DocumentBytes  int64     `json:"documentBytes,omitempty"`
	Totals         Totals    `json:"totals,omitzero"`
	Metrics        []Metric  `json:"metrics,omitempty"`
	Latencies      []Latency `json:"latencies,omitempty"`
	// Stages are the document's, which alone has them: a termination message has no room.
	Stages         []StageSummary    `json:"stages,omitempty"`
	ServerVersion  string            `json:"serverVersion,omitempty"`
	SettingsDigest string            `json:"settingsDigest,omitempty"`
	Findings       []finding.Finding `json:"findings,omitempty"`
	// Observed is nil if nothing is known.
	Observed *ObservedSummary `json:"observed,omitempty"`
	// WorkingSet is nil if it is not known.
	WorkingSet *WorkingSet `json:"workingSet,omitempty"`
	// Inputs are the document's; more than MaxSummaryInputs are one, see there.
	Inputs []Input `json:"inputs,omitempty"`
	// Sides are the document's, as Stages are.
	Sides []SideSummary `json:"sides,omitempty"`
	// Stage is the name of the stage that this summarizes; empty for a whole attempt, and in what is written down.
	Stage string `json:"-"`
}

// Failure says why there is no result. Its reason is one of the causes that a loader reports.
type Failure struct {
	Reason Cause `json:"reason"`
	// Message is a sentence for people, in the server's own words where it had any; at most 1 KiB, and no secret.
	Message string `json:"message"`
}
