// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

// TableLoad is how a table was loaded in the measured phase.
type TableLoad struct {
	Name string `json:"name"`
	// Rows that the server says it wrote, Bytes of text that were sent to it.
	Rows  int64 `json:"rows"`
	Bytes int64 `json:"bytes"`
	// Statements that it took, and the sum of their warnings, which are 0 in a result.
	Statements int64 `json:"statements"`
	Warnings   int64 `json:"warnings"`
	// StartMicros is when its first statement was sent; Micros the time from then until its last one was answered.
	StartMicros int64 `json:"startMicros"`
	Micros      int64 `json:"micros"`
	// FileSHA256 is the hexadecimal digest of the file that it was loaded from, if there was one.
	FileSHA256 string `json:"fileSHA256,omitempty"`
}
