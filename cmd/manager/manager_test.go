//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/benchrun-dev/benchrun/controllers"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// asManager is set in the environment of processes in which this test's program is the manager.
const asManager = "BENCHRUN_TEST_AS_MANAGER"

var (
	api        client.WithWatch
	kubeconfig []byte
)

func TestMain(m *testing.M) {
	if os.Getenv(asManager) != "" {
		main()
		return
	}
	os.Exit(testutil.RunWithEnvironment(m, func(e *envtest.Environment, c client.WithWatch) { kubeconfig, api = e.KubeConfig, c }))
}

// manager is a running process.
type manager struct {
	pid     int
	address string
	log     *output
}

// output may be read while a process writes it.
type output struct {
	mutex  sync.Mutex
	buffer bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.buffer.Write(p)
}

func (o *output) String() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.buffer.String()
}

// asIs is the manager as it is installed, for what this program would not show: how much memory it takes.
var asIs = flag.String("manager", "", "the manager's program; empty is this one")

// command is the manager.
func command(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	must.Write(t, file, kubeconfig)
	c := exec.CommandContext(ctx, cmp.Or(*asIs, os.Args[0]), args...)
	c.Env = append(os.Environ(), asManager+"=yes", "KUBECONFIG="+file)
	return c
}

// start a manager that elects a leader in that namespace. It ends with the test.
func start(t *testing.T, leaseNamespace, installation, namespace string, args ...string) *manager {
	t.Helper()
	m := &manager{address: freeAddress(t), log: new(output)}
	args = append(args, "--loader-image=example.com/loader:1", "--sysbench-image=example.com/sysbench:1",
		"--leader-elect", "--lease-namespace="+leaseNamespace, "--installation="+installation, "--namespaces="+namespace,
		"--health-probe-bind-address="+m.address)
	c := command(context.WithoutCancel(t.Context()), t, args...)
	c.Env = append(c.Env, "GOMEMLIMIT=256MiB") // as the chart has it: the container's limit
	c.Stdout, c.Stderr = m.log, m.log
	must.Do(t, c.Start())
	m.pid = c.Process.Pid
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		if err := c.Wait(); err != nil {
			t.Errorf("manager of %s: %v\n%s", installation, err, m.log)
		}
	})
	return m
}

// freeAddress is one at which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	return listener.Addr().String()
}

// ready is the status of the readiness probe, or 0 if there is no answer.
func (m *manager) ready(ctx context.Context) int {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.address+"/readyz", nil)
	if err != nil {
		return 0
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, condition func(context.Context) bool) {
	t.Helper()
	within(t, 5*time.Minute, what, condition)
}

// within waits for a condition for so long.
func within(t *testing.T, most time.Duration, what string, condition func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, most, true, func(ctx context.Context) (bool, error) {
		return condition(ctx), nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// holders are the installations that lead in a namespace, by the name of their Lease.
func holders(ctx context.Context, t *testing.T, namespace string) map[string]string {
	t.Helper()
	var leases coordinationv1.LeaseList
	must.Do(t, api.List(ctx, &leases, client.InNamespace(namespace)))
	names := map[string]string{}
	for _, lease := range leases.Items {
		if ptr.Deref(lease.Spec.HolderIdentity, "") != "" {
			names[lease.Name] = lease.Labels[controllers.LabelInstallation]
		}
	}
	return names
}

func makeNamespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "manager-"}}
	must.Do(t, api.Create(t.Context(), ns))
	return ns.Name
}

// A manager of two namespaces works in both, and in no other.
func TestEnvtestSomeNamespaces(t *testing.T) {
	home, one, two, other := makeNamespace(t), makeNamespace(t), makeNamespace(t), makeNamespace(t)
	start(t, home, "some", one+","+two)
	namespaces := []string{other, one, two}
	for _, namespace := range namespaces {
		runIn(t, namespace, "r")
	}
	begun := func(namespace string) bool { return len(runNamed(t, namespace, "r").Status.Conditions) > 0 }
	// One of them has the lane, and the other waits for it: both are seen.
	eventually(t, "both have begun", func(context.Context) bool { return begun(one) && begun(two) })
	if begun(other) {
		t.Error("the run of another namespace has begun")
	}
	for _, namespace := range namespaces {
		suspend(t, runNamed(t, namespace, "r"))
	}
}

// Of managers with the same work one leads. Another one of its installation stands by and is ready; one of another installation
// would wait for ever, is not ready, and says why.
func TestEnvtestInstallationThatWaits(t *testing.T) {
	home := makeNamespace(t)
	leader := start(t, home, "first", "")
	eventually(t, "the first leads", func(ctx context.Context) bool { return holders(ctx, t, home)[leaseName(nil)] == "first" })
	standby, other := start(t, home, "first", ""), start(t, home, "second", "")
	eventually(t, "the other is not ready", func(ctx context.Context) bool { return other.ready(ctx) == http.StatusInternalServerError })
	want := fmt.Sprintf(`installation \"first\" holds Lease %s/manager.benchrun.dev and carries out the runs that this one, \"second\", was installed for`, home)
	eventually(t, "the other says why", func(context.Context) bool { return strings.Contains(other.log.String(), want) })
	for name, m := range map[string]*manager{"leader": leader, "standby": standby} {
		eventually(t, "the "+name+" is ready", func(ctx context.Context) bool { return m.ready(ctx) == http.StatusOK })
	}
}

// A manager says its version when it is asked and when it starts.
func TestEnvtestVersion(t *testing.T) {
	out, err := command(t.Context(), t, "--version").CombinedOutput()
	text, found := strings.CutPrefix(string(out), "manager ")
	if err != nil || !found || strings.TrimSpace(text) == "" {
		t.Fatalf("manager --version says %q, %v", out, err)
	}
	m := start(t, makeNamespace(t), "versioned", "default")
	eventually(t, "the log has the version", func(context.Context) bool {
		return strings.Contains(m.log.String(), fmt.Sprintf(`"version":%q`, strings.TrimSpace(text)))
	})
}
