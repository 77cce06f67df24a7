// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

var images = podutil.Images{Loader: "benchrun/loader:test"}

const otherUID = "fedcba98-7654-3210-fedc-ba9876543210"

type goldenRun struct {
	run      *v1alpha1.BenchmarkRun
	instance int
	node     string
}

// goldenRuns are runs whose objects are kept in golden files.
func goldenRuns() map[string]goldenRun {
	memory := func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Database.Storage.Medium = v1alpha1.MediumMemory
		r.Spec.Database.Settings.BufferPoolSize = nil
	}
	restore := func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Trials.Data, r.Spec.Database.Storage.Medium = v1alpha1.DataRestore, v1alpha1.MediumNodeDisk
	}
	nodeDisk := func(r *v1alpha1.BenchmarkRun) { r.Spec.Database.Storage.Medium = v1alpha1.MediumNodeDisk }
	external := func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Database = v1alpha1.DatabaseSpec{
			Engine: v1alpha1.EngineMariaDB, Provisioner: v1alpha1.ProvisionerExternal,
			External: &v1alpha1.ExternalSpec{Host: "db.example.com", Port: 3307, CredentialsSecretName: "mine"},
		}
	}
	operator := func(r *v1alpha1.BenchmarkRun) { r.Spec.Database.Provisioner = v1alpha1.ProvisionerMariaDBOperator }
	bare := func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Database = v1alpha1.DatabaseSpec{Engine: v1alpha1.EngineMariaDB, Provisioner: v1alpha1.ProvisionerMariaDBOperator}
	}
	mysql := func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Database.Engine, r.Spec.Database.Image = v1alpha1.EngineMySQL, ""
	}
	return map[string]goldenRun{
		"external":                    {testutil.MakeRun("run", "ns").With(external).Obj(), 1, "unknown"},
		"mariadb-operator":            {testutil.MakeRun("run", "ns").With(bare).Obj(), 1, ""},
		"mariadb-operator-everything": {testutil.MakeRun("run", "ns").Everything().With(operator).Obj(), 12, "worker-3"},
		"default":                     {testutil.MakeRun("run", "ns").Obj(), 1, ""},
		"everything":                  {testutil.MakeRun("run", "ns").Everything().Obj(), 12, "worker-3"},
		"tuned": {testutil.MakeRun("run", "ns").With(func(r *v1alpha1.BenchmarkRun) {
			r.Spec.Database.HostTuning = &v1alpha1.HostTuningSpec{
				Swappiness: ptr.To[int32](0), IOScheduler: "none", TransparentHugePages: "never",
			}
		}).Obj(), 1, ""},
		"socket": {testutil.MakeRun("run", "ns").With(func(r *v1alpha1.BenchmarkRun) {
			r.Spec.Loader.Transport, r.Spec.Database.Storage.StorageClassName = v1alpha1.TransportUnixSocket, "fast-xfs"
		}).Obj(), 2, ""},
		"mysql":     {testutil.MakeRun("run", "ns").With(mysql).Obj(), 1, ""},
		"restore":   {testutil.MakeRun("run", "ns").With(restore).Obj(), 2, ""},
		"node-disk": {testutil.MakeRun("run", "ns").With(nodeDisk).Obj(), 1, ""},
		"memory":    {testutil.MakeRun("run", "ns").With(memory).Obj(), 2, "worker-3"},
	}
}

// objects of an instance, with the images of these tests.
func objects(t *testing.T, run *v1alpha1.BenchmarkRun, instance int, node string, images podutil.Images) []database.Object {
	t.Helper()
	list := must.Get(database.Objects(run, instance, node, images))(t)
	return list
}

func TestObjectsGolden(t *testing.T) {
	for name, tc := range goldenRuns() {
		t.Run(name, func(t *testing.T) {
			testutil.Golden(t, name+".yaml", testutil.YAML(t, objects(t, tc.run, tc.instance, tc.node, images)...))
		})
	}
}

// Every image comes from the registry of the installation, with its credentials and the run's, whatever makes the server.
func TestObjectsPullAsInstalled(t *testing.T) {
	installed := podutil.Images{Loader: "loader:1", Databases: map[string]string{"MariaDB": "mariadb:11.4"}, Registry: "mirror.example.com", PullSecrets: []string{"shared"}}
	for name, tc := range goldenRuns() {
		t.Run(name, func(t *testing.T) {
			run := tc.run.DeepCopy()
			run.Spec.ImagePullSecrets = []v1alpha1.ImagePullSecret{{Name: "own"}}
			want := []string{"mirror.example.com/loader:1", "mirror.example.com/" + run.Spec.Database.Image}
			switch {
			case run.Spec.Database.Provisioner == v1alpha1.ProvisionerExternal:
				want = nil
			case run.Spec.Database.Engine == v1alpha1.EngineMySQL:
				want[1] = "mirror.example.com/mysql:8.4" // the installation names no other
			case run.Spec.Database.Image == "":
				want[1] = "mirror.example.com/mariadb:11.4"
			}
			if plan.HasObserver(&run.Spec.Database) {
				want = slices.Insert(want, 0, want[0]) // the probe and the observer
			}
			if run.Spec.Database.HostTuning != nil || plan.CopiesData(run) {
				want = slices.Insert(want, 0, want[0]) // what finds the disk, or restores the data
			}
			var images []string
			text := testutil.YAML(t, objects(t, run, tc.instance, tc.node, installed)...)
			for _, match := range regexp.MustCompile(`(?m)^ +(?:- )?image: (\S+)$`).FindAllSubmatch(text, -1) {
				images = append(images, string(match[1]))
			}
			slices.Sort(images)
			must.Same(t, "images", want, images)
			secrets := regexp.MustCompile(`imagePullSecrets:\n +- name: own\n +- name: shared\n`)
			if want != nil && !secrets.Match(text) {
				t.Errorf("there are no pull secrets in\n%s", text)
			}
		})
	}
}

func TestSecretGolden(t *testing.T) {
	secret := database.Secret(testutil.MakeRun("run", "ns").Obj(), "hunter2hunter2")
	testutil.Golden(t, "secret.yaml", testutil.YAML(t, secret))
}

// Two runs of one specification make the same objects, but for what carries their UID.
func TestObjectsOfTwoRuns(t *testing.T) {
	for name, tc := range goldenRuns() {
		t.Run(name, func(t *testing.T) {
			again := tc.run.DeepCopy()
			again.UID = otherUID
			one := testutil.YAML(t, objects(t, tc.run, tc.instance, tc.node, images)...)
			two := testutil.YAML(t, objects(t, again, tc.instance, tc.node, images)...)
			if bytes.Equal(one, two) {
				t.Error("nothing carries the UID")
			}
			two = bytes.ReplaceAll(two, []byte(otherUID), []byte(tc.run.UID))
			two = bytes.ReplaceAll(two, []byte(otherUID[:8]), []byte(tc.run.UID[:8]))
			must.Same(t, "but for the UID", string(one), string(two))
		})
	}
}

// Making an instance writes neither to the run nor, by what objects share, to another instance's objects.
func TestObjectsAreIndependent(t *testing.T) {
	for name, tc := range goldenRuns() {
		t.Run(name, func(t *testing.T) {
			before := testutil.YAML(t, tc.run)
			first := objects(t, tc.run, tc.instance, tc.node, images)
			for _, object := range first {
				object.GetLabels()["changed"] = "yes"
				if set, ok := object.(*appsv1.StatefulSet); ok {
					set.Spec.Template.Spec.Tolerations[0].Key = "changed"
				}
			}
			must.Same(t, "the run, to which nothing is written", string(before), string(testutil.YAML(t, tc.run)))
			second := testutil.YAML(t, objects(t, tc.run, tc.instance, tc.node, images)...)
			if bytes.Contains(second, []byte("changed")) {
				t.Error("objects share what may be written to")
			}
		})
	}
}

func TestPasswordIsInTheSecretOnly(t *testing.T) {
	const password = "hunter2hunter2"
	run := testutil.MakeRun("run", "ns").Everything().Obj()
	secret := database.Secret(run, password)
	if secret.StringData["password"] != password || secret.StringData["username"] != "root" {
		t.Errorf("the Secret holds %v", secret.StringData)
	}
	must.Same(t, "times that the password stands in the Secret", 1, bytes.Count(testutil.YAML(t, secret), []byte(password)))
	for _, object := range objects(t, run, 1, "", images) {
		text := testutil.YAML(t, object)
		if bytes.Contains(text, []byte(password)) || bytes.Contains(text, []byte("secretKeyRef")) {
			t.Errorf("%T %s holds the password", object, object.GetName())
		}
	}
}

// Kueue's labels are on the StatefulSet alone: its Pods get from Kueue what they need, and nothing else has a place in a queue.
func TestStatefulSetIsQueuedByKueue(t *testing.T) {
	run := testutil.MakeRun("run", "ns").With(func(r *v1alpha1.BenchmarkRun) {
		r.Labels = map[string]string{v1alpha1.LabelKueueQueue: "benchmarks", v1alpha1.LabelKueuePriority: "high", "mine": "alone"}
	}).Obj()
	for _, object := range objects(t, run, 1, "", images) {
		set, isSet := object.(*appsv1.StatefulSet)
		want := map[string]string{}
		if isSet {
			want = plan.QueueLabels(run.Labels)
		}
		for key, value := range run.Labels {
			must.Same(t, fmt.Sprintf("%T: %s of %q", object, key, value), want[key], object.GetLabels()[key])
			if isSet && set.Spec.Template.Labels[key] != "" {
				t.Errorf("the Pod has %s", key)
			}
		}
	}
}

// allows evaluates a policy as a network does: whether a Pod of that namespace with those labels may connect to the selected Pods.
func allows(t *testing.T, p *networkingv1.NetworkPolicy, namespace string, of map[string]string) bool {
	t.Helper()
	for _, rule := range p.Spec.Ingress {
		if len(rule.From) == 0 {
			return true
		}
		for _, peer := range rule.From {
			if peer.IPBlock != nil || peer.NamespaceSelector != nil || peer.PodSelector == nil {
				t.Fatalf("a peer of another kind: %+v", peer)
			}
			if namespace == p.Namespace && matches(t, peer.PodSelector, of) {
				return true
			}
		}
	}
	return false
}

func matches(t *testing.T, s *metav1.LabelSelector, of map[string]string) bool {
	t.Helper()
	selector := must.Get(metav1.LabelSelectorAsSelector(s))(t)
	return selector.Matches(labels.Set(of))
}

// loaderLabels are those of the Pods of a run's first attempt.
func loaderLabels(t *testing.T, run *v1alpha1.BenchmarkRun) map[string]string {
	t.Helper()
	p := must.Get(plan.ForRun(&run.Spec))(t)
	job := must.Get(trial.Job(run, trial.Attempt{Trial: p.Trials[0], Point: p.Points[0], Number: 1, Instance: 1}, podutil.Images{Loader: "l"}))(t)
	return job.Spec.Template.Labels
}

// Only the Pods of a run may connect to its server and observer.
func TestNetworkPolicy(t *testing.T) {
	named := func(name string) *v1alpha1.BenchmarkRun {
		run := testutil.MakeRun(name, "ns").Obj()
		run.UID = types.UID("uid-of-" + name)
		return run
	}
	for name, tc := range map[string]struct {
		run, from *v1alpha1.BenchmarkRun
		namespace string
		want      bool
	}{
		"its own loader":           {named("run"), named("run"), "ns", true},
		"its own labels elsewhere": {named("run"), named("run"), "other", false},
		"another run":              {named("run"), named("other"), "ns", false},
	} {
		policy := database.NetworkPolicy(tc.run, 1)
		must.Same(t, name+": may connect", tc.want, allows(t, policy, tc.namespace, loaderLabels(t, tc.from)))
		if allows(t, policy, "ns", map[string]string{"app": "stranger"}) || allows(t, policy, "ns", nil) {
			t.Errorf("%s: a stranger may connect", name)
		}
		if policy.Spec.PolicyTypes[0] != networkingv1.PolicyTypeIngress || policy.Spec.Ingress[0].Ports != nil {
			t.Errorf("%s: %+v", name, policy.Spec)
		}
		// It is about the server's Pod, and no other one.
		for _, object := range objects(t, tc.run, 1, "", podutil.Images{}) {
			if set, is := object.(*appsv1.StatefulSet); is && !matches(t, &policy.Spec.PodSelector, set.Spec.Template.Labels) {
				t.Errorf("%s: the server's Pod is not meant", name)
			}
		}
		if matches(t, &policy.Spec.PodSelector, loaderLabels(t, tc.run)) {
			t.Errorf("%s: a loader is meant", name)
		}
	}
	elsewhere := named("run")
	for _, provisioner := range []v1alpha1.Provisioner{v1alpha1.ProvisionerExternal, v1alpha1.ProvisionerMariaDBOperator} {
		elsewhere.Spec.Database.Provisioner = provisioner
		if database.NetworkPolicy(elsewhere, 1) != nil {
			t.Errorf("%s: there is a policy", provisioner)
		}
	}
}

// The policy of the documentation lets a run's loaders connect to its server, in both directions that policies are about.
func TestDocumentedNetworkPolicy(t *testing.T) {
	page := must.Get(os.ReadFile("../../docs/how-to/use-a-restricted-cluster.md"))(t)
	documented := new(networkingv1.NetworkPolicy)
	must.Do(t, yaml.UnmarshalStrict(regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(page)[1], documented))
	run, p := testutil.MakeRun("run", "").Obj(), &documented.Spec
	pods := []map[string]string{loaderLabels(t, run)}
	for _, object := range objects(t, run, 1, "", images) {
		if set, is := object.(*appsv1.StatefulSet); is {
			pods = append(pods, set.Spec.Template.Labels)
		}
	}
	for _, pod := range pods {
		if !matches(t, &p.PodSelector, pod) || !allows(t, documented, "", pod) || !matches(t, p.Egress[0].To[0].PodSelector, pod) {
			t.Errorf("a Pod with %v is not meant, or cannot connect", pod)
		}
	}
}

func TestBlockIOClass(t *testing.T) {
	for _, class := range []string{"", "disk-100"} {
		run := testutil.MakeRun("run", "ns").With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Database.Storage.BlockIOClass = class }).Obj()
		for _, o := range objects(t, run, 1, "", images) {
			set, ok := o.(*appsv1.StatefulSet)
			if !ok {
				continue
			}
			must.Same(t, "class of the Pod", class, set.Spec.Template.Annotations["blockio.resources.beta.kubernetes.io/pod"])
		}
	}
}

func TestBlockIORefused(t *testing.T) {
	p := pod(waiting("CreateContainerError", `failed to set BlockIO class`))
	if database.BlockIORefused(p) {
		t.Error("a Pod without a class was refused one")
	}
	p.Annotations = map[string]string{database.AnnotationBlockIO: "disk-100"}
	if !database.BlockIORefused(p) {
		t.Error("a Pod that was refused its class is not seen")
	}
	p = pod(waiting("ErrImagePull", "not found"))
	p.Annotations = map[string]string{database.AnnotationBlockIO: "disk-100"}
	if database.BlockIORefused(p) {
		t.Error("a Pod without its image was refused a class")
	}
}

// What a cluster gives users to asks for none, and still not to be root, whatever provides the database.
func TestUsersAreLeftToTheCluster(t *testing.T) {
	for _, provisioner := range []v1alpha1.Provisioner{v1alpha1.ProvisionerStatefulSet, v1alpha1.ProvisionerMariaDBOperator} {
		run := testutil.MakeRun("r", "ns").With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Database.Provisioner = provisioner }).Obj()
		objects := must.Get(database.Objects(run, 1, "", podutil.Images{}))(t)
		before := users(t, objects)
		for _, object := range objects {
			podutil.LeaveUsers(object)
		}
		after := users(t, objects)
		if before < 3 || after != 0 {
			t.Errorf("%s: %d users and groups, %d of them left", provisioner, before, after)
		}
		if !bytes.Contains(encoded(t, objects), []byte(`"runAsNonRoot":true`)) {
			t.Errorf("%s: may be root", provisioner)
		}
	}
}

func encoded(t *testing.T, objects []database.Object) []byte {
	t.Helper()
	text := must.Get(json.Marshal(objects))(t)
	return text
}

// users counts those that objects ask for, and groups.
func users(t *testing.T, objects []database.Object) int {
	t.Helper()
	count := 0
	for _, field := range []string{`"runAsUser":`, `"runAsGroup":`, `"fsGroup":`} {
		count += bytes.Count(encoded(t, objects), []byte(field))
	}
	return count
}
