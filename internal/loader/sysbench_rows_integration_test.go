// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration && sysbench

package loader

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench"
)

// counted is by how much a counter of the server has grown around what was measured.
func counted(t *testing.T, doc *result.Document, name string) int64 {
	t.Helper()
	before, errBefore := strconv.ParseInt(doc.Server.StatusBefore[name], 10, 64)
	after, errAfter := strconv.ParseInt(doc.Server.StatusAfter[name], 10, 64)
	if errBefore != nil || errAfter != nil {
		t.Fatal(name, errBefore, errAfter)
	}
	return after - before
}

// sentBy are the statements of a load of so many events on two tables.
func sentBy(t *testing.T, script string, events int64) []string {
	t.Helper()
	db := generalLog(t)
	mustExec(t, "TRUNCATE TABLE mysql.general_log")
	newKeptTrial(t, sysbench.Parameters{
		Script: script, Events: events, Tables: ptr.To[int32](2), TableSize: ptr.To(microbenchmarkRows),
	}).mustRun(t)
	all := loggedLoad(t, db)
	if int64(len(all)) != events {
		t.Fatalf("%s: %d statements in %d events", script, len(all), events)
	}
	return all
}

// Hot points are the first hundred rows of either table; one row is the first of the first table.
func TestSysbenchHotRows(t *testing.T) {
	keptData(t)
	var hundred []string
	for i := range 100 {
		hundred = append(hundred, strconv.Itoa(i+1))
	}
	hot := map[string]bool{}
	for _, text := range sentBy(t, "hot-points", 20) {
		hot[text] = true
		if !strings.HasSuffix(text, " WHERE id IN ("+strings.Join(hundred, ", ")+")") {
			t.Errorf("%.300s", text)
		}
	}
	if len(hot) != 2 {
		t.Errorf("%d statements", len(hot))
	}
	for _, text := range sentBy(t, "update-one", 20) {
		if !strings.HasPrefix(text, "UPDATE sbtest1 ") || !strings.HasSuffix(text, " WHERE id=1") {
			t.Errorf("%.300s", text)
		}
	}
}

// Of 300 rows that are drawn of 40,000, one is drawn twice if all are as likely. By Zipf's distribution with the exponent 0.8, one
// in 32 is the first row of 20,000, nine or ten of 300.
func TestSysbenchZipf(t *testing.T) {
	keptData(t)
	row := regexp.MustCompile(`^UPDATE (sbtest\d).* WHERE id(?:=| IN \()(\d+)\)?$`)
	drawn := func(script string) (distinct, first int) {
		rows := map[string]bool{}
		for _, text := range sentBy(t, script, 300) {
			match := row.FindStringSubmatch(text)
			if match == nil {
				t.Fatalf("%.300s", text)
			}
			rows[match[1]+" "+match[2]] = true
			if match[2] == "1" {
				first++
			}
		}
		return len(rows), first
	}
	if distinct, first := drawn("update-nonindex"); distinct < 290 || first > 3 {
		t.Errorf("%d rows, %d times the first", distinct, first)
	}
	if distinct, first := drawn("update-zipf"); distinct > 280 || first < 2 || first > 22 {
		t.Errorf("%d rows by Zipf's distribution, %d times the first", distinct, first)
	}
}

// Statements are prepared unless the option says that they are not, those of Benchrun's scripts as those of sysbench's.
func TestSysbenchPreparedStatements(t *testing.T) {
	keptData(t)
	const events = 100
	for _, script := range []string{"random-points-10", "update-inlist", "oltp_point_select"} {
		for mode, prepared := range map[string]bool{"": true, "auto": true, "disable": false} {
			p := sysbench.Parameters{Script: script, Events: events}
			if mode != "" {
				p.Options = map[string]string{"db-ps-mode": mode}
			}
			_, doc := newKeptTrial(t, p).mustRun(t)
			// The loader executes a few itself.
			if n := counted(t, doc, "Com_stmt_execute"); (n >= events) != prepared || n > events+20 || doc.Totals.Statements != events {
				t.Errorf("%s, %q: %d statements were executed as prepared ones, totals %+v", script, mode, n, doc.Totals)
			}
		}
	}
}
