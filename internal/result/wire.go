// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bounds of the wire format.
const (
	// MaxDocumentBytes is the largest compressed document; a larger one is an error in the loader, not a truncated result.
	MaxDocumentBytes = 2 << 20
	// maxDocumentExpanded bounds what a compressed document may unpack to, and maxDocumentValues how many values it has: a short
	// text like [{},{}] takes many times its length as Go values. Together they keep what decoding takes below 100 MiB.
	maxDocumentExpanded = 16 << 20
	maxDocumentValues   = 300_000
	// lineBytes of the document stand on one log line: 4 KiB in base64 with its prefix.
	lineBytes = 2952
	// MaxLogLine bounds what is read as one line of a log.
	MaxLogLine = 64 << 10
)

const (
	beginPrefix = "benchrun-document-begin "
	linePrefix  = "benchrun-document "
	endLine     = "benchrun-document-end"
)

// ErrDocumentLost is wrapped by every error of ReadDocument: the log does not hold the whole document.
var ErrDocumentLost = errors.New("the result document is incomplete")

// EncodedDocument is a Document as it travels and is stored: compressed JSON and its checksum.
type EncodedDocument struct {
	Gzip   []byte
	SHA256 string
}

// EncodeDocument compresses a document. The same document gives the same bytes.
func EncodeDocument(d *Document) (EncodedDocument, error) {
	plain, err := json.Marshal(d)
	if err != nil {
		return EncodedDocument{}, fmt.Errorf("encoding the result document: %w", err)
	}
	if len(plain) > maxDocumentExpanded || Values(plain) > maxDocumentValues {
		return EncodedDocument{}, fmt.Errorf("the result document has %d bytes and %d values; at most %d and %d are allowed",
			len(plain), Values(plain), maxDocumentExpanded, maxDocumentValues)
	}
	gz, err := compress(plain)
	if err != nil {
		return EncodedDocument{}, fmt.Errorf("compressing the result document: %w", err)
	}
	if len(gz) > MaxDocumentBytes {
		return EncodedDocument{}, fmt.Errorf(
			"the result document has %d bytes compressed; at most %d are allowed", len(gz), MaxDocumentBytes)
	}
	return EncodedDocument{Gzip: gz, SHA256: Digest(gz)}, nil
}

// ErrDocumentInvalid is wrapped by the errors of Unpack, Identity and Document: the document arrived whole, and is none.
var ErrDocumentInvalid = errors.New("the result document is not valid")

// Text is a document in JSON, within the bounds.
type Text []byte

// DecodeDocument unpacks a document within bounds, and checks its version.
func DecodeDocument(gz []byte) (*Document, error) {
	text, err := Unpack(gz)
	if err != nil {
		return nil, err
	}
	return text.Document()
}

// Document decodes all of it, and checks its version.
func (t Text) Document() (*Document, error) {
	var d Document
	if err := json.Unmarshal(t, &d); err != nil {
		return nil, invalid("reading it: %v", err)
	}
	for i := range d.Sides {
		if len(d.Sides[i].Sides) > 0 {
			return nil, invalid("one of its sides has sides")
		}
	}
	return &d, checkVersion(d.Version)
}

// Identity says whose document it is, and decodes no more.
func (t Text) Identity() (*Identity, error) {
	var d struct {
		Version  int      `json:"version"`
		Identity Identity `json:"identity"`
	}
	if err := json.Unmarshal(t, &d); err != nil {
		return nil, invalid("reading it: %v", err)
	}
	return &d.Identity, checkVersion(d.Version)
}

func checkVersion(version int) error {
	if version != DocumentVersion {
		return invalid("it has version %d, this program reads %d", version, DocumentVersion)
	}
	return nil
}

// Unpack a document's text, if it is within the bounds.
func Unpack(gz []byte) (Text, error) {
	zr, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		return nil, invalid("unpacking it: %v", err)
	}
	plain, err := io.ReadAll(io.LimitReader(zr, maxDocumentExpanded+1))
	switch {
	case err != nil:
		return nil, invalid("unpacking it: %v", err)
	case len(plain) > maxDocumentExpanded:
		return nil, invalid("it unpacks to more than %d bytes", maxDocumentExpanded)
	case Values(plain) > maxDocumentValues:
		return nil, invalid("it has more than %d values", maxDocumentValues)
	}
	return plain, nil
}

// Values is how many values a text in JSON has at most: one for each comma and bracket that does not stand in a string.
func Values(text []byte) int {
	n, inString, escaped := 0, false, false
	for _, c := range text {
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped, inString = c == '\\', c != '"'
		case c == '"':
			inString = true
		case c == ',' || c == '[' || c == '{':
			n++
		}
	}
	return n
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDocumentInvalid, fmt.Sprintf(format, args...))
}

// WriteDocument writes an encoded document to a log: numbered base64 lines of at most 4 KiB between two markers. Nothing
// else may be written to w meanwhile.
func WriteDocument(w io.Writer, doc EncodedDocument) error {
	lines := (len(doc.Gzip) + lineBytes - 1) / lineBytes
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s%d %d %d %s\n", beginPrefix, DocumentVersion, lines, len(doc.Gzip), doc.SHA256)
	for i := range lines {
		part := doc.Gzip[i*lineBytes : min((i+1)*lineBytes, len(doc.Gzip))]
		fmt.Fprintf(&text, "%s%d %s\n", linePrefix, i+1, base64.StdEncoding.EncodeToString(part))
	}
	text.WriteString(endLine + "\n")
	if _, err := w.Write(text.Bytes()); err != nil {
		return fmt.Errorf("writing the result document: %w", err)
	}
	return nil
}

// ReadDocument finds the document with the given checksum in a log, and reads no further. What looks like another one does not
// matter, whole or not. Without a checksum it is the first one: for a log to which only the loader writes. Every error is
// ErrDocumentLost: a line is missing, out of order or changed, or there is no such document.
func ReadDocument(log io.Reader, sha256Hex string) (EncodedDocument, error) {
	scanner := bufio.NewScanner(log)
	scanner.Buffer(make([]byte, 0, 8<<10), MaxLogLine)
	block, damaged := &documentBlock{}, error(nil)
	for scanner.Scan() {
		whole, err := block.add(scanner.Text(), sha256Hex)
		switch {
		case err == nil && !whole:
			continue
		case err == nil:
			return EncodedDocument{Gzip: bytes.Clone(block.data.Bytes()), SHA256: block.sha256}, nil
		case sha256Hex == "":
			return EncodedDocument{}, lost("%v", err)
		}
		block, damaged = &documentBlock{}, err
	}
	switch err := scanner.Err(); {
	case err != nil:
		return EncodedDocument{}, lost("reading the log: %v", err)
	case block.documentHeader != nil:
		return EncodedDocument{}, lost("the log ends after line %d of %d", block.read, block.lines)
	case damaged != nil:
		return EncodedDocument{}, lost("%v", damaged)
	}
	return EncodedDocument{}, lost("the log has no document")
}

// documentBlock is a document whose lines are being read; without a header none has begun.
type documentBlock struct {
	*documentHeader
	read int
	data bytes.Buffer
}

// add the next line of a log. An error ends the block.
func (b *documentBlock) add(line, sha256Hex string) (whole bool, err error) {
	switch {
	case strings.HasPrefix(line, beginPrefix):
		h, err := parseHeader(strings.TrimPrefix(line, beginPrefix))
		if err == nil && sha256Hex != "" && h.sha256 != sha256Hex {
			err = fmt.Errorf("the log has the document %s, the summary names %s", h.sha256, sha256Hex)
		}
		*b = documentBlock{documentHeader: h}
		return false, err
	case b.documentHeader != nil && strings.HasPrefix(line, linePrefix):
		part, err := parseLine(strings.TrimPrefix(line, linePrefix), b.read+1)
		if err != nil {
			return false, err
		}
		b.data.Write(part)
		b.read++
		if b.data.Len() > MaxDocumentBytes {
			return false, fmt.Errorf("it is larger than %d bytes", MaxDocumentBytes)
		}
	case b.documentHeader != nil && line == endLine:
		return true, b.check()
	}
	return false, nil
}

type documentHeader struct {
	version, lines, bytes int
	sha256                string
}

func parseHeader(s string) (*documentHeader, error) {
	var h documentHeader
	if n, err := fmt.Sscanf(s, "%d %d %d %64s", &h.version, &h.lines, &h.bytes, &h.sha256); err != nil || n != 4 {
		return nil, errors.New("its first line cannot be read")
	}
	if h.version != DocumentVersion {
		return nil, fmt.Errorf("it has version %d, this program reads %d", h.version, DocumentVersion)
	}
	if h.bytes > MaxDocumentBytes {
		return nil, fmt.Errorf("it has %d bytes; at most %d are allowed", h.bytes, MaxDocumentBytes)
	}
	return &h, nil
}

func parseLine(s string, want int) ([]byte, error) {
	number, data, found := strings.Cut(s, " ")
	if !found || number != strconv.Itoa(want) {
		return nil, fmt.Errorf("line %d is missing", want)
	}
	part, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil, fmt.Errorf("line %d is damaged", want)
	}
	return part, nil
}

func (b *documentBlock) check() error {
	if b.read != b.lines || b.data.Len() != b.bytes {
		return fmt.Errorf("%d of %d lines and %d of %d bytes arrived", b.read, b.lines, b.data.Len(), b.bytes)
	}
	if got := Digest(b.data.Bytes()); got != b.sha256 {
		return fmt.Errorf("its checksum is %s, not %s", got, b.sha256)
	}
	return nil
}

func lost(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDocumentLost, fmt.Sprintf(format, args...))
}

// IsDocumentLine says whether a line of a log is part of an encoded document, or one of its markers: nothing that people read.
func IsDocumentLine(line string) bool {
	return strings.HasPrefix(line, beginPrefix) || strings.HasPrefix(line, linePrefix) || line == endLine
}
