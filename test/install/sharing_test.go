//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// Two releases of the same name, each for its own namespace, have no object in common: Helm refuses to install the second one else.
func TestEnvtestReleasesOfTheSameNameShareNothing(t *testing.T) {
	common := append(slices.Clone(images), "--set=crds.enabled=false", "--set=metrics.enabled=true",
		"--set=metrics.readers[0].namespace=monitoring", "--set=metrics.readers[0].name=prometheus")
	owner := map[string]string{}
	for _, in := range []string{"team-a", "team-b"} {
		objects := must.Get(helm(t, append(slices.Clone(common), "--namespace="+in, "--set=watchNamespaces={"+in+"}")...))(t)
		for _, o := range objects {
			name := o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
			if other, taken := owner[name]; taken {
				t.Errorf("the releases in %s and %s both have %s", other, in, name)
			}
			owner[name] = in
			var binding rbacv1.ClusterRoleBinding
			if o.GetKind() == "ClusterRoleBinding" {
				find(t, objects, "ClusterRoleBinding", o.GetName(), &binding)
				find(t, objects, "ClusterRole", binding.RoleRef.Name, new(rbacv1.ClusterRole))
			}
		}
	}
	if len(owner) < 20 {
		t.Errorf("there are %d objects alone", len(owner))
	}
}

// The manager of some namespaces may do its work in each of them, and has no rights elsewhere.
func TestEnvtestSomeNamespaces(t *testing.T) {
	objects := must.Get(helm(t, append(slices.Clone(images), "--set=watchNamespaces={one,two}")...))(t)
	if !slices.Contains(deployment(t, objects).Spec.Template.Spec.Containers[0].Args, "--namespaces=one,two") {
		t.Error("the manager is not told the namespaces")
	}
	roles := map[string]int{}
	for _, o := range objects {
		switch kind := o.GetKind(); {
		case kind == "ClusterRoleBinding":
			t.Errorf("ClusterRoleBinding %s", o.GetName())
		case strings.HasSuffix(o.GetName(), "-manager") && (kind == "Role" || kind == "RoleBinding"):
			roles[o.GetNamespace()]++
		}
	}
	if roles["one"] != 2 || roles["two"] != 2 || len(roles) != 2 {
		t.Errorf("Roles and bindings of the manager by namespace: %v", roles)
	}
	if _, err := helm(t, append(slices.Clone(images), "--set=watchNamespaces={one,one}")...); err == nil {
		t.Error("the same namespace twice is accepted")
	}
}

// A ServiceAccount that exists can be used. The one that every namespace has is not taken over.
func TestEnvtestExistingServiceAccount(t *testing.T) {
	for name, tc := range map[string]struct {
		args    []string
		account string
		created bool
		err     string
	}{
		"by default":         {account: "benchrun", created: true},
		"another name":       {args: []string{"--set=serviceAccount.name=mine"}, account: "mine", created: true},
		"an existing one":    {args: []string{"--set=serviceAccount.create=false", "--set=serviceAccount.name=mine"}, account: "mine"},
		"default":            {args: []string{"--set=serviceAccount.create=false", "--set=serviceAccount.name=default"}, account: "default"},
		"default, once more": {args: []string{"--set=serviceAccount.name=default"}, err: "set serviceAccount.create to false"},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := helm(t, append(slices.Clone(images), tc.args...)...)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("helm says %v, want %q", err, tc.err)
				}
				return
			}
			must.Do(t, err)
			created := false
			for _, o := range objects {
				created = created || o.GetKind() == "ServiceAccount" && o.GetName() == tc.account
			}
			var binding rbacv1.ClusterRoleBinding
			find(t, objects, "ClusterRoleBinding", "-manager", &binding)
			used := deployment(t, objects).Spec.Template.Spec.ServiceAccountName
			if created != tc.created || used != tc.account || binding.Subjects[0].Name != tc.account {
				t.Errorf("created: %t, used: %s, may: %s", created, used, binding.Subjects[0].Name)
			}
		})
	}
}

// The chart of a release knows the digests of its images, and needs the registry alone. Who names another image or tag gets that.
func TestEnvtestChartOfARelease(t *testing.T) {
	chart := filepath.Join(t.TempDir(), "benchrun")
	must.Do(t, os.CopyFS(chart, os.DirFS(filepath.Join(root, "charts", "benchrun"))))
	digest := func(c string) string { return "sha256:" + strings.Repeat(c, 64) }
	release := "digests: {manager: " + digest("a") + ", loader: " + digest("b") + ", loader-sysbench: " + digest("c") + "}\n"
	const registry = "--set=registry=example.com:5000/mine"
	for name, tc := range map[string]struct {
		release                   string
		args                      []string
		manager, loader, sysbench string
	}{
		"registry": {
			release,
			[]string{registry},
			"example.com:5000/mine/manager:0.1.0@" + digest("a"),
			"example.com:5000/mine/loader:0.1.0@" + digest("b"), "example.com:5000/mine/loader-sysbench:0.1.0@" + digest("c"),
		},
		"registry of the release": {
			"registry: example.com/theirs\n" + release, nil, "example.com/theirs/manager:0.1.0@" + digest("a"),
			"example.com/theirs/loader:0.1.0@" + digest("b"), "example.com/theirs/loader-sysbench:0.1.0@" + digest("c"),
		},
		"other tag and repository": {
			release,
			[]string{registry, "--set=image.tag=dev", "--set=loader.image.repository=example.com/other"},
			"example.com:5000/mine/manager:dev", "example.com/other:0.1.0", "example.com:5000/mine/loader-sysbench:0.1.0@" + digest("c"),
		},
		"no release, one digest": {
			"",
			[]string{registry, "--set=image.digest=" + digest("d")},
			"example.com:5000/mine/manager:0.1.0@" + digest("d"),
			"example.com:5000/mine/loader:0.1.0", "example.com:5000/mine/loader-sysbench:0.1.0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			must.Write(t, filepath.Join(chart, "files", "release.yaml"), tc.release)
			objects := must.Get(helmChart(t, chart, tc.args...))(t)
			c := deployment(t, objects).Spec.Template.Spec.Containers[0]
			must.Same(t, "image of the manager", tc.manager, c.Image)
			for _, want := range []string{"--loader-image=" + tc.loader, "--sysbench-image=" + tc.sysbench} {
				if !slices.Contains(c.Args, want) {
					t.Errorf("arguments are %v, want %s", c.Args, want)
				}
			}
		})
	}
	for _, wrong := range []string{"image.digest=sha256:0123", "loader.image.digest=latest", "registry=https://example.com", "registry=example.com/"} {
		must.Refused(helm(t, append(slices.Clone(images), "--set="+wrong)...))(t, "does not match pattern")
	}
}
