// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// tuned says what was changed on nodes, a line for each.
func tuned(nodes []result.HostTuning) []string {
	var list []string
	for _, n := range nodes {
		scheduler := "I/O scheduler"
		if n.Disk != "" {
			scheduler += " of " + n.Disk
		}
		var changes []string
		for _, s := range []struct{ name, before, after string }{
			{"swappiness", n.Before.Swappiness, n.After.Swappiness},
			{scheduler, n.Before.IOScheduler, n.After.IOScheduler},
			{"transparent huge pages", n.Before.TransparentHugePages, n.After.TransparentHugePages},
		} {
			if s.before != "" {
				changes = append(changes, s.name+" "+s.after+" instead of "+s.before)
			}
		}
		end := "; restored afterwards"
		if !n.Restored {
			end = "; NOT RESTORED: " + n.Message
		}
		list = append(list, "node "+n.Node+" was tuned: "+strings.Join(changes, ", ")+end)
	}
	return list
}
