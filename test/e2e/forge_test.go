//go:build tutorials

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

// forge is a Git server with one repository, and what runs its workflow for a pull request.
type forge struct {
	url         string
	folder      string
	environment []string
	secrets     map[string]string
}

// workflow is as much of a workflow file as the tutorial's has.
type workflow struct {
	Jobs map[string]struct {
		Env   map[string]any `json:"env"`
		Steps []struct {
			Uses string         `json:"uses"`
			Run  string         `json:"run"`
			Env  map[string]any `json:"env"`
		} `json:"steps"`
	} `json:"jobs"`
}

// job is how one attempt to run a workflow's only job ended.
type job struct {
	code    int
	summary string
}

func newForge(ctx context.Context, secrets map[string]string) *forge {
	GinkgoHelper()
	docker := need(exec.LookPath("docker"))
	f := &forge{folder: GinkgoT().TempDir(), secrets: secrets}
	f.environment = []string{
		"PATH=" + filepath.Join(repository, "bin") + ":" + filepath.Dir(docker) + ":/usr/bin:/bin", "HOME=" + f.folder, "DOCKER_BUILDKIT=0", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Jane Doe", "GIT_AUTHOR_EMAIL=jane@example.com", "GIT_COMMITTER_NAME=Jane Doe", "GIT_COMMITTER_EMAIL=jane@example.com",
	}
	programs := need(exec.CommandContext(ctx, "git", "--exec-path").Output())
	server := httptest.NewServer(&cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(programs)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + filepath.Join(f.folder, "server"), "GIT_HTTP_EXPORT_ALL=1"},
	})
	DeferCleanup(server.Close)
	f.url = server.URL + "/database.git"
	f.types(ctx, f.folder, "git init --quiet --bare --initial-branch main server/database.git\n"+
		"git -C server/database.git config http.receivepack true\ngit clone --quiet "+f.url+" author")
	return f
}

// mainBranch is what pull requests begin at: it is pushed first.
const mainBranch = "refs/heads/main"

// pushes files to a reference, in a commit after that of the main branch.
func (f *forge) pushes(ctx context.Context, reference string, files map[string]string) {
	GinkgoHelper()
	author := filepath.Join(f.folder, "author")
	if reference != mainBranch {
		f.types(ctx, author, "git checkout --quiet --detach origin/main")
	}
	for name, content := range files {
		file := filepath.Join(author, filepath.FromSlash(name))
		Expect(os.MkdirAll(filepath.Dir(file), 0o700)).To(Succeed())
		Expect(os.WriteFile(file, []byte(content), 0o600)).To(Succeed())
	}
	f.types(ctx, author, fmt.Sprintf("git add --all\ngit commit --quiet --message %q\ngit push --quiet --force origin HEAD:%s\ngit fetch --quiet",
		"Change for "+reference, reference))
}

// runs the workflow that a pull request has in a folder and with an environment of its own: what it checks out comes from the server,
// and it ends with the first step that fails. Replaced are pairs of what the file says and what it says here.
func (f *forge) runs(ctx context.Context, file string, pullRequest, attempt int, replaced ...string) job {
	GinkgoHelper()
	reference := fmt.Sprintf("refs/pull/%d/head", pullRequest)
	sha, _, _ := strings.Cut(f.types(ctx, f.folder, "git ls-remote "+f.url+" "+reference), "\t")
	run, err := strconv.ParseUint(sha[:8], 16, 32) // each push begins another
	Expect(err).NotTo(HaveOccurred())
	workspace := filepath.Join(f.folder, fmt.Sprintf("workspace-%d-%d", run, attempt))
	text := f.types(ctx, filepath.Join(f.folder, "server", "database.git"), "git show "+sha+":"+file)
	for i := 0; i < len(replaced); i += 2 {
		Expect(text).To(ContainSubstring(replaced[i]))
	}
	var w workflow
	Expect(yaml.Unmarshal([]byte(strings.NewReplacer(replaced...).Replace(text)), &w)).To(Succeed())
	Expect(w.Jobs).To(HaveLen(1))
	values := map[string]string{
		"github.workspace": workspace, "github.sha": sha, "github.run_id": strconv.FormatUint(run, 10), "github.run_attempt": strconv.Itoa(attempt),
	}
	for name, secret := range f.secrets {
		values["secrets."+name] = secret
	}

	Expect(os.Mkdir(workspace, 0o700)).To(Succeed())
	summary := filepath.Join(f.folder, filepath.Base(workspace)+".md")
	environment := append([]string{"GITHUB_STEP_SUMMARY=" + summary, "GITHUB_RUN_ATTEMPT=" + strconv.Itoa(attempt)}, f.environment...)
	code := 0
	for _, only := range w.Jobs {
		environment = append(environment, pairs(only.Env, values)...)
		for _, step := range only.Steps {
			commands := step.Run
			if strings.HasPrefix(step.Uses, "actions/checkout@") {
				commands = fmt.Sprintf("git init --quiet .\ngit fetch --quiet --depth 1 %s %s\ngit checkout --quiet %s", f.url, reference, sha)
			}
			Expect(commands).NotTo(BeEmpty(), "a step that is not known here: %s", step.Uses)
			if code = f.step(ctx, workspace, expand(commands, values), slices.Concat(environment, pairs(step.Env, values))); code != 0 {
				break
			}
		}
	}
	content, err := os.ReadFile(summary)
	Expect(err).NotTo(HaveOccurred(), "the job wrote no summary")
	GinkgoWriter.Printf("the job ended with %d\n%s\n", code, content)
	return job{code: code, summary: string(content)}
}

// step runs commands as a runner does, and returns their exit code.
func (f *forge) step(ctx context.Context, folder, commands string, environment []string) int {
	GinkgoHelper()
	GinkgoWriter.Printf("$ %s\n", commands)
	c := exec.CommandContext(ctx, "bash", "-e", "-c", commands)
	c.Dir, c.Env, c.Stdout, c.Stderr = folder, environment, GinkgoWriter, GinkgoWriter
	err := c.Run()
	var failed *exec.ExitError
	if !errors.As(err, &failed) {
		Expect(err).NotTo(HaveOccurred())
		return 0
	}
	return failed.ExitCode()
}

// types commands, of which none may fail.
func (f *forge) types(ctx context.Context, folder, commands string) string {
	GinkgoHelper()
	c := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", commands)
	c.Dir, c.Env, c.Stderr = folder, f.environment, GinkgoWriter
	out, err := c.Output()
	Expect(err).NotTo(HaveOccurred(), commands)
	return string(out)
}

var expression = regexp.MustCompile(`\$\{\{ *([^ }]+) *\}\}`)

// expand the expressions of a workflow. One that has no value here fails.
func expand(text string, values map[string]string) string {
	GinkgoHelper()
	return expression.ReplaceAllStringFunc(text, func(found string) string {
		name := expression.FindStringSubmatch(found)[1]
		Expect(values).To(HaveKey(name))
		return values[name]
	})
}

// pairs are the variables of an environment.
func pairs(environment map[string]any, values map[string]string) []string {
	GinkgoHelper()
	var all []string
	for name, value := range environment {
		all = append(all, name+"="+expand(fmt.Sprint(value), values))
	}
	return all
}
