// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func parsed(t *testing.T, args ...string) *options {
	t.Helper()
	o, flags := new(options), flag.NewFlagSet("manager", flag.ContinueOnError)
	o.bind(flags)
	must.Do(t, flags.Parse(args))
	return o
}

// A manager that does not know its images, or where its Lease is, does not start, and says what to set.
func TestMissingOptions(t *testing.T) {
	const loader, sysbench = "--loader-image=example.com/loader:1", "--sysbench-image=example.com/loader-sysbench:1"
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"a certificate that is not there": {
			[]string{loader, sysbench, "--lease-namespace=x", "--metrics-cert-dir=/nonexistent"}, "reading the certificate in --metrics-cert-dir",
		},
		"a certificate without HTTPS": {
			[]string{loader, sysbench, "--lease-namespace=x", "--metrics-cert-dir=/x", "--metrics-secure=false"}, "needs --metrics-secure",
		},
		"a broken lifetime": {[]string{loader, sysbench, "--lane-namespace=here", "--default-ttl=1500ms"}, "--default-ttl is 1.5s, and must be whole seconds"},
		"negative lifetime": {[]string{loader, sysbench, "--lane-namespace=here", "--default-ttl=-1h"}, "--default-ttl is -1h0m0s, and must be whole seconds"},
		"no lifetime":       {[]string{loader, sysbench, "--lane-namespace=here", "--default-ttl=0"}, ""},
		"nothing":           {nil, "--loader-image is not set: Benchrun publishes no images"},
		"no loader":         {[]string{sysbench}, "--loader-image is not set: Benchrun publishes no images"},
		"no sysbench":       {[]string{loader, "--lane-namespace=here"}, ""},
		"no Lease":          {[]string{loader, sysbench, "--leader-elect"}, "--leader-elect needs --lease-namespace"},
		"no installation":   {[]string{loader, sysbench, "--installation="}, `--installation is "", and must be the value of a label`},
		"two installations": {[]string{loader, sysbench, "--installation=a/b"}, `--installation is "a/b", and must be the value of a label`},
		"all":               {[]string{loader, sysbench, "--leader-elect", "--lease-namespace=here"}, ""},
		"no lanes":          {[]string{loader, sysbench}, "--lane-namespace is not set, and neither is --lease-namespace"},
		"one manager alone": {[]string{loader, sysbench, "--lane-namespace=here"}, ""},
	} {
		err := parsed(t, tc.args...).validate()
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: error is %v, want %q", name, err, tc.want)
		}
	}
}

// Finished runs do not fill etcd unless the administrator says that they may.
func TestDefaultTTL(t *testing.T) {
	for want, args := range map[time.Duration][]string{30 * 24 * time.Hour: nil, 0: {"--default-ttl=0"}} {
		must.Same(t, "finished runs are deleted after", want, parsed(t, args...).DefaultTTL)
	}
}

// Lanes are in the namespace of the managers, unless it is said that they are elsewhere.
func TestLaneNamespace(t *testing.T) {
	for want, args := range map[string][]string{
		"home":   {"--lease-namespace=home"},
		"shared": {"--lease-namespace=home", "--lane-namespace=shared"},
	} {
		o := parsed(t, append(args, "--loader-image=l")...)
		must.Do(t, o.validate())
		must.Same(t, "lanes are in", want, o.LaneNamespace)
	}
}

func TestImageOptions(t *testing.T) {
	got := parsed(t, "--loader-image=l", "--sysbench-image=s", "--database-image=MariaDB=d", "--database-image=PostgreSQL=p", "--image-registry=r", "--image-pull-secrets=a,b").Images
	want := podutil.Images{Loader: "l", Sysbench: "s", Databases: map[string]string{"MariaDB": "d", "PostgreSQL": "p"}, Registry: "r", PullSecrets: []string{"a", "b"}}
	must.Same(t, "images", want, got)
}
