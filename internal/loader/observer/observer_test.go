// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrun-dev/benchrun/internal/loader/datacopy"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

const secret = "hunter2hunter2"

// files makes files below a folder.
func files(t *testing.T, dir string, content map[string]string) {
	t.Helper()
	for name, text := range content {
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Write(t, path, text)
	}
}

// stat is /proc/PID/stat of a process with that CPU time in hundredths of a second.
func stat(pid int, name string, user, system, started int) string {
	return fmt.Sprintf("%d (%s) S 1 1 1 0 -1 4194560 700 0 3 0 %d %d 0 0 20 0 30 0 %d 1000 200 18446744073709551615 "+
		"1 1 0 0 0 0 0 4096 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", pid, name, user, system, started)
}

// process makes the files of a process with two threads.
func process(t *testing.T, proc string, pid int, name string, user, system, started int) {
	t.Helper()
	status := func(voluntary, involuntary int) string {
		return fmt.Sprintf("Name:\t%s\nVmHWM:\t    2048 kB\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n",
			name, voluntary, involuntary)
	}
	files(t, filepath.Join(proc, strconv.Itoa(pid)), map[string]string{
		"stat": stat(pid, name, user, system, started), "status": status(5, 1),
		"io":                          "rchar: 1\nwchar: 2\nsyscr: 30\nsyscw: 40\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n",
		"cgroup":                      "0::/../server\n",
		"task/1/status":               status(5, 1),
		"task/2/status":               status(10, 2),
		"root/proc/self/cgroup":       "0::/wrong\n", // the reader's own: of no use
		"root/sys/fs/cgroup/cpu.stat": "nr_periods 9\nthrottled_usec 7000\n", "root/sys/fs/cgroup/cpu.max": "50000 100000\n",
	})
}

func TestRead(t *testing.T) {
	proc := t.TempDir()
	process(t, proc, 7, "mariadbd", 250, 50, 1000)
	process(t, proc, 9, "bash", 1, 1, 900)
	process(t, proc, 12, "mariadbd", 1, 1, 2000) // a child
	got := must.Get(read(proc, []string{"mariadbd", "mysqld"}, false))(t)
	want := &result.ProcessFacts{
		Process: "7@1000", UserMicros: 2_500_000, SystemMicros: 500_000, ReadBytes: 4096, WriteBytes: 8192, ReadCalls: 30, WriteCalls: 40,
		MinorFaults: 700, MajorFaults: 3, VoluntarySwitches: 15, InvoluntarySwitches: 3, MaxRSSBytes: 2 << 20,
		CPULimitMillis: 500, ThrottledMicros: 7000,
	}
	must.Same(t, "process", want, got)
	must.Is(t, must.Err(read(proc, []string{"other"}, false)), errNoServer)
}

// A server of several processes is the sum of those that are there, and of those that ended: the first one's children.
func TestReadSeveral(t *testing.T) {
	proc := t.TempDir()
	process(t, proc, 7, "postgres", 250, 50, 1000)
	withChildren := strings.Replace(stat(7, "postgres", 250, 50, 1000), " 700 0 3 0 250 50 0 0 ", " 700 20 3 1 250 50 300 40 ", 1)
	files(t, proc, map[string]string{"7/stat": withChildren})
	process(t, proc, 12, "postgres", 100, 10, 2000)
	process(t, proc, 13, "postgres", 1, 2, 3000)
	must.Same(t, "processes", &result.ProcessFacts{
		Process: "7@1000", UserMicros: 6_510_000, SystemMicros: 1_020_000, MinorFaults: 2120, MajorFaults: 10, MaxRSSBytes: 2 << 20,
		ReadBytes: 12288, WriteBytes: 24576, ReadCalls: 90, WriteCalls: 120, CPULimitMillis: 500, ThrottledMicros: 7000,
		VoluntarySwitches: -1, InvoluntarySwitches: -1,
	}, must.Get(read(proc, []string{"postgres"}, true))(t))
	must.Do(t, os.Remove(filepath.Join(proc, "7", "io")))
	if got := must.Get(read(proc, []string{"postgres"}, true))(t); got.ReadBytes != -1 || got.WriteCalls != -1 {
		t.Errorf("the sum of an unknown is %+v", got)
	}
}

// What the kernel does not show is unknown, and not zero.
func TestReadWithoutPermission(t *testing.T) {
	proc := t.TempDir()
	files(t, proc, map[string]string{"7/stat": stat(7, "mysqld", 1, 2, 3)})
	got := must.Get(read(proc, []string{"mariadbd", "mysqld"}, false))(t)
	want := &result.ProcessFacts{
		Process: "7@3", UserMicros: 10_000, SystemMicros: 20_000, ReadBytes: -1, WriteBytes: -1, ReadCalls: -1, WriteCalls: -1,
		MinorFaults: 700, MajorFaults: 3, VoluntarySwitches: -1, InvoluntarySwitches: -1, MaxRSSBytes: -1,
		CPULimitMillis: -1, ThrottledMicros: -1,
	}
	must.Same(t, "process", want, got)
}

// A real process that uses CPU and writes is seen to do so.
func TestReadThisKernel(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "busyserver")
	must.Do(t, os.Symlink("/bin/sh", name))
	cmd := exec.CommandContext(t.Context(), name, "-c", "while :; do echo x > "+filepath.Join(dir, "file")+"; done")
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var o result.Observed
	eventually(t, "the process is seen to do something", func() bool {
		facts, err := read("/proc", []string{"busyserver"}, false)
		if err == nil && o.Before == nil {
			o.Before = facts
		}
		o.After = facts
		used, known := o.Used()
		return known && used.UserMicros+used.SystemMicros > 0 && used.WriteCalls > 100 && used.MaxRSSBytes > 0
	})
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not after 20 s: ", what)
		}
	}
}

// serve is an observer of those processes, and the server that a loader would know it by.
func serve(t *testing.T, proc string) result.Server {
	t.Helper()
	dir := t.TempDir()
	files(t, dir, map[string]string{"password": secret + "\n"})
	return serving(t, &Observer{
		Processes: []string{"mariadbd"}, Data: t.TempDir(), PasswordFile: filepath.Join(dir, "password"), Proc: proc,
	})
}

// serving is the server that a loader would know an observer by.
func serving(t *testing.T, o *Observer) result.Server {
	t.Helper()
	s := httptest.NewServer(o.handler())
	t.Cleanup(s.Close)
	host, port, err := net.SplitHostPort(s.Listener.Addr().String())
	must.Do(t, err)
	number := must.Get(strconv.Atoi(port))(t)
	return result.Server{Host: host, ObserverPort: number, PasswordFile: o.PasswordFile}
}

func TestClient(t *testing.T) {
	proc := t.TempDir()
	server := serve(t, proc)
	c := NewClient(server)
	must.Is(t, must.Err(c.Read(t.Context())), errNoServer)
	process(t, proc, 7, "mariadbd", 250, 50, 1000)
	facts, err := c.Read(t.Context())
	if err != nil || facts.UserMicros != 2_500_000 {
		t.Errorf("reading: %+v, %v", facts, err)
	}
	node := must.Get(c.Probe(t.Context()))(t)
	if f := node.Fdatasync; f.Calls == 0 || f.Median < 0 || f.P95 < f.Median || node.CPU.Median <= 0 || node.CPU.P95 < node.CPU.Median {
		t.Errorf("the probe found %+v", node)
	}
	// Another password proves nothing.
	files(t, filepath.Dir(server.PasswordFile), map[string]string{"other": "guess"})
	other := server
	other.PasswordFile = filepath.Join(filepath.Dir(server.PasswordFile), "other")
	must.Refused(NewClient(other).Read(t.Context()))(t, "401")
	// A server that is gone is an error within the time-out.
	other = server
	other.ObserverPort = 1
	if _, err := NewClient(other).Read(t.Context()); err == nil {
		t.Error("nobody answers, and there is no error")
	}
}

func TestRequests(t *testing.T) {
	server := serve(t, t.TempDir())
	url := "http://" + net.JoinHostPort(server.Host, strconv.Itoa(server.ObserverPort))
	for name, tc := range map[string]struct {
		method, path, authorization string
		want                        int
	}{
		"no token":     {http.MethodGet, Path, "", http.StatusUnauthorized},
		"the password": {http.MethodGet, Path, "Bearer " + secret, http.StatusUnauthorized},
		"the token":    {http.MethodGet, Path, "Bearer " + token(secret), http.StatusOK},
		"POST":         {http.MethodPost, Path, "Bearer " + token(secret), http.StatusMethodNotAllowed},
		"another path": {http.MethodGet, "/", "Bearer " + token(secret), http.StatusNotFound},
	} {
		r := must.Get(http.NewRequestWithContext(t.Context(), tc.method, url+tc.path, http.NoBody))(t)
		r.Header.Set("Authorization", tc.authorization)
		answer, err := http.DefaultClient.Do(r)
		must.Do(t, err)
		_ = answer.Body.Close()
		must.Same(t, name, tc.want, answer.StatusCode)
	}
	if token(secret) == token(secret+"x") || strings.Contains(token(secret), secret) {
		t.Error("the token does not follow from the password, or tells it")
	}
}

// A port that is taken does not end the observer, and being told to end does.
func TestRunGoesOn(t *testing.T) {
	taken := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", ":0"))(t)
	dir := t.TempDir()
	files(t, dir, map[string]string{"password": secret})
	o := &Observer{Port: taken.Addr().(*net.TCPAddr).Port, PasswordFile: filepath.Join(dir, "password"), Proc: t.TempDir()}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- o.Run(ctx) }()
	c := NewClient(result.Server{Host: "127.0.0.1", ObserverPort: o.Port, PasswordFile: o.PasswordFile})
	_ = taken.Close()
	eventually(t, "the observer answers", func() bool {
		_, err := c.Read(t.Context())
		return errors.Is(err, errNoServer)
	})
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the observer does not end")
	}
}

func TestSizeOf(t *testing.T) {
	dir := t.TempDir()
	files(t, dir, map[string]string{"ibdata1": "12345", "bench/t.ibd": "123", "bench/deeper/x": "1"})
	must.Do(t, os.Symlink(filepath.Join(dir, "ibdata1"), filepath.Join(dir, "link")))
	must.Same(t, "bytes", int64(9), sizeOf(dir))
	must.Same(t, "bytes of what is not there", int64(0), sizeOf(filepath.Join(dir, "absent")))
}

// running is an observer that listens on a port of its own until the test ends.
func running(t *testing.T, headerAtMost time.Duration) (*Observer, *Client) {
	t.Helper()
	free := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", ":0"))(t)
	dir := t.TempDir()
	files(t, dir, map[string]string{"password": secret})
	o := &Observer{Port: free.Addr().(*net.TCPAddr).Port, PasswordFile: filepath.Join(dir, "password"), Proc: t.TempDir()}
	o.HeaderAtMost = headerAtMost
	_ = free.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := o.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
	c := NewClient(result.Server{Host: "127.0.0.1", ObserverPort: o.Port, PasswordFile: o.PasswordFile})
	eventually(t, "the observer answers", func() bool { return answers(t, c) })
	return o, c
}

// answers says whether a client that knows the password gets its answer: there is no server here, which the observer says.
func answers(t *testing.T, c *Client) bool {
	_, err := c.Read(t.Context())
	return errors.Is(err, errNoServer)
}

// flood opens a connection from an address, with the beginning of a request that does not end.
func flood(t *testing.T, from string, port int) {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c := must.Get(dialer.DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port)))(t)
	t.Cleanup(func() { _ = c.Close() })
	// Who was put out gets an error.
	_, _ = fmt.Fprint(c, "GET / HTTP/1.1\r\nX: "+strings.Repeat("a", 3800))
}

// Thousands of connections that say nothing whole are put out, and hold up no client that knows the password: neither those of
// one host, even if that is the loader's own, nor those of many.
func TestFlood(t *testing.T) {
	for name, tc := range map[string]struct{ hosts, each int }{
		"of another host":     {1, 2000},
		"of the loader's own": {0, 2000},
		"of many hosts":       {100, 20},
	} {
		t.Run(name, func(t *testing.T) {
			o, c := running(t, time.Hour)
			before := runtime.NumGoroutine()
			for host := range max(1, tc.hosts) {
				from := "127.0.0.1"
				if tc.hosts > 0 {
					from = fmt.Sprintf("127.0.1.%d", host+1)
				}
				for range tc.each {
					flood(t, from, o.Port)
				}
				if host%20 == 0 && !answers(t, c) {
					t.Error("who knows the password gets no answer")
				}
			}
			if !answers(t, c) {
				t.Error("who knows the password gets no answer")
			}
			// A connection has a goroutine, or two, as long as it is kept: nothing else ends these within the hour.
			eventually(t, "connections are put out", func() bool { return runtime.NumGoroutine()-before <= 2*maxStrangers+100 })
		})
	}
}

// A request whose header does not end in time is ended.
func TestHeaderInTime(t *testing.T) {
	o, _ := running(t, 0)
	c := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", o.Port)))(t)
	defer c.Close()
	must.Get(fmt.Fprint(c, "GET / HTTP/1.1\r\nX: "))(t)
	must.Do(t, c.SetReadDeadline(time.Now().Add(20*time.Second)))
	if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("it is still open after 20 s")
	}
}

// The guest that goes is the oldest of the host that has the most, and never one that is known.
func TestDoor(t *testing.T) {
	d := new(door)
	var known []*guest
	for i := range 50 {
		g := &guest{host: "loader", door: d}
		if d.admit(g) != nil {
			t.Errorf("a known guest is put out by number %d", i)
		}
		d.known(g)
		known = append(known, g)
	}
	for i := range 3 * maxStrangersOfHost {
		out := d.admit(&guest{host: "flood", door: d})
		if (out != nil) != (i >= maxStrangersOfHost) || out != nil && out.host != "flood" {
			t.Errorf("number %d puts out %v", i, out)
		}
		if out != nil {
			d.known(out)
		}
	}
	for i := range maxStrangers {
		if out := d.admit(&guest{host: fmt.Sprint("host", i), door: d}); out != nil {
			must.Same(t, "who is put out", "flood", out.host)
			d.known(out)
		}
	}
	if len(d.strangers) > maxStrangers || len(known) != 50 {
		t.Errorf("there are %d strangers", len(d.strangers))
	}
}

// writer is a process that writes to a file of its data directory all the time, and an observer of it with a folder for a copy.
func writer(t *testing.T) (*Observer, *Client) {
	t.Helper()
	dir, data := t.TempDir(), t.TempDir()
	files(t, dir, map[string]string{"password": secret})
	files(t, data, map[string]string{"file": ""})
	name := filepath.Join(dir, "writer"+strconv.Itoa(os.Getpid()%1000))
	must.Do(t, os.Symlink("/bin/sh", name))
	cmd := exec.CommandContext(t.Context(), name, "-c", "while :; do echo x >> "+filepath.Join(data, "file")+"; done")
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	o := &Observer{
		Processes: []string{filepath.Base(name)}, Data: data, Copy: t.TempDir(), PasswordFile: filepath.Join(dir, "password"), Proc: "/proc",
	}
	eventually(t, "the process is seen", func() bool { _, err := o.server(); return err == nil })
	return o, NewClient(serving(t, o))
}

// size of the file that the writer writes.
func size(t *testing.T, o *Observer) int64 {
	t.Helper()
	info := must.Get(os.Stat(filepath.Join(o.Data, "file")))(t)
	return info.Size()
}

// goesOn says that the writer writes.
func goesOn(t *testing.T, o *Observer) {
	t.Helper()
	before := size(t, o)
	eventually(t, "the process writes", func() bool { return size(t, o) > before })
}

// The server stands still while it is copied, and goes on afterwards; there is one copy.
func TestCopy(t *testing.T) {
	o, c := writer(t)
	goesOn(t, o)
	made, err := c.Copy(t.Context())
	if err != nil || made.Bytes == 0 || !datacopy.Whole(o.Copy) {
		t.Fatalf("made %+v, %v", made, err)
	}
	goesOn(t, o)
	again, err := c.Copy(t.Context())
	if err != nil || again != (result.DataCopy{}) {
		t.Errorf("a second copy: %+v, %v", again, err)
	}
	copied, err := os.Stat(filepath.Join(o.Copy, "data", "file"))
	if err != nil || copied.Size() != made.Bytes {
		t.Errorf("the copy has %v, %v", copied, err)
	}
}

// A copy that cannot be made says why, and the server goes on.
func TestCopyFails(t *testing.T) {
	o, c := writer(t)
	o.Copy = filepath.Join(o.Data, "file", "no-folder")
	if _, err := c.Copy(t.Context()); err == nil || !strings.Contains(err.Error(), "500") || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("%v", err)
	}
	goesOn(t, o)
}

// An observer that begins has a server go on that the one before has stopped.
func TestGoOn(t *testing.T) {
	o, _ := writer(t)
	server := must.Get(o.server())(t)
	must.Do(t, unix.Kill(server.PID, unix.SIGSTOP))
	must.Do(t, waitStopped(t.Context(), server))
	o.goOn()
	goesOn(t, o)
}

// Without a folder for it there is nothing to ask for.
func TestNoCopy(t *testing.T) {
	server := serve(t, t.TempDir())
	must.Refused(NewClient(server).Copy(t.Context()))(t, "404")
}

// The device of a folder is found by its number, and what the kernel does not say is unknown.
func TestDevice(t *testing.T) {
	folder := t.TempDir()
	var at unix.Stat_t
	must.Do(t, unix.Stat(folder, &at))
	line := "%4d %7d disk 70 1 900 3 80 2 700 5 0 8 9 0 0 0 0 0 0\n"
	other, ours := fmt.Sprintf(line, 250, 250), fmt.Sprintf(line, unix.Major(at.Dev), unix.Minor(at.Dev))
	for name, tc := range map[string]struct {
		stats, folder string
		reads, writes int64
	}{
		"its device":    {other + ours, folder, 70, 80},
		"no device":     {other, folder, -1, -1},
		"nonsense":      {"x\n", folder, -1, -1},
		"no such place": {ours, folder + "/none", -1, -1},
	} {
		proc := t.TempDir()
		files(t, proc, map[string]string{"diskstats": tc.stats})
		if reads, writes := device(proc, t.TempDir(), tc.folder); reads != tc.reads || writes != tc.writes {
			t.Errorf("%s: %d reads and %d writes, want %d and %d", name, reads, writes, tc.reads, tc.writes)
		}
	}
	if reads, writes := device(t.TempDir(), t.TempDir(), folder); reads != -1 || writes != -1 {
		t.Errorf("without statistics: %d reads and %d writes", reads, writes)
	}
}
