// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// maxHistogramDigits bounds the significant digits of a histogram, and with them its size in memory, which does not depend on how
// long its text is: 0.5 MB with 3 digits, as the loader writes them, and more than 50 MB with 5.
const maxHistogramDigits = 3

var errHistogramTooLarge = errors.New("the histogram has too many significant digits")

// DecodeHistogram reads a histogram in the HdrHistogram V2 encoding, base64, that somebody else may have written.
func DecodeHistogram(text string) (*hdrhistogram.Histogram, error) {
	const (
		outerHeader = 8 // a cookie, and the length of what follows, which is compressed
		toDigits    = 12
	)
	encoded := base64.NewDecoder(base64.StdEncoding, strings.NewReader(text))
	if _, err := io.CopyN(io.Discard, encoded, outerHeader); err != nil {
		return nil, fmt.Errorf("reading a histogram: %w", err)
	}
	header, err := zlib.NewReader(encoded)
	if err != nil {
		return nil, fmt.Errorf("reading a histogram: %w", err)
	}
	var start [toDigits + 4]byte
	if _, err := io.ReadFull(header, start[:]); err != nil {
		return nil, fmt.Errorf("reading a histogram: %w", err)
	}
	if binary.BigEndian.Uint32(start[toDigits:]) > maxHistogramDigits {
		return nil, errHistogramTooLarge
	}
	return hdrhistogram.Decode([]byte(text))
}
