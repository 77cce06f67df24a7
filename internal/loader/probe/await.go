// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"path/filepath"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/host"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// awaitInterval is the time between two looks at the node's settings.
const awaitInterval = 200 * time.Millisecond

// Disk is the name in /sys/block of the disk below a directory, or unknown. The file system of the machine is at root.
func Disk(root, data string) string {
	m, found := mountOf(read(root, "proc/self/mountinfo"), resolved(data))
	if !found {
		return result.Unknown
	}
	dir := disk(root, m)
	if dir == "" {
		return result.Unknown
	}
	return orUnknown(filepath.Base(dir))
}

// Await returns when the node has these settings, as far as any are asked for. It fails if the context ends before.
func Await(ctx context.Context, root, data string, requested result.HostSettings) error {
	return await(ctx, func() result.HostSettings { return settings(root, data, requested) }, requested)
}

func await(ctx context.Context, look func() result.HostSettings, requested result.HostSettings) error {
	ticker := time.NewTicker(awaitInterval)
	defer ticker.Stop()
	for {
		if look() == requested {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

// settings of the node that are asked about. Other than those of package host they are read without any privilege.
func settings(root, data string, requested result.HostSettings) result.HostSettings {
	var have result.HostSettings
	if requested.Swappiness != "" {
		have.Swappiness = line(root, "proc/sys/vm/swappiness")
	}
	if requested.TransparentHugePages != "" {
		have.TransparentHugePages = host.Chosen(line(root, "sys/kernel/mm/transparent_hugepage/enabled"))
	}
	if requested.IOScheduler != "" {
		if m, found := mountOf(read(root, "proc/self/mountinfo"), resolved(data)); found {
			have.IOScheduler = scheduler(root, m)
		}
	}
	return have
}
