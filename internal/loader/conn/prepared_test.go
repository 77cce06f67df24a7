// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

const (
	// statement 0x01020304 has two placeholders and no columns.
	preparedTwo = "\x0c\x00\x00\x01\x00\x04\x03\x02\x01\x00\x00\x02\x00\x00\x00\x00"
	description = "\x04\x00\x00\x02\x03def"
	end         = "\x05\x00\x00\x04\xfe\x00\x00\x02\x00"
	allWell     = "\x07\x00\x00\x01\x00\x02\x00\x02\x00\x00\x00"
)

func TestPrepare(t *testing.T) {
	types := []mysqlwire.Type{mysqlwire.TypeInt, mysqlwire.TypeUnsignedBigInt}
	for name, tc := range map[string]struct {
		agreed  agreement
		rows    int64
		answers []string
		want    *mysqlwire.Execution
		err     string
	}{
		"for one row": {
			agreement{},
			1,
			[]string{preparedTwo, description, description, end},
			&mysqlwire.Execution{
				First: []byte("\x17\x04\x03\x02\x01\x00\x01\x00\x00\x00\x00\x01\x03\x00\x08\x80"),
				Later: []byte("\x17\x04\x03\x02\x01\x00\x01\x00\x00\x00\x00\x00"),
			}, "",
		},
		"for five rows, whose placeholders take two bytes, and without an end": {
			agreement{endless: true},
			5,
			[]string{preparedTwo[:7], preparedTwo[7:] + description + description[:2], description[2:]},
			&mysqlwire.Execution{
				First: []byte("\x17\x04\x03\x02\x01\x00\x01\x00\x00\x00\x00\x00\x01" + strings.Repeat("\x03\x00\x08\x80", 5)),
				Later: []byte("\x17\x04\x03\x02\x01\x00\x01\x00\x00\x00\x00\x00\x00"),
			}, "",
		},
		"for any number of rows": {
			agreement{bulk: true},
			0,
			[]string{preparedTwo, description, description, end},
			&mysqlwire.Execution{
				First: []byte("\xfa\x04\x03\x02\x01\x80\x00\x03\x00\x08\x80"), Later: []byte("\xfa\x04\x03\x02\x01\x00\x00"),
			}, "",
		},
		"without the bulk protocol": {
			agreement{version: "8.4.3"}, 0, nil, nil, "protocol Bulk needs MariaDB 10.2 or newer; this server is 8.4.3",
		},
		"a statement that is wrong": {
			agreement{}, 1, []string{"\x1a\x00\x00\x01\xff\x7a\x04#42S02no such table 'x'"}, nil, "Error 1146 (42S02): no such table 'x'",
		},
		"a query": {
			agreement{}, 1, []string{strings.Replace(preparedTwo, "\x01\x00\x00", "\x01\x01\x00", 1)}, nil, "that returns rows",
		},
		"half an answer":            {agreement{}, 1, []string{preparedTwo[:9]}, nil, mysql.ErrInvalidConn.Error()},
		"an answer without its end": {agreement{}, 1, []string{preparedTwo, description, description}, nil, mysql.ErrInvalidConn.Error()},
		"nothing":                   {agreement{}, 1, []string{"\x00\x00\x00\x01"}, nil, "the server's answer is empty"},
	} {
		out := &tape{answers: tc.answers}
		s := &Session{below: newExchange(out, nil), agreed: tc.agreed}
		got, err := s.Prepare(workload.Prepared{SQL: "INSERT …", Types: types, Rows: tc.rows})
		if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
			t.Errorf("%s: error %v, want %q", name, err, tc.err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if sent := out.written.String(); tc.answers != nil && sent != "\x0b\x00\x00\x00\x16INSERT …" {
			t.Errorf("%s: sent %q", name, sent)
		}
		if tc.err == "" && len(out.answers) > 0 {
			t.Errorf("%s: %q is left of the answer", name, out.answers)
		}
	}
}

// An execution is sent as a command of its own, and the client works meanwhile.
func TestExecuteWhile(t *testing.T) {
	out := &tape{answers: []string{allWell}}
	s := &Session{below: newExchange(out, nil)}
	execution := []byte("\xfa\x04\x03\x02\x01\x00\x00values")
	worked := false
	_, err := s.ExecuteWhile(execution, func() {
		worked = len(out.answers) == 1
		clear(execution)
	})
	if err != nil || !worked {
		t.Errorf("%v, worked %v", err, worked)
	}
	if sent := out.written.String(); sent != "\x0d\x00\x00\x00\xfa\x04\x03\x02\x01\x00\x00values" {
		t.Errorf("sent %q", sent)
	}
}

func TestExecutionsDoNotAllocate(t *testing.T) {
	out := &tape{}
	s := &Session{below: newExchange(out, nil)}
	execution, answers, nothing := make([]byte, 100_000), []string{allWell}, func() {}
	allocs := testing.AllocsPerRun(100, func() {
		out.written.Reset()
		out.answers = answers
		if _, err := s.ExecuteWhile(execution, nothing); err != nil {
			t.Error(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%g allocations for an execution", allocs)
	}
}
