// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/loader/progress"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/insert"
)

// slowRows is a workload whose rows take long to make.
type slowRows struct {
	workload.Workload
	load *insert.Load
}

func (w slowRows) Measure(ctx context.Context, c *workload.Client) (result.StoppedBy, error) {
	return w.load.Insert(ctx, c)
}

// listen serves each connection with a sink, over the network.
func listen(t *testing.T) *mysql.Config {
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
func serve(t *testing.T, client net.Conn) {
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

// The latency of an insert is the server's time, which the making of the next statement is not part of.
func TestLatencyOfInsertsWithoutMakingThem(t *testing.T) {
	const statements, making = 10, 50 * time.Millisecond
	load := insert.New(statements, 1, statements, workload.Share{Pods: 1})
	load.Heads, load.RowBytes = []string{"INSERT INTO t VALUES "}, 16
	load.AppendRow = func(dst []byte, n int64) []byte {
		time.Sleep(making)
		return append(strconv.AppendInt(append(dst, '('), n, 10), ')')
	}
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
	measured, _, err := c.run(t.Context(), slowRows{load: load}, time.Now(), 0, out)
	if err != nil {
		t.Fatal(err)
	}
	latencies, err := measured.Latencies()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range latencies {
		if l.Operation == "insert" && (l.Count != statements || l.P50Micros >= making.Microseconds()/2) {
			t.Errorf("%d inserts took %d µs, with %s of making each", l.Count, l.P50Micros, making)
		}
	}
	if ended := measured.Ended(); ended < (statements-1)*making {
		t.Errorf("the inserts ended after %s", ended)
	}
}
