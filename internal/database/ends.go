// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// maxEnds is how often a container may end before the server is up: what ends so often at once does not start later.
const maxEnds = 3

// ending is how a container without which there is no server last ended, and how often it has.
type ending struct {
	container string
	last      *corev1.ContainerStateTerminated
	times     int32
}

// endings of the containers of a Pod whose server is not up yet. An init container may end well; a server that ends, never does.
func (i *Instance) endings() []ending {
	server := i.server()
	if i.Pod == nil || server != nil && server.Started != nil && *server.Started {
		return nil
	}
	statuses := slices.DeleteFunc(slices.Clone(i.Pod.Status.InitContainerStatuses), func(s corev1.ContainerStatus) bool {
		return s.Name == ObserverContainer || slices.Contains(podutil.Beside(i.Pod), s.Name)
	})
	if server != nil {
		statuses = append(statuses, *server)
	}
	var all []ending
	for n := range statuses {
		s := &statuses[n]
		e := ending{container: s.Name, last: s.State.Terminated, times: s.RestartCount}
		if e.last == nil {
			e.last = s.LastTerminationState.Terminated
		}
		if e.last == nil || e.last.ExitCode == 0 && s.Name != i.container() {
			continue
		}
		if s.State.Running == nil {
			e.times++
		}
		all = append(all, e)
	}
	return all
}

// startEnded says how a container ended that the server needs, and whether it has ended too often; it is empty if none has.
func (i *Instance) startEnded() (text string, tooOften bool) {
	all := i.endings()
	if len(all) == 0 {
		return "", false
	}
	e := slices.MaxFunc(all, func(a, b ending) int { return int(a.times - b.times) })
	what := "the server"
	if e.container != i.container() {
		what = "container " + e.container
	}
	tooOften = e.times >= maxEnds
	often := ""
	if tooOften { // a message that is not the last one has no counter
		often = fmt.Sprintf(" %d times", e.times)
	}
	if e.last.Reason == podutil.OOMKilled {
		return what + " ran out of memory and was killed" + often +
			" before the database was up: raise database.resources.limits.memory", tooOften
	}
	log := e.last.Message
	if e.container == i.container() {
		log += i.ServerLog
	}
	return fmt.Sprintf("%s ended%s with exit code %d before the database was up; %s", what, often, e.last.ExitCode, lastLines(log)),
		tooOften
}

const (
	maxLines     = 3
	maxLineBytes = 800
)

// lastLines of a container's log are what a person looks for first.
func lastLines(log string) string {
	var lines []string
	for line := range strings.Lines(log) {
		if line = strings.TrimSpace(strings.ToValidUTF8(line, "")); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return "its log is empty"
	}
	text := strings.Join(lines[max(0, len(lines)-maxLines):], " | ")
	if cut := len(text) - maxLineBytes; cut > 0 {
		text = "… " + strings.ToValidUTF8(text[cut:], "")
	}
	return "its log ends with: " + text
}
