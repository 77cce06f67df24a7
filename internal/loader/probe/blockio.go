// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"os"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/loader/usage"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// blockIO says what limits this process, and with it all of its Pod, on the block device below a mount or on one that it lies on:
// for example "write 100/s on 254:0", or none. It is empty if the limits cannot be read.
func blockIO(root string, m mount) string {
	limits, known := usage.BlockIO(os.DirFS(root), read(root, "proc/self/cgroup"))
	if !known {
		return ""
	}
	var numbers, parts []string
	for _, dir := range devices(root, m) {
		numbers = append(numbers, strings.TrimSpace(read(dir, "dev")))
	}
	for _, l := range limits {
		// The file that a loop device stands for is on a disk that a container cannot find. What is written to the device counts
		// as the writer's on that disk too.
		if slices.Contains(numbers, l.Device) || len(numbers) > 0 && isLoop(numbers[0]) {
			parts = append(parts, l.String())
		}
	}
	if len(parts) == 0 {
		return result.NoLimit
	}
	return strings.Join(parts, "; ")
}

// isLoop says whether a device number is that of a loop device.
func isLoop(number string) bool { return strings.HasPrefix(number, "7:") }
