// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"path/filepath"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/benchrun-dev/benchrun/controllers"
	"github.com/benchrun-dev/benchrun/internal/telemetry"
)

// metricsOptions of the endpoint. Without a folder, the certificate is one that the manager signs itself.
func metricsOptions(o *options) metricsserver.Options {
	m := metricsserver.Options{BindAddress: o.metricsAddress, SecureServing: o.metricsSecure, CertDir: o.metricsCertDir}
	if o.metricsSecure {
		m.FilterProvider = onlyReaders
		m.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	}
	return m
}

// checkCertificate says why the endpoint would not have the certificate that it is to have: controller-runtime would take one
// that it signs itself instead.
func checkCertificate(folder string) error {
	if folder == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")); err != nil {
		return fmt.Errorf("reading the certificate in --metrics-cert-dir: %w", err)
	}
	return nil
}

// registerMetrics adds Benchrun's own metrics to those of the endpoint.
func registerMetrics(o *options, mgr ctrl.Manager) (*telemetry.Metrics, error) {
	counted := telemetry.New()
	state := &telemetry.State{
		Read: func(ctx context.Context) (telemetry.Objects, error) {
			return controllers.ReadObjects(ctx, mgr.GetCache(), o.namespaces)
		},
		Leads: mgr.Elected(), Clock: clock.RealClock{}, Log: ctrl.Log.WithName("metrics"),
	}
	if err := metrics.Registry.Register(counted); err != nil {
		return nil, fmt.Errorf("registering the metrics: %w", err)
	}
	if err := metrics.Registry.Register(state); err != nil {
		return nil, fmt.Errorf("registering the metrics of runs and comparisons: %w", err)
	}
	return counted, nil
}
