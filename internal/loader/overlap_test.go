// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/loader/progress"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/insert"
)

// inserting is a workload of inserts.
type inserting struct {
	workload.Workload
	load *insert.Load
}

func (w inserting) Measure(ctx context.Context, c *workload.Client) (result.StoppedBy, error) {
	return w.load.Insert(ctx, c)
}

// listen serves each connection with a sink, over the network.
func listen(t testing.TB) *mysql.Config {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { serve(t, client) })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); serving.Wait() })
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr = "tcp", listener.Addr().String()
	return cfg
}

// serve passes on what the client and a sink say to each other, until the client leaves.
func serve(t testing.TB, client net.Conn) {
	defer client.Close()
	sink := conn.NewSink()
	buf := make([]byte, 64<<10)
	for {
		for {
			n, err := sink.Read(buf)
			if errors.Is(err, io.EOF) {
				break
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if _, err := sink.Write(buf[:n]); err != nil {
			t.Error(err)
			return
		}
	}
}

// inserts are what a client over the network measures of a load.
func inserts(t testing.TB, load *insert.Load) *record.Recorder {
	t.Helper()
	connections, err := conn.NewBy(listen(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := connections.Session(t.Context(), "bench", nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &clients{sessions: []*conn.Session{s}, interrupt: connections.End}
	defer c.close()
	out := progress.Start(io.Discard)
	defer out.Finish()
	var measured *record.Recorder
	_, err = timed(t.Context(), 1, atOnce, func(start time.Time) error {
		measured, _, err = c.run(t.Context(), inserting{load: load}, start, 0, out)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return measured
}

// loadOf makes statements of so many rows.
func loadOf(rows, perStatement int64, appendRow func([]byte, int64) []byte) *insert.Load {
	load := insert.New(rows, perStatement, rows, workload.Share{Pods: 1})
	load.Heads, load.RowBytes, load.AppendRow = []string{"INSERT INTO t VALUES "}, 16, appendRow
	return load
}

func appendNumber(dst []byte, n int64) []byte {
	return append(strconv.AppendInt(append(dst, '('), n, 10), ')')
}

// The latency of an insert is the server's time, which the making of the next statement is not part of.
func TestLatencyOfInsertsWithoutMakingThem(t *testing.T) {
	const statements, making = 10, 50 * time.Millisecond
	measured := inserts(t, loadOf(statements, 1, func(dst []byte, n int64) []byte {
		time.Sleep(making)
		return appendNumber(dst, n)
	}))
	latencies, err := measured.Latencies()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(latencies, func(l result.Latency) bool { return l.Operation == "insert" })
	if l := latencies[i]; l.Count != statements || l.P50Micros >= making.Microseconds()/2 {
		t.Errorf("%d inserts took %d µs, with %s of making each", l.Count, l.P50Micros, making)
	}
	if ended := measured.Ended(); ended < (statements-1)*making {
		t.Errorf("the inserts ended after %s", ended)
	}
}

// BenchmarkInsertStatements is what a statement takes whose server does nothing, over the network: ns/op is that of both ends.
func BenchmarkInsertStatements(b *testing.B) {
	for _, rows := range []int64{1, 100} {
		b.Run(strconv.FormatInt(rows, 10), func(b *testing.B) {
			measured := inserts(b, loadOf(int64(b.N)*rows, rows, appendNumber))
			b.ReportMetric(float64(measured.Ended().Nanoseconds())/float64(b.N), "ns/op")
		})
	}
}
