// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"fmt"
	"os"
	"reflect"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// tlsConfig is how connections are encrypted; nil if they are not.
func tlsConfig(server result.Server) (*tls.Config, error) {
	switch server.TLS {
	case result.TLSRequired:
		// Requested for by that name: what is measured is what encryption costs, not whom to trust.
		return &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, nil //nolint:gosec // see above
	case result.TLSVerifyIdentity:
		cfg := &tls.Config{ServerName: server.Host, MinVersion: tls.VersionTLS12}
		if server.CAFile == "" {
			return cfg, nil
		}
		pem, err := os.ReadFile(server.CAFile)
		if err != nil {
			return nil, fmt.Errorf("reading the trusted certificate authorities: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s contains no PEM certificate", server.CAFile)
		}
		return cfg, nil
	default:
		return nil, nil
	}
}

// encrypted is the connection that the driver has made of the one that it was given. Sessions speak over it below the driver, as
// they do over one that is not encrypted. The driver encrypts in the middle of its login and keeps what it made to itself, in a
// field that its next version may call otherwise: that would be an error here, and in the tests.
func encrypted(conn driver.Conn) (*tls.Conn, error) {
	var field reflect.Value
	if kept := reflect.Indirect(reflect.ValueOf(conn)); kept.Kind() == reflect.Struct {
		field = kept.FieldByName("netConn")
	}
	if field.Kind() != reflect.Interface || field.IsNil() || field.Elem().Type() != reflect.TypeFor[*tls.Conn]() {
		return nil, fmt.Errorf("the driver's connection %T does not have its encrypted connection where it had", conn)
	}
	return (*tls.Conn)(field.Elem().UnsafePointer()), nil
}
