// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	// Parameters are the swept parameters of the trial's point; the Workload below already has them applied.
	Parameters map[string]string `json:"parameters,omitempty"`
	// Seed of the data: row n is a function of Seed and n, whatever the trial.
	Seed int64 `json:"seed"`
	// Server is where to connect.
	Server Server `json:"server"`
	// Turns that are taken with other variants while all are measured; nil if this is measured alone.
	Turns *Turns `json:"turns,omitempty"`
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

// Turns say how the loaders of several variants take turns.
type Turns struct {
	// Host and Port of the observer that gives the turns, and the file with the password that it knows.
	Host         string `json:"host"`
	Port         int    `json:"port"`
	PasswordFile string `json:"passwordFile"`
	// Variants that take turns, at least 2; Place is which of them this is, from 0.
	Variants int `json:"variants"`
	Place    int `json:"place"`
	// Seed of the order of the turns, and of their lengths.
	Seed int64 `json:"seed"`
	// SliceMilliseconds is the mean length of a turn, at least 1.
	SliceMilliseconds int64 `json:"sliceMilliseconds"`
}

const (
	// TLSRequired: encrypted, whoever the server is.
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
	// type reads them; nobody else knows what they are.
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
