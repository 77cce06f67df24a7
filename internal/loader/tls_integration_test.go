// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/tprochload"
)

// encrypts says whether the server speaks TLS. MariaDB from 11.4 on does without being told, with a certificate of its own, and
// so does MySQL, which has no such variable.
func encrypts(t testing.TB) bool {
	return testedEngine(t) == &engine.MySQL || globals(t)["have_ssl"] == "YES"
}

// Each way of sending something works over an encrypted connection: single statements, statements made while the server
// works, and the files of LOAD DATA.
func TestIntegrationTLS(t *testing.T) {
	encrypted := encrypts(t)
	for name, tr := range map[string]*trial{
		"CommitSize":           newTrial(t, commitsize.Parameters{Rows: 50, RowsPerCommit: 10}),
		"BulkInsert":           newBulkInsert(t, func(*bulkinsert.Parameters) {}),
		"BulkInsert, large":    newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Rows, p.RowsPerStatement = 90_000, 70_000 }),
		"BulkInsert, own file": newOwn(t, ownSchema, ownRows(100), asItIs),
		"TPROCHLoad":           newTPROCHLoad(t, func(p *tprochload.Parameters) { p.LoadMode, p.Streams = "Parallel", ptr.To(4) }),
		"TPROCHLoad in chunks": newTPROCHLoad(t, func(p *tprochload.Parameters) { p.LoadMode, p.RowsPerChunk = "Chunked", 20_000 }),
	} {
		t.Run(name, func(t *testing.T) {
			tr.cfg.Server.TLS = result.TLSRequired
			if !encrypted {
				tr.mustFail(t.Context(), t, result.CauseConnect, "TLS")
				return
			}
			_, doc := tr.mustRun(t)
			if !strings.HasPrefix(doc.Server.Encryption, "TLSv1.3 ") {
				t.Errorf("encryption %q", doc.Server.Encryption)
			}
			sums(t, doc)
			if len(doc.Checks) < 2 {
				t.Errorf("checks %+v", doc.Checks)
			}
		})
	}
}

// A row that the server leaves out is noticed over an encrypted connection as well.
func TestIntegrationTLSWarnings(t *testing.T) {
	tr := newTPROCHLoad(t, func(p *tprochload.Parameters) { p.ForeignKeyChecks = false })
	tr.cfg.Workload.Data = tprochFolder(t)
	replaceInFile(t, tr.cfg.Workload.Data.Root+"/nation.tbl", "\n1|", "\n0|")
	if !encrypts(t) {
		tr.mustFail(t.Context(), t, result.CauseCheckFailed, "NATION: 1, the first: Duplicate entry '0'")
		return
	}
	tr.cfg.Server.TLS = result.TLSRequired
	tr.mustFail(t.Context(), t, result.CauseCheckFailed, "NATION: 1, the first: Duplicate entry '0'", "25 sent, 24 written, 24 in the table")
}

// The server's own certificate is nobody's whom the system trusts.
func TestIntegrationTLSOfAStranger(t *testing.T) {
	tr := newTrial(t, commitsize.Parameters{Rows: 1, RowsPerCommit: 1})
	tr.cfg.Server.TLS = result.TLSVerifyIdentity
	words := "certificate"
	if !encrypts(t) {
		words = "TLS"
	}
	tr.mustFail(t.Context(), t, result.CauseConnect, words)
}
