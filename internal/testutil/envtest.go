//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package testutil

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// RunWithAPIServer runs a package's tests beside a real API server with Benchrun's CRDs, and gives them a client by way of
// set. It returns the exit code for os.Exit.
func RunWithAPIServer(m *testing.M, set func(client.WithWatch)) int {
	return RunWithEnvironment(m, func(_ *envtest.Environment, c client.WithWatch) { set(c) })
}

// RunWithEnvironment is RunWithAPIServer for tests that also need to know how to reach the API server. What prepares that, for
// example Remember, is called first.
func RunWithEnvironment(m *testing.M, set func(*envtest.Environment, client.WithWatch), prepare ...func(*rest.Config)) int {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		fmt.Fprintln(os.Stderr, "KUBEBUILDER_ASSETS must name a folder with kube-apiserver and etcd: run these by `make test-envtest`")
		return 1
	}
	environment := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join(must.Repository(), "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	// Some tests store more than the 2 GiB that etcd takes unless it is told otherwise.
	environment.ControlPlane.Etcd = new(envtest.Etcd)
	environment.ControlPlane.Etcd.Configure().Set("quota-backend-bytes", "8589934592")
	// From its cache, the API server answers a LIST when etcd has told it how far the cache is, which it asks for ten times a second.
	environment.ControlPlane.GetAPIServer().Configure().Set("watch-cache", "false")
	// They have the memory of this machine for themselves: a quarter less of their time is spent on collecting garbage.
	if err := os.Setenv("GOGC", "400"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	config, err := environment.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting the API server:", err)
		return 1
	}
	defer environment.Stop()
	for _, change := range prepare {
		change(config)
	}
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			fmt.Fprintln(os.Stderr, "making the scheme:", err)
			return 1
		}
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		fmt.Fprintln(os.Stderr, "making a client:", err)
		return 1
	}
	set(environment, c)
	return m.Run()
}
