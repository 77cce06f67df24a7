// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/benchrun-dev/benchrun/internal/result"
)

var (
	// What the client libraries of the engines say, with the number that sysbench puts before it.
	lostConnection = regexp.MustCompile(`(?:error|errno =) (?:2013|2006)|Lost connection|has gone away|` +
		`server closed the connection|terminating connection|no connection to the server`)
	tooManyConnections = regexp.MustCompile(`(?:error|errno =) (?:1040|1203)|Too many connections|` +
		`too many clients already|remaining connection slots`)
)

// Connecting is an error of a program, which is ErrConnectionLost or ErrTooManyConnections too if its text says so in the words
// of an engine's client library.
func Connecting(err error) error {
	switch text := err.Error(); {
	case lostConnection.MatchString(text):
		return errors.Join(err, ErrConnectionLost)
	case tooManyConnections.MatchString(text):
		return errors.Join(err, ErrTooManyConnections)
	}
	return err
}

// Agree checks that the server has counted in slices what a program with so many clients sent: to two parts in a hundred, and
// four statements of each client.
func (s *Slices) Agree(sent int64, clients int32) result.Check {
	const part, each = 0.02, 4
	return result.Check{
		Name: "slices", Passed: math.Abs(float64(s.Statements-sent)) <= part*float64(sent)+each*float64(clients),
		Detail: fmt.Sprintf("%d queries sent, %d counted by the server in slices", sent, s.Statements),
	}
}

// LibpqHost is what a program that uses PostgreSQL's client library takes as the host: the folder of the socket, if there is one.
func LibpqHost(s *result.Server) string {
	if s.Socket != "" {
		return filepath.Dir(s.Socket)
	}
	return s.Host
}

// LibpqEnv are the environment variables by which a program that uses PostgreSQL's client library reaches the workload's schema,
// as the loader itself does: by its search path, under a name by which its sessions are found, encrypted or not. One is a secret.
func LibpqEnv(s *result.Server, password string) []string {
	mode := "disable"
	switch s.TLS {
	case result.TLSRequired:
		mode = "require"
	case result.TLSVerifyIdentity:
		mode = "verify-full"
	}
	env := []string{
		"PGPASSWORD=" + password, "PGOPTIONS=-c search_path=" + s.Schema, "PGAPPNAME=benchrun-loader " + s.Schema,
		"PGSSLMODE=" + mode, "PGCONNECT_TIMEOUT=10",
	}
	if s.CAFile != "" {
		env = append(env, "PGSSLROOTCERT="+s.CAFile)
	}
	return env
}

const (
	minLatencyMicros, significantDigits = 1, 3
	// MaxLatencyMicros is the highest latency that a histogram tells apart, in microseconds; what is above it counts as it.
	MaxLatencyMicros = 3600 * 1000 * 1000
)

// NewHistogram is one of latencies in microseconds, with the same bounds everywhere, so that any two can be merged.
func NewHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(minLatencyMicros, MaxLatencyMicros, significantDigits)
}

// WithinHistogram is a latency in microseconds as histograms take it: they refuse nothing else.
func WithinHistogram(micros int64) int64 { return min(max(micros, minLatencyMicros), MaxLatencyMicros) }

// LatencyOf an operation is what a result says of a histogram of it.
func LatencyOf(operation string, h *hdrhistogram.Histogram) (result.Latency, error) {
	encoded, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return result.Latency{}, fmt.Errorf("encoding the latencies of %s: %w", operation, err)
	}
	return result.Latency{
		Operation: operation, Count: h.TotalCount(), MinMicros: h.Min(), MeanMicros: int64(h.Mean() + 0.5), MaxMicros: h.Max(),
		P50Micros: h.ValueAtQuantile(50), P95Micros: h.ValueAtQuantile(95),
		P99Micros: h.ValueAtQuantile(99), P999Micros: h.ValueAtQuantile(99.9), Histogram: string(encoded),
	}, nil
}
