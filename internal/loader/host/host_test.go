// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchrun-dev/benchrun/internal/loader/host"
	"github.com/benchrun-dev/benchrun/internal/result"
)

const (
	swappiness = "proc/sys/vm/swappiness"
	hugePages  = "sys/kernel/mm/transparent_hugepage/enabled"
	scheduler  = "sys/block/sda/queue/scheduler"
	dropCaches = "proc/sys/vm/drop_caches"
)

// node is a fake one. Its files take every value, and forget which others there are.
func node(t *testing.T) *host.Host {
	t.Helper()
	h := &host.Host{Root: t.TempDir(), Disk: "sda"}
	for path, text := range map[string]string{
		swappiness: "60\n", hugePages: "always [madvise] never\n", scheduler: "none [mq-deadline] kyber\n", dropCaches: "0\n",
	} {
		put(t, h, path, text)
	}
	return h
}

func put(t *testing.T, h *host.Host, path, text string) {
	t.Helper()
	file := filepath.Join(h.Root, path)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// link has another file stand at a path.
func link(t *testing.T, h *host.Host, path, target string) {
	t.Helper()
	file := filepath.Join(h.Root, path)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, file); err != nil {
		t.Fatal(err)
	}
}

func have(t *testing.T, h *host.Host, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(h.Root, path))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// Only what is asked about is read, and only what is asked for is written.
func TestReadAndSet(t *testing.T) {
	all := result.HostSettings{Swappiness: "1", IOScheduler: "none", TransparentHugePages: "never"}
	for name, tc := range map[string]struct{ requested, before, after result.HostSettings }{
		"all":       {all, result.HostSettings{Swappiness: "60", IOScheduler: "mq-deadline", TransparentHugePages: "madvise"}, all},
		"one":       {result.HostSettings{Swappiness: "0"}, result.HostSettings{Swappiness: "60"}, result.HostSettings{Swappiness: "0"}},
		"nothing":   {},
		"the same":  {result.HostSettings{Swappiness: "60"}, result.HostSettings{Swappiness: "60"}, result.HostSettings{Swappiness: "60"}},
		"scheduler": {result.HostSettings{IOScheduler: "kyber"}, result.HostSettings{IOScheduler: "mq-deadline"}, result.HostSettings{IOScheduler: "kyber"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := node(t)
			before, err := h.Read(tc.requested)
			if err != nil || before != tc.before {
				t.Errorf("read %+v, %v", before, err)
			}
			after, err := h.Set(tc.requested)
			if err != nil || after != tc.after {
				t.Errorf("set %+v, %v", after, err)
			}
			if tc.requested.TransparentHugePages == "" && have(t, h, hugePages) != "always [madvise] never" {
				t.Errorf("huge pages were changed to %s", have(t, h, hugePages))
			}
			restored, err := h.Set(before)
			if err != nil || restored != before {
				t.Errorf("restored %+v, %v", restored, err)
			}
		})
	}
}

// A value that the node does not take is a problem that names both values, and those that it takes; what was changed before is
// text.
func TestNotEffective(t *testing.T) {
	for name, tc := range map[string]struct {
		change    func(*host.Host)
		requested result.HostSettings
		want      []string
		read      result.HostSettings
	}{
		"the kernel refuses it": {
			func(h *host.Host) { link(t, h, scheduler, "/proc/version") }, // which nobody may write to
			result.HostSettings{Swappiness: "1", IOScheduler: "bfq"},
			[]string{"the I/O scheduler of sda: requested bfq, effective Linux version", "; the kernel offers Linux, version, "},
			result.HostSettings{Swappiness: "1"},
		},
		"it keeps its own": {
			func(h *host.Host) { link(t, h, swappiness, "/dev/zero") }, // which takes all, and keeps nothing
			result.HostSettings{Swappiness: "1", TransparentHugePages: "never"},
			[]string{"vm.swappiness: requested 1, effective \x00"},
			result.HostSettings{},
		},
		"it has no such setting": {
			func(h *host.Host) { _ = os.Remove(filepath.Join(h.Root, hugePages)) },
			result.HostSettings{TransparentHugePages: "never"},
			[]string{"this node does not have transparent_hugepage/enabled"},
			result.HostSettings{},
		},
		"the disk is unknown": {
			func(h *host.Host) { h.Disk = result.Unknown },
			result.HostSettings{Swappiness: "1", IOScheduler: "none"},
			[]string{"the disk of the data volume is unknown"},
			result.HostSettings{},
		},
		"no disk of /sys/block": {
			func(h *host.Host) { h.Disk = "../../kernel/mm" },
			result.HostSettings{IOScheduler: "none"},
			[]string{"is not the name of a disk"},
			result.HostSettings{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := node(t)
			tc.change(h)
			read, err := h.Set(tc.requested)
			if err == nil {
				t.Fatalf("set %+v", read)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("it says %q, not %q", err, want)
				}
			}
			if tc.read != (result.HostSettings{}) && read.Swappiness != tc.read.Swappiness {
				t.Errorf("read back %+v", read)
			}
		})
	}
}

func TestDropPageCache(t *testing.T) {
	h := node(t)
	if err := h.DropPageCache(); err != nil || have(t, h, dropCaches) != "3" {
		t.Errorf("%v, and drop_caches has %s", err, have(t, h, dropCaches))
	}
	if err := os.Remove(filepath.Join(h.Root, dropCaches)); err != nil {
		t.Fatal(err)
	}
	if err := h.DropPageCache(); err == nil {
		t.Error("dropped without a file to write to")
	}
}

func TestWordsOfAFile(t *testing.T) {
	for text, want := range map[string]struct {
		chosen  string
		offered []string
	}{
		"none [mq-deadline] kyber": {"mq-deadline", []string{"none", "mq-deadline", "kyber"}},
		"[none]":                   {"none", []string{"none"}},
		"none":                     {"none", []string{"none"}},
		"always madvise [never":    {"always madvise [never", []string{"always", "madvise", "never"}},
		"":                         {"", nil},
		"] a [":                    {"] a [", []string{"a"}},
	} {
		if got := host.Chosen(text); got != want.chosen {
			t.Errorf("%q: chosen is %q", text, got)
		}
		if diff := cmp.Diff(want.offered, host.Offered(text), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// The chosen word is one of those that are offered, whatever stands in the file.
func FuzzChosen(f *testing.F) {
	for _, text := range []string{"none [mq-deadline] kyber", "[", "]", "a]b[c", "[[a]]", "60"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		offered := host.Offered(text)
		for _, word := range host.Offered(host.Chosen(text)) {
			if !slices.Contains(offered, word) {
				t.Errorf("%q: %q is not in %q", text, word, offered)
			}
		}
	})
}
