// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// looking is an output that looks at the termination log whenever something is written.
type looking struct {
	bytes.Buffer
	terminationLog string
	left           []byte
	err            error
}

func (l *looking) Write(p []byte) (int, error) {
	l.left, l.err = os.ReadFile(l.terminationLog)
	return l.Buffer.Write(p)
}

// A follower of the log takes the last line of the document for the end of the attempt: nothing may be left that could fail.
func TestTheDocumentIsPublishedLast(t *testing.T) {
	out := &looking{terminationLog: filepath.Join(t.TempDir(), "termination-log")}
	doc := testutil.Document("pod", 1, 1, 1000)
	if err := publish(Input{Identity: doc.Identity, Output: out, TerminationLog: out.terminationLog}, doc); err != nil {
		t.Fatal(err)
	}
	if out.err != nil {
		t.Fatalf("there was no summary when the document was written: %v", out.err)
	}
	summary, err := result.DecodeSummary(string(out.left))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := result.ReadDocument(&out.Buffer, summary.DocumentSHA256); err != nil {
		t.Error(err)
	}
}
