// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// envLine has the line for sh that this test binary executes in a process of its own, as the loader executes a program.
const envLine = "BENCHRUN_TEST_LINE"

// secret is in the environment of that process, and not in that of its program.
const secret = "only-for-the-loader"

func TestMain(m *testing.M) {
	if line := os.Getenv(envLine); line != "" {
		os.Exit(asLoader(line))
	}
	os.Exit(m.Run())
}

// asLoader executes a program and says what it has printed, and then whether what it has left behind is gone: each process whose
// number it has printed after "left".
func asLoader(line string) int {
	if err := Contain(); err != nil {
		fmt.Println(err)
		return 1
	}
	line, halt := strings.CutPrefix(line, haltIt)
	command := workload.Command{Args: []string{"sh", "-c", line}, Env: []string{"PATH=" + os.Getenv("PATH")}}
	if halt {
		return halted(command)
	}
	e, err := Execute(context.Background(), command, nil)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Printf("%s", e.Output)
	for text := range strings.Lines(e.Output) {
		number, found := strings.CutPrefix(strings.TrimSpace(text), "left ")
		if !found {
			continue
		}
		pid, err := strconv.Atoi(number)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			fmt.Printf("process %d is still there: %v\n", pid, err)
			return 1
		}
	}
	return 0
}

// haltIt begins a line whose program is halted when it has printed something.
const haltIt = "halt:"

// halted says how halting a program ends.
func halted(command workload.Command) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	printed := make(chan struct{}, 1)
	p, err := Start(ctx, command, func(string) { printed <- struct{}{} })
	if err == nil {
		<-printed
		err = p.Halt()
		cancel()
		_, _ = p.Wait(ctx)
	}
	fmt.Println(err)
	return 1
}

// containedLine executes a line for sh as a loader in a Pod does: as a user without privileges, whose standard output is its own.
func containedLine(t *testing.T, line string) (output string, err error) {
	t.Helper()
	r, w, err := os.Pipe()
	must.Do(t, err)
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env, cmd.Dir = append(os.Environ(), envLine+"="+line, "BENCHRUN_TEST_SECRET="+secret), "/"
	cmd.Stdout, cmd.Stderr = w, w
	if os.Getuid() == 0 {
		const nobody = 65532
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		must.Do(t, w.Chown(nobody, nobody))
	}
	must.Do(t, errors.Join(cmd.Start(), w.Close()))
	text, err := io.ReadAll(r)
	return string(text), errors.Join(err, cmd.Wait(), r.Close())
}

// session is a program that ends when it has started another one in a session of its own, which does this.
func session(line string) string {
	return `p=$(mktemp -u); mkfifo $p; setsid sh -c 'echo left $$ >'$p'; ` + line + `' & cat $p; rm $p`
}

// Whatever a program leaves behind is gone before anything else happens, however it has left its parent.
func TestExecuteLeavesNothingBehind(t *testing.T) {
	for name, line := range map[string]string{
		"a child":                   `sleep 30 & echo left $!`,
		"a child without output":    `sleep 30 >/dev/null 2>&1 & echo left $!`,
		"a session":                 session(`exec sleep 30`),
		"a session without output":  session(`exec sleep 30 >/dev/null 2>&1`),
		"a grandchild":              `(sleep 30 & echo left $!)`,
		"a grandchild in a session": `setsid sh -c '(sleep 30 & echo left $!)'`,
		"one that ignores signals":  `(trap "" HUP INT QUIT TERM; sleep 30 & echo left $!)`,
		"one that is stopped":       `setsid sh -c 'sleep 30 & echo left $!; kill -STOP $!'`,
		"several":                   `for i in 1 2 3 4 5; do setsid sh -c 'sleep 30 & echo left $!'; done`,
		"one that starts more":      session(`for n in $(seq 500); do sleep 30 & sleep 0.01; done`),
		"none, since it has ended":  `true & echo left $!; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			output, err := containedLine(t, line)
			if err != nil || !strings.Contains(output, "left ") {
				t.Errorf("%v: %s", err, output)
			}
		})
	}
}

// A program of the same user can neither write to the loader's standard output nor read what is in its environment.
func TestExecuteHidesTheLoader(t *testing.T) {
	for name, line := range map[string]string{
		"standard output": `echo forged >/proc/$PPID/fd/1`,
		"standard error":  `echo forged >/proc/$PPID/fd/2`,
		"environment":     `cat /proc/$PPID/environ`,
		"files":           `ls /proc/$PPID/fd/`,
		"root":            `ls /proc/$PPID/root/`,
		"working folder":  `ls /proc/$PPID/cwd/`,
	} {
		t.Run(name, func(t *testing.T) {
			output, err := containedLine(t, `if { `+line+`; } 2>/dev/null; then echo "it was let"; else echo "it was not let"; fi`)
			if err != nil || output != "it was not let\n" {
				t.Errorf("%v: %q", err, output)
			}
		})
	}
}

// A program has no file of the loader's open but the pipe for what it prints.
func TestExecuteHandsOnNoFiles(t *testing.T) {
	output, err := containedLine(t, `for fd in /proc/$$/fd/*; do readlink $fd; done; readlink /proc/$$/fd/1 /proc/$$/fd/2 | sort -u | wc -l`)
	if err != nil {
		t.Fatal(err, output)
	}
	lines := strings.Fields(output)
	for _, file := range lines[:len(lines)-1] {
		if file != "/dev/null" && !strings.HasPrefix(file, "pipe:") {
			t.Errorf("it has %s open", file)
		}
	}
	must.Same(t, fmt.Sprintf("it has several pipes: %s", output), "1", lines[len(lines)-1])
}

// ticking is a line for sh of a program whose processes, one of them in a session of its own, each add to a file all the time.
const ticking = `tick() { while :; do echo >>"$1"; sleep 0.01; done; }; tick a & setsid sh -c 'while kill -0 $PPID; do echo >>b; sleep 0.01; done' >/dev/null 2>&1 & wait`

// A halted program does nothing, with all of its processes and beside another one that goes on, until it is continued.
func TestHalt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var programs []*Program
	for range 2 {
		p := must.Get(Start(ctx, workload.Command{Args: []string{"sh", "-c", ticking}, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: t.TempDir()}, nil))(t)
		programs = append(programs, p)
	}
	defer func() {
		cancel()
		for _, p := range programs {
			if e, err := p.Wait(ctx); err == nil {
				t.Errorf("it ended by itself: %+v", e)
			}
		}
	}()
	ticks := func(p *Program) (n [2]int64) {
		for i, name := range []string{"a", "b"} {
			if info, err := os.Stat(filepath.Join(p.cmd.Dir, name)); err == nil {
				n[i] = info.Size()
			}
		}
		return n
	}
	goesOn := func(p *Program) {
		t.Helper()
		began := ticks(p)
		for until := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if now := ticks(p); now[0] > began[0] && now[1] > began[1] {
				return
			}
			if time.Now().After(until) {
				t.Fatal("it does nothing")
			}
		}
	}
	for range 5 {
		goesOn(programs[0])
		must.Do(t, programs[0].Halt())
		halted := ticks(programs[0])
		goesOn(programs[1])
		must.Same(t, "bytes since it was halted", halted, ticks(programs[0]))
		must.Do(t, programs[0].Continue())
	}
}

// A program that has left a process behind cannot be halted: what is whose is not known any more. It is named, and its name is that
// of the shell until it has become another program.
func TestHaltRefused(t *testing.T) {
	output, err := containedLine(t, haltIt+`setsid sh -c 'sleep 30 & until grep -q sleep /proc/$!/comm; do :; done' >/dev/null; echo ready; sleep 30`)
	if want := "the program leaves processes behind, which cannot be halted with it: "; !strings.Contains(output, want) || !strings.Contains(output, " sleep") {
		t.Errorf("%v: %s", err, output)
	}
}

func TestOutputLines(t *testing.T) {
	var lines []string
	out := &output{watch: func(line string) { lines = append(lines, line) }}
	for _, part := range []string{
		"one\ntw", "o\n", "", "\nthr", "ee\r", "\n10%\r20%\r\n", strings.Repeat("x", 2*maxLine), "\n90%\rlast",
	} {
		if n, err := out.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	want := []string{"one", "two", "three", "10%", "20%", strings.Repeat("x", maxLine), "90%"}
	must.Same(t, "lines", want, lines)
	if last := out.last(); len(last) != 3 || last[1] != "90%" || last[2] != "last" {
		t.Errorf("%d last lines", len(last))
	}
}

// What is left out of a long output is its middle.
func TestOutputBounded(t *testing.T) {
	out := &output{}
	line := strings.Repeat("x", 1023) + "\n"
	fmt.Fprintln(out, "first")
	for range 4 * maxOutput / len(line) {
		fmt.Fprint(out, line)
	}
	for n := range 30 {
		fmt.Fprintln(out, n)
	}
	text := out.text()
	if len(text) > 2*maxOutput || !strings.HasPrefix(text, "first\n") || !strings.HasSuffix(text, "\n28\n29\n") {
		t.Errorf("%d bytes, %.10q … %q", len(text), text, text[len(text)-10:])
	}
	if last := out.last(); len(last) != tailLines || last[0] != "10" || last[19] != "29" {
		t.Errorf("last lines %q", last)
	}
}

func TestWithoutMiddle(t *testing.T) {
	must.Same(t, "WithoutMiddle", "a\nb\n", WithoutMiddle("a\nb\n", 4))
	var long strings.Builder
	for n := range 1000 {
		fmt.Fprintln(&long, n)
	}
	got := WithoutMiddle(long.String(), 60)
	if !strings.HasPrefix(got, "0\n1\n") || !strings.HasSuffix(got, "\n998\n999\n") || !strings.Contains(got, "bytes are left out here") ||
		len(got) > 120 {
		t.Errorf("%q", got)
	}
	if got := WithoutMiddle(strings.Repeat("x", 100), 30); len(got) > 100 {
		t.Errorf("a line without an end: %q", got)
	}
}
