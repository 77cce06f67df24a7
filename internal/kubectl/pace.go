// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// logs opens the log of a container.
type logs interface {
	open(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error)
}

// podLogs are those that the API server gives.
type podLogs struct{ client kubernetes.Interface }

func (l podLogs) open(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	return l.client.CoreV1().Pods(namespace).GetLogs(pod, options).Stream(ctx)
}

// paceLines are how many lines the rate is computed over.
const paceLines = 6

// pace is what a loader does, by the lines of its log.
type pace struct {
	phase         string
	seconds, rows []float64
	note          string
}

// add reads a line, and says whether it was one about progress.
func (p *pace) add(line string) bool {
	now, is := result.ParseProgress(line)
	if !is {
		return false
	}
	if now.Phase != p.phase {
		*p = pace{phase: now.Phase}
	}
	p.note = now.Note
	if now.Rows != nil {
		p.seconds, p.rows = append(p.seconds, float64(now.Seconds)), append(p.rows, float64(*now.Rows))
		if len(p.rows) > paceLines {
			p.seconds, p.rows = p.seconds[1:], p.rows[1:]
		}
	}
	return true
}

// String is the phase with its rate, or with what the loader says of it.
func (p *pace) String() string {
	if last := len(p.rows) - 1; last > 0 && p.seconds[last] > p.seconds[0] {
		rate := (p.rows[last] - p.rows[0]) / (p.seconds[last] - p.seconds[0])
		if rate > 0 {
			return fmt.Sprintf("%s %s rows/s", p.phase, grouped(int64(rate+0.5)))
		}
	}
	if p.note != "" {
		return p.phase + ", " + p.note
	}
	return p.phase
}

// grouped writes a number with a comma between every three digits.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// readPace sends the pace after each line of a loader's log, until the log ends.
func readPace(ctx context.Context, from logs, namespace, pod, container string, send func(string)) error {
	tail := int64(paceLines)
	log, err := from.open(ctx, namespace, pod, &corev1.PodLogOptions{Container: container, Follow: true, TailLines: &tail})
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // it was only read
	p := new(pace)
	scanner := bufio.NewScanner(log)
	scanner.Buffer(nil, result.MaxLogLine)
	for scanner.Scan() {
		if p.add(strings.TrimRight(scanner.Text(), "\r")) {
			send(p.String())
		}
	}
	return scanner.Err()
}
