//go:build release

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// container is where the stranger types.
const container = "benchrun-first-hour"

// stranger has a container with kubectl, Helm and the files of a release, and reaches a cluster and a registry.
type stranger struct {
	*user
	began      time.Time
	transcript strings.Builder
}

// TestFirstHour types what README.md and the first tutorial say, from `helm install` to the answer. BENCHRUN_FIRST_HOUR is a file
// that gets what was typed and printed, with the minutes.
func TestFirstHour(t *testing.T) {
	u := newUser(t)
	u.startCluster(t, os.Getenv("BENCHRUN_NODE_IMAGE"))
	u.use(t, "helm", "BENCHRUN_HELM_4")
	readme := u.commands(t, "README.md", "## Install")
	copied := fill(t, readme[0], "registry.example.com", u.startRegistry(t))
	copied = fill(t, copied, "VERSION=v0.1.0", "VERSION="+os.Getenv("BENCHRUN_RELEASE_VERSION"))
	u.do(t, copied)
	names, _, _ := strings.Cut(copied, "\n")

	s := &stranger{user: u}
	s.move(t, strings.TrimPrefix(names, "export "))
	s.types(t, strings.TrimSpace(readme[1]))
	s.types(t, "kubectl --namespace benchrun-system wait --for=condition=Available --timeout=5m deployment/benchrun-manager")
	s.types(t, fill(t, u.commands(t, "README.md", "### Install the kubectl plugin")[0], "amd64", runtime.GOARCH))
	s.follows(t, "compare-two-settings.md")
	if answer := s.in(t, "head -n 1 oltp.md"); !strings.Contains(answer, "large-pool") {
		t.Errorf("the answer is %q", answer)
	}
	if file := os.Getenv("BENCHRUN_FIRST_HOUR"); file != "" {
		s.record(t, file)
	}
}

// move into a container of a plain Debian, with the words that the shell has in its environment.
func (s *stranger) move(t *testing.T, words string) {
	t.Helper()
	home := t.TempDir()
	s.do(t, "mkdir -p "+home+"/programs "+home+"/.local/bin && cp -L "+s.tools+"/{kubectl,helm} "+home+"/programs && "+
		"kind get kubeconfig >"+home+"/kubeconfig && cp $SSL_CERT_FILE "+home+"/registry.pem")
	s.try(t, "docker rm --force "+container) // of a test that was killed
	t.Cleanup(func() { s.try(t, "docker rm --force "+container) })
	var environment strings.Builder
	for word := range strings.FieldsSeq(words) {
		environment.WriteString(" --env " + word)
	}
	s.do(t, "docker run --detach --name "+container+" --network host --volume "+home+":/home/stranger --volume "+s.folder+":/release "+
		"--workdir /release --env HOME=/home/stranger --env KUBECONFIG=/home/stranger/kubeconfig "+
		"--env SSL_CERT_FILE=/home/stranger/registry.pem --env PATH=/home/stranger/programs:/home/stranger/.local/bin:/usr/bin:/bin"+
		environment.String()+" --entrypoint sleep mariadb:11.8 infinity")
	s.began = time.Now()
}

// in the container, what a script says; it must not fail.
func (s *stranger) in(t *testing.T, script string) string {
	t.Helper()
	out, err := exec.Command("docker", "exec", container, "bash", "-euo", "pipefail", "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%v: %s\n%s", script, err, out, s.transcript.String())
	}
	return string(out)
}

// types commands, which become a part of the transcript with what they print and the time since the first one.
func (s *stranger) types(t *testing.T, commands string) {
	t.Helper()
	out := s.in(t, commands)
	since := time.Since(s.began).Round(time.Second)
	fmt.Fprintf(&s.transcript, "$ %s\n%s# %s\n\n", strings.TrimSpace(commands), shortened(out), since)
}

// shortened is what was printed without the middle, if it is long: a line for each change while a comparison is watched.
func shortened(out string) string {
	const first, last = 12, 3
	lines := strings.SplitAfter(out, "\n")
	if len(lines) <= 2*(first+last) {
		return out
	}
	left := len(lines) - 1 - first - last
	return strings.Join(lines[:first], "") + fmt.Sprintf("[%d more lines]\n", left) + strings.Join(lines[first+left:], "")
}

// follows a tutorial but for its cleaning up.
func (s *stranger) follows(t *testing.T, tutorial string) {
	t.Helper()
	content := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "tutorials", tutorial)))(t)
	text, _, _ := strings.Cut(string(content), "\n## Clean up\n")
	for _, step := range testutil.Steps(text) {
		if step.File == "" {
			s.types(t, step.Commands)
			continue
		}
		must.Write(t, filepath.Join(s.folder, step.File), step.Content)
	}
}

// record the transcript as a page.
func (s *stranger) record(t *testing.T, file string) {
	t.Helper()
	address := regexp.MustCompile(`\b(\d+\.){3}\d+:\d+\b`)
	text := address.ReplaceAllString(s.transcript.String(), "registry.example.com")
	page := fmt.Sprintf(`# The first hour

What somebody types who has a cluster, kubectl, Helm and the files of a release: the lines of the [README](../README.md#install)
and of the [first tutorial](tutorials/compare-two-settings.md), in a container that has nothing else. The images are in a registry
beside the cluster, and the server's image is on its node. A line that begins with # has the time since the first command.

Typed, with what was printed, by `+"`make first-hour`"+` on %s, on a kind cluster with one node on %d shared CPUs.

`+"```console\n%s```\n", time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), strings.TrimSpace(text)+"\n")
	must.Do(t, os.WriteFile(file, []byte(page), 0o644))
}
