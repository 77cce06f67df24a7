//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package install checks both ways to install the operator, the chart and the kustomization, by what they render and by what a
// real API server says to that.
package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

var api client.WithWatch

func TestMain(m *testing.M) {
	os.Exit(testutil.RunWithAPIServer(m, func(c client.WithWatch) { api = c }))
}

const (
	root      = "../.."
	namespace = "benchrun-system"
)

// images sets what has no default.
var images = []string{
	"--set=image.repository=example.com/manager", "--set=loader.image.repository=example.com/loader",
	"--set=loader.sysbenchImage.repository=example.com/loader-sysbench",
}

// The names of images that a chart or a kustomization has by default have no owner: a third party that took one would run with
// the operator's rights.
func TestEnvtestChartNeedsImages(t *testing.T) {
	for i, value := range []string{"image.repository", "loader.image.repository", "loader.sysbenchImage.repository"} {
		t.Run(value, func(t *testing.T) {
			_, err := helm(t, slices.Delete(slices.Clone(images), i, i+1)...)
			want := "neither registry nor " + value + " is set: name the registry that has the images"
			must.Fail(t, err, want)
		})
	}
}

func TestEnvtestKustomizationNamesNoImage(t *testing.T) {
	for name, folder := range map[string]string{"default": "config/default", "manager": "config/manager"} {
		t.Run(name, func(t *testing.T) {
			for _, c := range deployment(t, kustomize(t, folder)).Spec.Template.Spec.Containers {
				// No registry can have a name that ends in .invalid (RFC 2606).
				if host, _, _ := strings.Cut(c.Image, "/"); !strings.HasSuffix(host, ".invalid") {
					t.Errorf("container %s has image %s, which somebody may come to own", c.Name, c.Image)
				}
				for _, arg := range c.Args {
					if strings.Contains(arg, "image=") {
						t.Errorf("container %s has the argument %s", c.Name, arg)
					}
				}
			}
		})
	}
}

// The commands of CONTRIBUTING.md install every image by the name that its reader gives.
func TestEnvtestWhatIsBuiltIsInstalled(t *testing.T) {
	text := must.Get(os.ReadFile(filepath.Join(root, "CONTRIBUTING.md")))(t)
	overlay := regexp.MustCompile(`(?s)cat >bin/install/kustomization\.yaml <<END\n(.*?)\nEND\n`).FindSubmatch(text)
	if overlay == nil {
		t.Fatal("CONTRIBUTING.md has no kustomization")
	}
	checkout := t.TempDir()
	must.Do(t, os.CopyFS(filepath.Join(checkout, "config"), os.DirFS(filepath.Join(root, "config"))))
	folder := filepath.Join(checkout, "bin", "install")
	must.Do(t, os.MkdirAll(folder, 0o700))
	filled := os.Expand(string(overlay[1]), func(name string) string {
		return map[string]string{"REGISTRY": "example.com/mine", "TAG": "v1"}[name]
	})
	must.Write(t, filepath.Join(folder, "kustomization.yaml"), filled)
	c := deployment(t, kustomize(t, folder)).Spec.Template.Spec.Containers[0]
	must.Same(t, "image of the manager", "example.com/mine/manager:v1", c.Image)
	for _, arg := range []string{"--loader-image=example.com/mine/loader:v1", "--sysbench-image=example.com/mine/loader-sysbench:v1"} {
		if !slices.Contains(c.Args, arg) {
			t.Errorf("arguments are %v, want %s", c.Args, arg)
		}
	}
}

// Pull secrets, registry and the database's image reach the manager, and by its flags the Pods of runs.
func TestEnvtestChartImages(t *testing.T) {
	objects, err := helm(
		t, "--set=image.repository=benchrun/manager", "--set=image.tag=v1.2.3@sha256:0123", "--set=loader.image.repository=benchrun/loader",
		"--set=loader.sysbenchImage.repository=quay.io/benchrun/sysbench", "--set=imageRegistry=mirror.example.com:5000/hub/",
		"--set=database.images.MariaDB=mariadb:11.4", "--set=imagePullSecrets[0].name=one", "--set=imagePullSecrets[1].name=two",
	)
	must.Do(t, err)
	d := deployment(t, objects)
	pod := d.Spec.Template.Spec
	must.Same(t, "the manager's image", "mirror.example.com:5000/hub/benchrun/manager:v1.2.3@sha256:0123", pod.Containers[0].Image)
	for _, want := range []string{
		"--loader-image=benchrun/loader:0.1.0", "--sysbench-image=quay.io/benchrun/sysbench:0.1.0", "--database-image=MariaDB=mariadb:11.4",
		"--image-registry=mirror.example.com:5000/hub/", "--image-pull-secrets=one,two",
	} {
		if !slices.Contains(pod.Containers[0].Args, want) {
			t.Errorf("arguments are %v, want %s", pod.Containers[0].Args, want)
		}
	}
	must.Same(t, "pull secrets", []corev1.LocalObjectReference{{Name: "one"}, {Name: "two"}}, pod.ImagePullSecrets)
	for name, labels := range map[string]map[string]string{"Deployment": d.Labels, "Pod": d.Spec.Template.Labels} {
		must.Same(t, "version of the "+name, "v1.2.3", labels["app.kubernetes.io/version"])
	}
}

// An editor may read results and logs, and neither change them nor read Secrets. A viewer reads runs.
func TestEnvtestUserRoles(t *testing.T) {
	rights := map[string]map[string]bool{
		"editor": {
			"get configmaps": true, "list configmaps": true, "update configmaps": false, "delete configmaps": false,
			"create configmaps": false, "get secrets": false, "create benchmarkruns.benchrun.dev": true,
			"patch benchmarkruns/status.benchrun.dev": false,
			"watch pods": true, "get pods/log": true, "create pods": false, "create pods/exec": false,
		},
		"viewer": {
			"watch benchmarkruns.benchrun.dev": true, "list benchmarkruns.benchrun.dev": true,
			"create benchmarkruns.benchrun.dev": false, "get configmaps": false, "list pods": false, "get pods/log": false,
		},
	}
	for name, objects := range installations(t) {
		for role, allowed := range rights {
			t.Run(name+" "+role, func(t *testing.T) {
				user := bound(t, strings.ReplaceAll(name, " ", "-"), objects, "benchmarkrun-"+role)
				for what, yes := range allowed {
					demandRight(t, user, what, yes)
				}
			})
		}
	}
}

// Kubernetes' own roles include those of Benchrun: no administrator has to bind them. This lets no user read logs who could not.
func TestEnvtestUserRolesAreAggregated(t *testing.T) {
	const aggregate = "rbac.authorization.k8s.io/aggregate-to-"
	for name, objects := range installations(t) {
		t.Run(name, func(t *testing.T) {
			for role, into := range map[string][]string{"viewer": {"view"}, "editor": {"admin", "edit"}} {
				var r rbacv1.ClusterRole
				find(t, objects, "ClusterRole", "benchmarkrun-"+role, &r)
				var got []string
				for label, value := range r.Labels {
					if to, found := strings.CutPrefix(label, aggregate); found && value == "true" {
						got = append(got, to)
					}
				}
				slices.Sort(got)
				must.Same(t, fmt.Sprintf("the %s is part of", role), into, got)
			}
		})
	}
	apart := must.Get(helm(t, append(slices.Clone(images), "--set=aggregateUserRoles=false")...))(t)
	for _, o := range apart {
		for label := range o.GetLabels() {
			if strings.HasPrefix(label, aggregate) {
				t.Errorf("%s %s has the label %s", o.GetKind(), o.GetName(), label)
			}
		}
	}
}

// installations are the ways to install, as they are rendered.
func installations(t *testing.T) map[string][]*unstructured.Unstructured {
	t.Helper()
	chart := must.Get(helm(t, images...))(t)
	return map[string][]*unstructured.Unstructured{"chart": chart, "kustomization": kustomize(t, "config/default")}
}

// bound creates the ClusterRole with that suffix, and returns a user who has it in the namespace default.
func bound(t *testing.T, prefix string, objects []*unstructured.Unstructured, suffix string) string {
	t.Helper()
	var role rbacv1.ClusterRole
	find(t, objects, "ClusterRole", suffix, &role)
	role.Name = prefix + "-" + suffix
	create(t, &role)
	create(t, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: role.Name}},
	})
	return role.Name
}

// demandRight that the user may, or may not, do "VERB RESOURCE.GROUP" in the namespace default.
func demandRight(t *testing.T, user, what string, allowed bool) {
	t.Helper()
	verb, resource, _ := strings.Cut(what, " ")
	resource, group, _ := strings.Cut(resource, ".")
	resource, subresource, _ := strings.Cut(resource, "/")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: "default", Verb: verb, Group: group, Resource: resource, Subresource: subresource,
		},
	}}
	eventually(t, fmt.Sprintf("%s: %t", what, allowed), func(ctx context.Context) bool {
		r := review.DeepCopy()
		return api.Create(ctx, r) == nil && r.Status.Allowed == allowed
	})
}

// What is rendered is what an API server takes.
func TestEnvtestAccepted(t *testing.T) {
	chart := must.Get(helm(t, append(slices.Clone(images), "--set=metrics.enabled=true")...))(t)
	restricted := must.Get(helm(t, append(slices.Clone(images), "--set=watchNamespaces={default}")...))(t)
	for name, objects := range map[string][]*unstructured.Unstructured{
		"chart": chart, "chart for one namespace": restricted, "kustomization": kustomize(t, "config/default"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, o := range objects {
				if o.GetNamespace() == namespace {
					o.SetNamespace("default") // the other does not exist in a dry run
				}
				err := api.Create(t.Context(), o, client.DryRunAll)
				if err != nil && !apierrors.IsAlreadyExists(err) {
					t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
				}
			}
		})
	}
}

// The manager may hold the lanes of runs: in its own namespace, or in the one that several installations share.
func TestEnvtestManagerHoldsLanes(t *testing.T) {
	chart := must.Get(helm(t, images...))(t)
	shared := must.Get(helm(t, append(slices.Clone(images), "--set=watchNamespaces={default}", "--set=laneNamespace=lanes")...))(t)
	for name, tc := range map[string]struct {
		objects         []*unstructured.Unstructured
		role, namespace string
	}{
		"chart":         {chart, "leader-election", namespace},
		"kustomization": {kustomize(t, "config/default"), "leader-election", namespace},
		"shared lanes":  {shared, "lanes", "lanes"},
	} {
		t.Run(name, func(t *testing.T) {
			var role rbacv1.Role
			var binding rbacv1.RoleBinding
			find(t, tc.objects, "Role", tc.role, &role)
			find(t, tc.objects, "RoleBinding", tc.role, &binding)
			leases := slices.IndexFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "leases") })
			for _, verb := range []string{"get", "list", "watch", "create", "delete"} {
				if leases < 0 || !slices.Contains(role.Rules[leases].Verbs, verb) {
					t.Errorf("the manager may not %s Leases: %v", verb, role.Rules)
				}
			}
			if role.Namespace != tc.namespace || binding.Namespace != role.Namespace || binding.RoleRef.Name != role.Name ||
				binding.Subjects[0].Namespace != namespace {
				t.Errorf("Role in %s, bound in %s to %v", role.Namespace, binding.Namespace, binding.Subjects)
			}
		})
	}
	if args := deployment(t, shared).Spec.Template.Spec.Containers[0].Args; !slices.Contains(args, "--lane-namespace=lanes") {
		t.Errorf("arguments are %v", args)
	}
}

// The Pods of runs ask for the users of their images, but on OpenShift, which the chart knows by its API, and where the
// administrator says so.
func TestEnvtestUsersOfPods(t *testing.T) {
	const openShift = "--api-versions=security.openshift.io/v1"
	for _, tc := range []struct {
		args []string
		want bool
	}{
		{nil, false},
		{[]string{openShift}, true},
		{[]string{openShift, "--set=podUsers=Image"}, false},
		{[]string{"--set=podUsers=Cluster"}, true},
	} {
		objects := must.Get(helm(t, slices.Concat(images, tc.args)...))(t)
		if got := slices.Contains(deployment(t, objects).Spec.Template.Spec.Containers[0].Args, "--cluster-users"); got != tc.want {
			t.Errorf("%v: the manager has the flag: %t", tc.args, got)
		}
	}
	if _, err := helm(t, append(slices.Clone(images), "--set=podUsers=Root")...); err == nil {
		t.Error("users that nobody knows are accepted")
	}
}

// What is in other namespaces is not named unless the administrator says so.
func TestEnvtestOtherNamespacesAreNotNamed(t *testing.T) {
	for value, named := range map[string]bool{"": false, "false": false, "true": true} {
		args := slices.Clone(images)
		if value != "" {
			args = append(args, "--set=nameOtherNamespaces="+value)
		}
		objects := must.Get(helm(t, args...))(t)
		got := slices.Contains(deployment(t, objects).Spec.Template.Spec.Containers[0].Args, "--name-other-namespaces")
		must.Same(t, fmt.Sprintf("nameOtherNamespaces=%s: the manager has the flag", value), named, got)
	}
	if _, err := helm(t, append(slices.Clone(images), "--set=nameOtherNamespaces=some")...); err == nil {
		t.Error("a value that is no boolean is accepted")
	}
}

// The chart states after how long finished runs are deleted. 0 reaches the manager: without the flag they would be deleted.
func TestEnvtestDefaultTTL(t *testing.T) {
	for name, tc := range map[string]struct{ set, want string }{
		"default":        {want: "--default-ttl=720h"},
		"shorter":        {set: "--set=defaultTTL=1h30m", want: "--default-ttl=1h30m"},
		"none, a number": {set: "--set=defaultTTL=0", want: "--default-ttl=0"},
		"none, a text":   {set: "--set-string=defaultTTL=0", want: "--default-ttl=0"},
	} {
		objects, err := helm(t, append(slices.Clone(images), slices.DeleteFunc([]string{tc.set}, func(s string) bool { return s == "" })...)...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		args := deployment(t, objects).Spec.Template.Spec.Containers[0].Args
		given := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return !strings.HasPrefix(a, "--default-ttl") })
		must.Same(t, name+": arguments", []string{tc.want}, given)
	}
	for _, value := range []string{"30d", "1", "-1h", ""} {
		if _, err := helm(t, append(slices.Clone(images), "--set=defaultTTL="+value)...); err == nil {
			t.Errorf("defaultTTL=%s is accepted", value)
		}
	}
}
