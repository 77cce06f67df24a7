// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/host"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

const (
	swappiness = "proc/sys/vm/swappiness"
	hugePages  = "sys/kernel/mm/transparent_hugepage/enabled"
	scheduler  = "sys/block/sda/queue/scheduler"
)

// node is a fake one. Its files take every value, and forget which others there are.
func node(t *testing.T) *host.Host {
	t.Helper()
	h := &host.Host{Root: t.TempDir(), Disk: "sda"}
	for path, text := range map[string]string{
		swappiness: "60\n", hugePages: "always [madvise] never\n", scheduler: "none [mq-deadline] kyber\n",
	} {
		file := filepath.Join(h.Root, path)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)))
	}
	return h
}

// Only what is asked about is read, and only what is asked for is written.
func TestApply(t *testing.T) {
	all := result.HostSettings{Swappiness: "60", IOScheduler: "mq-deadline", TransparentHugePages: "madvise"}
	for name, tc := range map[string]struct{ requested, before, others result.HostSettings }{
		"all":     {result.HostSettings{Swappiness: "1", IOScheduler: "none", TransparentHugePages: "never"}, all, result.HostSettings{}},
		"one":     {result.HostSettings{Swappiness: "0"}, result.HostSettings{Swappiness: "60"}, result.HostSettings{IOScheduler: "mq-deadline", TransparentHugePages: "madvise"}},
		"nothing": {others: all},
	} {
		t.Run(name, func(t *testing.T) {
			h := node(t)
			for _, step := range []struct {
				requested, want result.HostSettings
				set             bool
			}{
				{tc.requested, tc.before, false},
				{tc.requested, tc.requested, true},
				{tc.others, tc.others, false},
				{tc.before, tc.before, true},
				{all, all, false},
			} {
				if have, err := h.Apply(step.requested, step.set); err != nil || have != step.want {
					t.Errorf("%+v, set %t: %+v, %v", step.requested, step.set, have, err)
				}
			}
		})
	}
}

// A value that the node does not take is a problem that names both values, and those that it takes.
func TestNotEffective(t *testing.T) {
	link := func(path, target string) func(*host.Host) error {
		return func(h *host.Host) error {
			file := filepath.Join(h.Root, path)
			return errors.Join(os.Remove(file), os.Symlink(target, file))
		}
	}
	for name, tc := range map[string]struct {
		change func(*host.Host) error
		want   string
	}{
		// Nobody may write to the one file, and the other takes all, and keeps nothing.
		"the kernel refuses it": {link(scheduler, "/proc/version"), "the I/O scheduler of sda: requested none, effective Linux version"},
		"it keeps its own":      {link(swappiness, "/dev/null"), `vm.swappiness: requested 1, effective , of "": the kernel ignores it`},
		"no such setting":       {func(h *host.Host) error { return os.Remove(filepath.Join(h.Root, hugePages)) }, "this node does not have transparent_hugepage/enabled"},
		"the disk is unknown":   {func(h *host.Host) error { h.Disk = result.Unknown; return nil }, `the disk of the data volume is "unknown"`},
		"no disk of /sys/block": {func(h *host.Host) error { h.Disk = "../../kernel/mm"; return nil }, "so its I/O scheduler cannot be changed"},
	} {
		t.Run(name, func(t *testing.T) {
			h := node(t)
			must.Do(t, tc.change(h))
			must.Refused(h.Apply(result.HostSettings{Swappiness: "1", IOScheduler: "none", TransparentHugePages: "never"}, true))(t, tc.want)
		})
	}
}

// It waits for what is asked alone, until the node has it or it is told to stop.
func TestAwait(t *testing.T) {
	h := node(t)
	go func() {
		time.Sleep(10 * time.Millisecond)
		_, _ = h.Apply(result.HostSettings{Swappiness: "1"}, true)
	}()
	for _, requested := range []result.HostSettings{{}, {IOScheduler: "mq-deadline"}, {Swappiness: "1", TransparentHugePages: "madvise"}} {
		err := h.Await(t.Context(), requested)
		if have, _ := h.Apply(requested, false); err != nil || have != requested {
			t.Errorf("%+v: %v; it has %+v", requested, err, have)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Is(t, h.Await(ctx, result.HostSettings{Swappiness: "1", IOScheduler: "none"}), context.Canceled)
}

func TestChosen(t *testing.T) {
	for text, want := range map[string]string{
		"none [mq-deadline] kyber": "mq-deadline", "[none]": "none", "none": "none", "always madvise [never": "always madvise [never", "": "", "] a [": "] a [",
	} {
		must.Same(t, fmt.Sprintf("%q: chosen", text), want, host.Chosen(text))
	}
}
