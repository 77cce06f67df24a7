//go:build release

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package release installs a release as a user would: of its files alone, with neither Go nor a clone, by the lines of README.md
// and docs/how-to/use-a-restricted-cluster.md, in an empty cluster and from a registry of its own. hack/test.sh makes the release.
package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// small runs are enough to show that every image is there and runs.
const small = `apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: NAME}
spec:
  database:
    image: mariadb:11.8
    settings: {bufferPoolSize: 128Mi, redoLogSize: 96Mi, flushLogAtTrxCommit: 1}
    storage: {size: 1Gi}
    resources: {requests: {cpu: 250m}, limits: {cpu: "1", memory: 672Mi}}
  workload: WORKLOAD
  trials: {repetitions: 1}
  loader: {resources: {requests: {cpu: 250m}, limits: {cpu: "1", memory: 256Mi}}}
`

func TestReleaseInstalls(t *testing.T) {
	u := newUser(t)
	t.Run("verify", u.verify)
	t.Run("Docker", u.docker)
	u.startCluster(t, os.Getenv("BENCHRUN_NODE_IMAGE"))
	readme := u.commands(t, "README.md", "## Install")
	mirror := u.commands(t, "docs/how-to/use-a-restricted-cluster.md", "## Install without a registry, on kind")

	t.Run("Helm 3, without a registry", func(t *testing.T) {
		u.use(t, "helm", "BENCHRUN_HELM_3")
		u.do(t, mirror[0])
		u.measure(t, "archive", "{type: CommitSize, commitSize: {rows: 100, sweep: {rowsPerCommit: [1, 10]}}}")
		u.uninstall(t, "helm uninstall benchrun --namespace benchrun-system --wait")
	})

	address := u.startRegistry(t)
	copied := fill(t, readme[0], "registry.example.com", address)
	copied = fill(t, copied, "VERSION=v0.1.0", "VERSION="+os.Getenv("BENCHRUN_RELEASE_VERSION"))
	u.do(t, copied)
	names, _, _ := strings.Cut(copied, "\n")

	t.Run("Helm 4, from a registry", func(t *testing.T) {
		u.use(t, "helm", "BENCHRUN_HELM_4")
		u.do(t, names+"\n"+readme[1])
		u.available(t)
		u.do(t, readme[3])
		u.complete(t, "commit-size")
		u.do(t, "kubectl delete benchmarkruns --all --timeout 2m")
		u.uninstall(t, "helm uninstall benchrun --namespace benchrun-system --wait")
	})
	t.Run("kubectl, from a registry", func(t *testing.T) {
		u.do(t, names+"\n"+readme[2])
		u.measure(t, "sysbench", "{type: Sysbench, sysbench: {script: oltp_read_write, tables: 1, tableSize: 1000, clients: 1, seconds: 1}}")
		u.uninstall(t, names+"\nkubectl delete -f install.yaml --timeout 3m")
	})
}

// docker loads the archive of one architecture.
func (u *user) docker(t *testing.T) {
	image := "localhost/benchrun/loader-sysbench:" + os.Getenv("BENCHRUN_RELEASE_VERSION")
	load, _, _ := strings.Cut(u.commands(t, "docs/how-to/use-a-restricted-cluster.md", "## Copy images with Docker alone")[0], "\n")
	u.do(t, fill(t, load, "amd64", runtime.GOARCH))
	t.Cleanup(func() {
		u.do(t, "docker image rm "+strings.ReplaceAll(image, "loader-sysbench", "{manager,loader,loader-sysbench}"))
	})
	if version := u.do(t, "docker run --rm --entrypoint sysbench "+image+" --version"); !strings.HasPrefix(version, "sysbench 1.") {
		t.Errorf("the image runs sysbench %q", version)
	}
}

// verify that the files are what was signed.
func (u *user) verify(t *testing.T) {
	u.do(t, "minisign -Vqm SHA256SUMS -p "+os.Getenv("BENCHRUN_PUBLIC_KEY")+" && sha256sum --quiet --strict -c SHA256SUMS")
	files := must.Get(os.ReadDir(u.folder))(t)
	sums := u.do(t, "cat SHA256SUMS")
	for _, f := range files {
		if !strings.Contains(sums, "  "+f.Name()+"\n") && !strings.HasPrefix(f.Name(), "SHA256SUMS") {
			t.Errorf("SHA256SUMS lacks %s", f.Name())
		}
	}
}

// available waits for the manager. Its Pods run what was released: images by digest.
func (u *user) available(t *testing.T) {
	t.Helper()
	u.do(t, "kubectl --namespace benchrun-system wait --for=condition=Available --timeout=5m deployment/benchrun-manager")
	images := u.do(t, `kubectl --namespace benchrun-system get deployment/benchrun-manager \
		--output jsonpath='{.spec.template.spec.containers[0].image} {.spec.template.spec.containers[0].args}'`)
	if n := len(regexp.MustCompile(`@sha256:[0-9a-f]{64}`).FindAllString(images, -1)); n != 3 {
		t.Errorf("%d of the three images are named by digest: %s", n, images)
	}
}

// measure a small run of a workload to its end, when the manager is there.
func (u *user) measure(t *testing.T, name, workload string) {
	t.Helper()
	u.available(t)
	run := strings.NewReplacer("NAME", name, "WORKLOAD", workload).Replace(small)
	const file = "run.yaml"
	must.Write(t, filepath.Join(u.folder, file), run)
	u.do(t, "kubectl apply -f "+file+" && kubectl wait --for=condition=Finished --timeout=10m benchmarkrun/"+name)
	u.complete(t, name)
	u.do(t, "kubectl delete -f "+file+" --timeout 2m")
}

func (u *user) complete(t *testing.T, name string) {
	t.Helper()
	u.do(t, "kubectl wait --for=condition=Complete --timeout=1s benchmarkrun/"+name+
		" || { kubectl get benchmarkrun/"+name+" --output yaml; exit 1; }")
	t.Log(u.do(t, "kubectl get benchmarkrun/"+name))
}

// uninstall leaves nothing behind, but the kind where Helm says that it keeps it.
func (u *user) uninstall(t *testing.T, command string) {
	t.Helper()
	u.do(t, command)
	u.do(t, `kubectl delete --ignore-not-found --timeout 3m namespace/benchrun-system \
		crd/benchmarkruns.benchrun.dev`)
	for line := range strings.Lines(u.do(t, "kubectl get crd,clusterrole,clusterrolebinding,namespace,pv --output name")) {
		if strings.Contains(line, "benchrun") {
			t.Errorf("this is left: %s", line)
		}
	}
}

// user is a person with a folder of release files, some programs, and no more.
type user struct {
	folder, tools string
	environment   []string
}

func newUser(t *testing.T) *user {
	t.Helper()
	u := &user{folder: t.TempDir(), tools: t.TempDir()}
	must.Do(t, os.CopyFS(u.folder, os.DirFS(os.Getenv("BENCHRUN_RELEASE"))))
	home := t.TempDir()
	u.environment = []string{
		"PATH=" + u.tools + ":/usr/bin:/bin", "HOME=" + home, "KUBECONFIG=" + filepath.Join(home, "kubeconfig"), "KIND_CLUSTER_NAME=" + cluster,
		"VERSION=" + os.Getenv("BENCHRUN_RELEASE_VERSION"),
	}
	u.use(t, "kind", "BENCHRUN_KIND")
	u.do(t, "! command -v go")
	return u
}

// use a program, whose path is in the environment of the test, by that name.
func (u *user) use(t *testing.T, name, variable string) {
	t.Helper()
	link := filepath.Join(u.tools, name)
	if err := os.Remove(link); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	must.Do(t, os.Symlink(os.Getenv(variable), link))
}

// do what a script says in the folder, and return what it prints.
func (u *user) do(t *testing.T, script string) string {
	t.Helper()
	out, err := u.run(t, script)
	if err != nil {
		t.Fatalf("%s\n%v: %s", script, err, out)
	}
	return out
}

// try is for what need not work.
func (u *user) try(t *testing.T, script string) {
	t.Helper()
	out, err := u.run(t, script)
	t.Logf("%s\n%v: %s", script, err, out)
}

func (u *user) run(t *testing.T, script string) (string, error) {
	t.Helper()
	c := exec.Command("bash", "-euo", "pipefail", "-c", script) // t.Context() has ended when the test cleans up
	c.Dir, c.Env = u.folder, u.environment
	out, err := c.CombinedOutput()
	return string(out), err
}

// commands are the code blocks of a section of the documentation.
func (u *user) commands(t *testing.T, document, heading string) []string {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(document))))(t)
	_, section, _ := strings.Cut(string(text), "\n"+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)```\n(.*?)```").FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, m[1])
	}
	if len(blocks) == 0 {
		t.Fatalf("%s has no commands in %q", document, heading)
	}
	return blocks
}

// fill in what the documentation asks its reader to.
func fill(t *testing.T, commands, placeholder, value string) string {
	t.Helper()
	if !strings.Contains(commands, placeholder) {
		t.Fatalf("there is no %s to fill in: %s", placeholder, commands)
	}
	return strings.ReplaceAll(commands, placeholder, value)
}
