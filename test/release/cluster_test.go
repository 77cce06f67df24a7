//go:build release

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"k8s.io/client-go/util/cert"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// cluster is the name of the kind cluster that the test makes for itself.
const cluster = "benchrun-release"

// kindConfig is of one node, which may be a stand-in for kind's own: see hack/kind.yaml.
const kindConfig = `kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
kubeadmConfigPatches:
- |
  kind: KubeletConfiguration
  failCgroupV1: false
  cgroupDriver: cgroupfs
`

// startCluster makes an empty cluster, which ends with the test, and takes kubectl from its node. The database's image is not the
// release's matter: it is loaded as if it had been pulled.
func (u *user) startCluster(t *testing.T, nodeImage string) {
	t.Helper()
	config := filepath.Join(t.TempDir(), "kind.yaml")
	must.Write(t, config, kindConfig)
	u.do(t, "kind delete cluster --quiet") // of a test that was killed
	t.Cleanup(func() {
		if t.Failed() {
			u.try(t, "kubectl get pods --all-namespaces --output wide; kubectl get events --all-namespaces --sort-by .lastTimestamp | tail -n 30")
		}
		u.try(t, "kind delete cluster --quiet")
	})
	u.do(t, "kind create cluster --quiet --wait 3m --image "+nodeImage+" --config "+config)
	node := cluster + "-control-plane"
	u.do(t, "docker cp --follow-link "+node+":/usr/bin/kubectl "+filepath.Join(u.tools, "kubectl"))
	u.do(t, "kind load docker-image mariadb:11.8")
}

// startRegistry serves a registry over TLS where the host and the cluster's node reach it, and returns its address. Both trust its
// certificate, as they trust that of a user's own registry.
func (u *user) startRegistry(t *testing.T) string {
	t.Helper()
	var host string
	for gateway := range strings.FieldsSeq(u.do(t, "docker network inspect kind --format '{{range .IPAM.Config}}{{.Gateway}} {{end}}'")) {
		if ip := net.ParseIP(gateway); ip != nil && ip.To4() != nil {
			host = gateway
		}
	}
	listener := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp4", net.JoinHostPort(host, "0")))(t)
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, []net.IP{net.ParseIP(host)}, nil)
	must.Do(t, err)
	pair := must.Get(tls.X509KeyPair(certificate, key))(t)
	server := httptest.NewUnstartedServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	must.Do(t, server.Listener.Close())
	server.Listener = listener
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)

	trusted := filepath.Join(t.TempDir(), "registry.pem")
	must.Write(t, trusted, certificate)
	u.environment = append(u.environment, "SSL_CERT_FILE="+trusted)
	u.do(t, "docker exec --interactive "+cluster+"-control-plane sh -c 'mkdir -p /etc/ssl/certs && cat >/etc/ssl/certs/registry.pem' <"+trusted)
	return listener.Addr().String()
}
