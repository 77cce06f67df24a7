//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"math/big"
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

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
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

// certificate writes a certificate for 127.0.0.1 into a folder, and returns it as what a client trusts.
func certificate(t *testing.T, folder string) *x509.CertPool {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true,
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	private := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	for name, block := range map[string]*pem.Block{
		"tls.crt": {Type: "CERTIFICATE", Bytes: der}, "tls.key": {Type: "PRIVATE KEY", Bytes: private},
	} {
		must.Write(t, filepath.Join(folder, name), pem.EncodeToMemory(block))
	}
	made := must.Get(x509.ParseCertificate(der))(t)
	pool := x509.NewCertPool()
	pool.AddCert(made)
	return pool
}

// tokenOf a ServiceAccount that is made.
func tokenOf(t *testing.T, namespace, name string) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	must.Do(t, api.Create(t.Context(), account))
	token := &authenticationv1.TokenRequest{}
	must.Do(t, api.SubResource("token").Create(t.Context(), account, token))
	return token.Status.Token
}

// mayRead lets a ServiceAccount get /metrics.
func mayRead(t *testing.T, namespace, name string) {
	t.Helper()
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: namespace + "-metrics-reader"},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}},
	}
	must.Do(t, api.Create(t.Context(), role))
	must.Do(t, api.Create(t.Context(), binding))
}

// The metrics are served with the certificate that was given, to who may read them, and count what happens.
func TestEnvtestMetricsEndpoint(t *testing.T) {
	namespace, folder := makeNamespace(t), t.TempDir()
	trusted, token, stranger := certificate(t, folder), tokenOf(t, namespace, "prometheus"), tokenOf(t, namespace, "stranger")
	mayRead(t, namespace, "prometheus")
	address := freeAddress(t)
	m := start(t, namespace, "metrics", namespace, "--metrics-bind-address="+address, "--metrics-cert-dir="+folder)
	https := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}}}
	scrape := func(ctx context.Context, token string) (int, string) {
		request := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/metrics", nil))(t)
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := https.Do(request)
		if err != nil {
			return 0, err.Error()
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return 0, err.Error()
		}
		return response.StatusCode, string(body)
	}
	runIn(t, namespace, "first")
	says(t, m, namespace, "first", "")
	runIn(t, namespace, "second")
	var status int
	var body string
	eventually(t, "the metrics tell of both runs", func(ctx context.Context) bool {
		status, body = scrape(ctx, token)
		return status == http.StatusOK && strings.Contains(body, `benchrun_runs{state="Queued"} 1`)
	})
	for _, want := range []string{
		`benchrun_runs{state="ProvisioningDatabase"} 1`, `benchrun_lane_queue_length{lane="default"} 1`, `benchrun_runs{state="Measuring"} 0`,
		`benchrun_attempts_total{outcome="Accepted"} 0`, `benchrun_lane_queue_head_age_seconds{lane="default"}`,
		"process_resident_memory_bytes",
	} {
		must.Has(t, body, "\n"+want)
	}
	if status, body := scrape(t.Context(), stranger); status != http.StatusForbidden {
		t.Errorf("a client without rights gets %d %s", status, body)
	}
	for _, token := range []string{"", "x", token + "x"} {
		if status, body := scrape(t.Context(), token); status != http.StatusUnauthorized || strings.Contains(body, "benchrun_") {
			t.Errorf("a client with the token %q gets %d %s", token, status, body)
		}
	}
	eventually(t, "the log has the transition", func(context.Context) bool {
		return strings.Contains(m.log.String(), `"msg":"Transition"`) &&
			strings.Contains(m.log.String(), `"run":"`+namespace+`/first","from":"Pending","to":"ProvisioningDatabase"`)
	})
}
