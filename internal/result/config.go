// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// ConfigVersion is the version of Config that this package writes and reads.
const ConfigVersion = 2

// Names of environment variables through which a loader Pod is told what to do and who it is. Whatever differs between
// two runs of one specification comes by these, so that Config itself is the same for both.
const (
	// EnvConfig holds the Config as JSON.
	EnvConfig = "BENCHRUN_CONFIG"
	// EnvRunUID holds the UID of the BenchmarkRun.
	EnvRunUID = "BENCHRUN_RUN_UID"
	// EnvPodUID holds the UID of the Pod.
	EnvPodUID = "BENCHRUN_POD_UID"
	// EnvPodName holds the name of the Pod.
	EnvPodName = "BENCHRUN_POD_NAME"
	// EnvPodIndex holds which of several Pods this is, from 0. The Job's controller sets it.
	EnvPodIndex = "JOB_COMPLETION_INDEX"
	// EnvNode holds the name of the node.
	EnvNode = "BENCHRUN_NODE"
	// EnvCPULimitMillis holds the container's CPU limit in thousandths of a CPU; 0 or unset is no limit.
	EnvCPULimitMillis = "BENCHRUN_CPU_LIMIT_MILLIS"
)

// Config is what the operator asks of one loader Pod. It carries no secret: credentials are files.
type Config struct {
	Version   int    `json:"version"`
	Namespace string `json:"namespace"`
	Run       string `json:"run"`
	// Trial and Attempt count from 1.
	Trial   int `json:"trial"`
	Attempt int `json:"attempt"`
	// Metric is the headline: reported first. Empty is the workload's own.
	Metric string `json:"metric,omitempty"`
	// Parameters are the swept parameters of the trial's point; the Workload below already has them applied.
	Parameters map[string]string `json:"parameters,omitempty"`
	// Seed of the data: row n is a function of Seed and n, whatever the trial.
	Seed int64 `json:"seed"`
	// Server is where to connect.
	Server Server `json:"server"`
	// Sides are measured in turns by this loader: each of them is a Config by itself, whose Server, Settings and Workload stand
	// there and not here. None if this is measured alone.
	Sides *Sides `json:"sides,omitempty"`
	// Settings are read back from the server before anything is measured, sorted by name.
	Settings []Setting `json:"settings,omitempty"`
	Workload Workload  `json:"workload"`
	// Pods make the load together; 0 is one. Pod is which of them this is, from 0: the environment says.
	Pods int `json:"pods,omitempty"`
	Pod  int `json:"-"`
	// Scratch is an empty directory for files; empty if there is none.
	Scratch string `json:"scratch,omitempty"`
	// KeepData leaves the workload's data for the next trial, and uses those of the trial before.
	KeepData bool `json:"keepData,omitempty"`
	// CopyData has the observer put a copy of the prepared data aside, with which further servers begin.
	CopyData bool `json:"copyData,omitempty"`
	// DataSeed is the seed of the data that are prepared; nil is Seed.
	DataSeed *int64 `json:"dataSeed,omitempty"`
	// LimitSeconds ends the measured phase; 0 is no limit.
	LimitSeconds int `json:"limitSeconds,omitempty"`
	// PrimeSeconds is for how long at most the load is made before, without being measured; 0 is not at all.
	PrimeSeconds int `json:"primeSeconds,omitempty"`
	// ErrorPercent of all transactions may be rolled back and tried again; with more, the attempt fails.
	ErrorPercent int `json:"errorPercent"`
	// ConnectSeconds is how long the server may take to answer.
	ConnectSeconds int `json:"connectSeconds"`
}

// SeedOfData is the seed of the data that are prepared before anything is measured.
func (c *Config) SeedOfData() int64 {
	if c.DataSeed != nil {
		return *c.DataSeed
	}
	return c.Seed
}

// Server is a database server's address. The files hold a password or user name each, without a line break at the end.
type Server struct {
	Engine string `json:"engine"`
	Host   string `json:"host"`
	Port   int    `json:"port"`
	// Socket is the path of the server's Unix socket, by which to connect instead; empty if there is none.
	Socket       string `json:"socket,omitempty"`
	UserFile     string `json:"userFile"`
	PasswordFile string `json:"passwordFile"`
	// Schema that the workload's tables are made in.
	Schema string `json:"schema"`
	// Borrowed servers are there before the run and after it: what was made on them is removed again.
	Borrowed bool `json:"borrowed,omitempty"`
	// TLS is empty for connections that are not encrypted, or one of the TLS constants.
	TLS string `json:"tls,omitempty"`
	// CAFile has the certificates, in PEM, of the authorities to trust; empty trusts those of the system.
	CAFile string `json:"caFile,omitempty"`
	// ObserverPort is where the observer answers, on the same host; 0 if there is none.
	ObserverPort int `json:"observerPort,omitempty"`
}

const (
	// TLSRequired: encrypted, whatever server it is.
	TLSRequired = "Required"
	// TLSVerifyIdentity: encrypted, and the server's certificate is for its host and by a trusted authority.
	TLSVerifyIdentity = "VerifyIdentity"
)

// Setting is a server variable as it was asked for.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Loose settings may be unknown to the server, and are then recorded as ignored.
	Loose bool `json:"loose,omitempty"`
}

// Workload is what kind of load to make, and how.
type Workload struct {
	// Type is the workload's name in the API.
	Type string `json:"type"`
	// Parameters are those of the workload's member in the API at this point, without its sweep and points. The workload of that
	// type reads them; no other code knows what they are.
	Parameters json.RawMessage `json:"parameters,omitempty"`
	// Data are files to load instead of generated rows; nil if there are none.
	Data *Data `json:"data,omitempty"`
	// SchemaFile is the path of SQL that makes the tables instead of the workload's own statements; empty if there is none.
	SchemaFile string `json:"schemaFile,omitempty"`
	// FilesPath is the folder with the user's own files for the workload, for example a script; empty if there are none.
	FilesPath string `json:"filesPath,omitempty"`
}

// ParseConfig reads a Config strictly: an unknown field or another version is an error, because a loader that leaves out
// part of what it was asked measures something else.
func ParseConfig(data []byte) (*Config, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var c Config
	if err := dec.Decode(&c); err != nil {
		return nil, fmt.Errorf("reading the loader's configuration: %w", err)
	}
	if c.Version != ConfigVersion {
		return nil, fmt.Errorf("the loader's configuration has version %d, this loader reads %d: "+
			"use the loader image of the operator's release", c.Version, ConfigVersion)
	}
	return &c, nil
}

// Folders in a loader's Pod that the operator and the loader agree on.
const (
	// DataPath has the claim with the user's data, read-only.
	DataPath = "/data"
	// SchemaPath has the user's SQL that makes the tables, read-only.
	SchemaPath = "/etc/benchrun/schema"
	// FilesPath has the user's files for the workload, read-only.
	FilesPath = "/etc/benchrun/files"
	// SocketPath has the server's Unix socket, read-only.
	SocketPath = "/run/benchrun-socket"
	// WorkPath is in memory, for files that a program is started with.
	WorkPath = "/run/benchrun"
	// ToolPath is where the loader is copied to in an image that is not its own.
	ToolPath = "/benchrun"
)

// Data are files of the user's that a workload loads in place of rows of its own.
type Data struct {
	// Claim is the PersistentVolumeClaim's name, Root the folder where it is mounted.
	Claim string `json:"claim,omitempty"`
	Root  string `json:"root"`
	// Path of the file, or of the folder with the files, within Root.
	Path string `json:"path"`
	// Format of a file of rows: TSV, empty for TSV, or CSV. Files of TPROCHLoad have HammerDB's.
	Format string `json:"format,omitempty"`
	// Separator of fields, one character; empty is a tab for TSV and a comma for CSV.
	Separator string `json:"separator,omitempty"`
	// EmptyIs is what an empty field is: EmptyString, empty for EmptyString, or NULL.
	EmptyIs string `json:"emptyIs,omitempty"`
	// HeaderLines are how many records at the beginning are no rows.
	HeaderLines int64 `json:"headerLines,omitempty"`
	// Table that the rows go to; empty is the workload's own. Columns are those of the fields, in their order; empty are all
	// that the table has.
	Table   string   `json:"table,omitempty"`
	Columns []string `json:"columns,omitempty"`
}

const (
	// DataTSV is the format of SELECT … INTO OUTFILE.
	DataTSV = "TSV"
	// DataCSV is the format of RFC 4180.
	DataCSV = "CSV"
	// EmptyIsText makes an empty field an empty string.
	EmptyIsText = "EmptyString"
	// EmptyIsNull makes an empty field NULL.
	EmptyIsNull = "NULL"
)

// DurationMetric is the name of how long the measured phase took. No loader reports it: it follows from the totals.
const DurationMetric = "durationSeconds"

// RowsMetric is the name of how many rows were inserted, as far as the workload counts rows: an attempt whose rows the server
// counts differently does not count. No loader reports it, either.
const RowsMetric = "insertedRows"

// Metric of an attempt by its name; an empty name is that of the first one. Percentiles of latencies have the names of their
// columns in results.csv, for example insertP99Micros. It says whether there is one.
func (s *Summary) Metric(name string) (Metric, bool) {
	i := slices.IndexFunc(s.Metrics, func(m Metric) bool { return name == "" || m.Name == name })
	switch {
	case i >= 0:
		return s.Metrics[i], true
	case name == DurationMetric && s.Totals.Micros > 0:
		return Metric{Name: name, Value: float64(s.Totals.Micros) / 1e6, Unit: "s", Better: "lower"}, true
	case name == RowsMetric && s.Totals.Rows > 0:
		return Metric{Name: name, Value: float64(s.Totals.Rows), Unit: "rows", Better: "higher"}, true
	}
	for _, l := range s.Latencies {
		of, found := strings.CutPrefix(name, l.Operation)
		value, known := l.Percentiles()[of]
		if found && known && l.Count > 0 {
			return Metric{Name: name, Value: float64(value), Unit: "µs", Better: "lower"}, true
		}
	}
	return Metric{}, false
}

// Lead puts the metric of that name first, the headline; the one that was first is shown beside it. The error says which metrics
// there are.
func (d *Document) Lead(name string) error {
	s := Summary{Metrics: d.Metrics, Totals: d.Totals, Latencies: d.Latencies}
	lead, found := s.Metric(name)
	if !found {
		return fmt.Errorf("metric: %s was not measured; there are %s", name, strings.Join(s.metricNames(), ", "))
	}
	lead.Shown = false
	list := []Metric{lead}
	for i, m := range d.Metrics {
		if m.Shown = m.Shown || i == 0; m.Name != name {
			list = append(list, m)
		}
	}
	d.Metrics = list
	return nil
}

func (s *Summary) metricNames() []string {
	names := []string{DurationMetric}
	if s.Totals.Rows > 0 {
		names = append(names, RowsMetric)
	}
	for _, m := range s.Metrics {
		names = append(names, m.Name)
	}
	for i := range s.Latencies {
		if l := &s.Latencies[i]; l.Count > 0 {
			for column := range l.Percentiles() {
				names = append(names, l.Operation+column)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// IsLatency says whether a metric is a percentile of a latency, or its maximum.
func IsLatency(metric string) bool {
	for column := range new(Latency).Percentiles() {
		if strings.HasSuffix(metric, column) {
			return true
		}
	}
	return false
}

// Percentiles by what the columns of results.csv have behind the name of the operation.
func (l *Latency) Percentiles() map[string]int64 {
	return map[string]int64{
		"P50Micros": l.P50Micros, "P95Micros": l.P95Micros, "P99Micros": l.P99Micros, "P999Micros": l.P999Micros,
		"MaxMicros": l.MaxMicros,
	}
}
