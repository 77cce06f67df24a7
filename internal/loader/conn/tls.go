// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// tlsConfig is how connections are encrypted; nil if they are not.
func tlsConfig(server result.Server) (*tls.Config, error) {
	switch server.TLS {
	case result.TLSRequired:
		// Asked for by that name: what is measured is what encryption costs, not whom to trust.
		return &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, nil //nolint:gosec // see above
	case result.TLSVerifyIdentity:
		cfg := &tls.Config{ServerName: server.Host, MinVersion: tls.VersionTLS12}
		if server.CAFile == "" {
			return cfg, nil
		}
		pem, err := os.ReadFile(server.CAFile)
		if err != nil {
			return nil, fmt.Errorf("reading the authorities to trust: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate in PEM", server.CAFile)
		}
		return cfg, nil
	default:
		return nil, nil
	}
}
