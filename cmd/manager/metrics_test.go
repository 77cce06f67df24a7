//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

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
		if !strings.Contains(body, "\n"+want) {
			t.Errorf("there is no %s in\n%s", want, body)
		}
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
