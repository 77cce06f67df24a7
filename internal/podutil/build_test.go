// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package podutil_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func resources(cpu, memory string) corev1.ResourceList {
	list := corev1.ResourceList{}
	if cpu != "" {
		list[corev1.ResourceCPU] = resource.MustParse(cpu)
	}
	if memory != "" {
		list[corev1.ResourceMemory] = resource.MustParse(memory)
	}
	return list
}

func TestGuaranteed(t *testing.T) {
	cases := map[string]struct{ requested, want corev1.ResourceRequirements }{
		"nothing": {},
		"limits only": {
			corev1.ResourceRequirements{Limits: resources("2", "1Gi")},
			corev1.ResourceRequirements{Limits: resources("2", "1Gi"), Requests: resources("2", "1Gi")},
		},
		"a request that is said stays": {
			corev1.ResourceRequirements{Limits: resources("2", "1Gi"), Requests: resources("1", "")},
			corev1.ResourceRequirements{Limits: resources("2", "1Gi"), Requests: resources("1", "1Gi")},
		},
		"requests only": {
			corev1.ResourceRequirements{Requests: resources("1", "1Gi")},
			corev1.ResourceRequirements{Requests: resources("1", "1Gi")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := tc.requested.DeepCopy()
			must.Same(t, "resources", tc.want, podutil.Guaranteed(tc.requested))
			must.Same(t, "what was asked, to which nothing is written", *before, tc.requested)
		})
	}
}

func TestBindToNodes(t *testing.T) {
	name := corev1.NodeSelectorRequirement{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"worker"}}
	disk := corev1.NodeSelectorRequirement{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"ssd"}}
	zone := corev1.NodeSelectorRequirement{Key: "zone", Operator: corev1.NodeSelectorOpExists}
	required := func(terms ...corev1.NodeSelectorTerm) *corev1.Affinity {
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
		}}
	}
	bound := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{name}}
	podsOnly := &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{}}
	both := required(bound)
	both.PodAntiAffinity = &corev1.PodAntiAffinity{}
	preferred := &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1}},
	}}
	preferredBound := preferred.DeepCopy()
	preferredBound.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{bound},
	}
	expression := func(r corev1.NodeSelectorRequirement, fields ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{r}, MatchFields: fields}
	}
	cases := map[string]struct {
		affinity *corev1.Affinity
		nodes    []string
		want     *corev1.Affinity
	}{
		"no node, nothing":         {nil, []string{""}, nil},
		"no node, an affinity":     {required(expression(disk)), []string{""}, required(expression(disk))},
		"nothing":                  {nil, []string{"worker"}, required(bound)},
		"affinity to Pods":         {podsOnly, []string{"worker"}, both},
		"preferred nodes":          {preferred, []string{"worker"}, preferredBound},
		"a selector without terms": {required(), []string{"worker"}, required(bound)},
		"a required term":          {required(expression(disk)), []string{"worker"}, required(expression(disk, name))},
		"terms are alternatives":   {required(expression(disk), expression(zone)), []string{"worker"}, required(expression(disk, name), expression(zone, name))},
		"two nodes": {
			required(expression(disk), expression(zone)),
			[]string{"worker", "worker"},
			required(expression(disk, name), expression(disk, name), expression(zone, name), expression(zone, name)),
		},
		"a term that has fields too": {required(expression(disk, name)), []string{"worker"}, required(expression(disk, name, name))},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			before := tc.affinity.DeepCopy()
			must.Same(t, "affinity", tc.want, podutil.BindToNodes(tc.affinity, tc.nodes...))
			must.Same(t, "the affinity that was asked for, to which nothing is written", before, tc.affinity)
		})
	}
}

func TestTolerations(t *testing.T) {
	lost := func(key string) corev1.Toleration {
		return corev1.Toleration{
			Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](30),
		}
	}
	// The caller's slice has room behind its end, and something in it.
	backing := []corev1.Toleration{{Key: "mine"}, {Key: "untouched"}, {Key: "untouched"}}
	got := podutil.Tolerations(backing[:1])
	want := []corev1.Toleration{{Key: "mine"}, lost("node.kubernetes.io/not-ready"), lost("node.kubernetes.io/unreachable")}
	must.Same(t, "tolerations", want, got)
	must.Same(t, "the caller's slice", []corev1.Toleration{{Key: "mine"}, {Key: "untouched"}, {Key: "untouched"}}, backing)
	if got := podutil.Tolerations(nil); len(got) != 2 {
		t.Errorf("without any: %v", got)
	}
}

func TestNodeLost(t *testing.T) {
	disrupted := corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager"}
	ready := func(status corev1.ConditionStatus) corev1.PodCondition {
		return corev1.PodCondition{Type: corev1.PodReady, Status: status}
	}
	running := corev1.ContainerStatus{Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	ended := corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}
	for name, tc := range map[string]struct {
		conditions []corev1.PodCondition
		container  corev1.ContainerStatus
		want       bool
	}{
		"running":                           {[]corev1.PodCondition{ready(corev1.ConditionTrue)}, running, false},
		"node does not answer yet":          {[]corev1.PodCondition{ready(corev1.ConditionFalse)}, running, false},
		"node was given up":                 {[]corev1.PodCondition{disrupted, ready(corev1.ConditionFalse)}, running, true},
		"evicted, and still running":        {[]corev1.PodCondition{disrupted, ready(corev1.ConditionTrue)}, running, false},
		"evicted, and ended by its kubelet": {[]corev1.PodCondition{disrupted, ready(corev1.ConditionFalse)}, ended, false},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Status: corev1.PodStatus{Conditions: tc.conditions, ContainerStatuses: []corev1.ContainerStatus{tc.container}}}
			must.Same(t, "lost", tc.want, podutil.NodeLost(pod))
		})
	}
}

func TestHeldByKueue(t *testing.T) {
	for gate, want := range map[string]bool{
		"kueue.x-k8s.io/admission": true, "kueue.x-k8s.io/topology": true, "example.com/kueue.x-k8s.io": false, "": false,
	} {
		pod := &corev1.Pod{}
		if gate != "" {
			pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/other"}, {Name: gate}}
		}
		must.Same(t, "held by "+gate, want, podutil.HeldByKueue(pod))
	}
}

func TestEvictedByKueue(t *testing.T) {
	condition := corev1.PodCondition{Type: "TerminationTarget", Status: corev1.ConditionTrue, Message: "Preempted"}
	pod := &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady}, condition}}}
	must.Same(t, "evicted", "Preempted", podutil.EvictedByKueue(pod))
	pod.Status.Conditions[1].Status = corev1.ConditionFalse
	must.Same(t, "evicted", "", podutil.EvictedByKueue(pod))
}

func TestImageNames(t *testing.T) {
	for image, want := range map[string]string{
		"mariadb":                          "mirror.example.com/hub/mariadb",
		"mariadb:11.8":                     "mirror.example.com/hub/mariadb:11.8",
		"mariadb@sha256:0123":              "mirror.example.com/hub/mariadb@sha256:0123",
		"library/mariadb:11.8":             "mirror.example.com/hub/library/mariadb:11.8",
		"quay.io/mariadb:11.8":             "quay.io/mariadb:11.8",
		"registry:5000/mariadb:11.8":       "registry:5000/mariadb:11.8",
		"localhost/mariadb:11.8":           "localhost/mariadb:11.8",
		"mirror.example.com/hub/mariadb:1": "mirror.example.com/hub/mariadb:1",
		"mirror.example.com/hub/deep/er":   "mirror.example.com/hub/deep/er",
		"":                                 "",
	} {
		for _, registry := range []string{"mirror.example.com/hub", "mirror.example.com/hub/"} {
			must.Same(t, image+" with "+registry, want, (podutil.Images{Registry: registry}).Name(image))
		}
		must.Same(t, image+" without a registry", image, (podutil.Images{}).Name(image))
	}
}

// The name that an image was pinned with is not completed again.
func TestImageNameOfFullName(t *testing.T) {
	mirror := podutil.Images{Registry: "mirror"}
	must.Same(t, "named twice", "mirror/mariadb:1", mirror.Name(mirror.Name("mariadb:1")))
}

func TestServerImage(t *testing.T) {
	installed := podutil.Images{Databases: map[string]string{"MariaDB": "mariadb:11.4"}, Registry: "mirror"}
	for name, tc := range map[string]struct {
		images                  podutil.Images
		requested, engine, want string
	}{
		"asked for":                      {installed, "mariadb:10.11", "MariaDB", "mirror/mariadb:10.11"},
		"the installation's":             {installed, "", "MariaDB", "mirror/mariadb:11.4"},
		"the installation's, not for it": {installed, "", "MySQL", "mirror/engine:1"},
		"the engine's":                   {podutil.Images{Registry: "mirror"}, "", "MariaDB", "mirror/engine:1"},
		"the engine's, nothing set":      {podutil.Images{}, "", "MariaDB", "engine:1"},
	} {
		must.Same(t, name, tc.want, tc.images.Server(tc.requested, tc.engine, "engine:1"))
	}
}

func TestComplete(t *testing.T) {
	spec := &corev1.PodSpec{
		InitContainers: []corev1.Container{{Image: "loader:1"}}, Containers: []corev1.Container{{Image: "mariadb:11.8"}},
	}
	podutil.Images{Registry: "mirror", PullSecrets: []string{"shared", "both"}}.Complete(spec, []string{"mine", "both"})
	want := &corev1.PodSpec{
		InitContainers: []corev1.Container{{Image: "mirror/loader:1"}}, Containers: []corev1.Container{{Image: "mirror/mariadb:11.8"}},
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "mine"}, {Name: "both"}, {Name: "shared"}},
	}
	must.Same(t, "Pod", want, spec)
}

// Only the digest of an image's own repository can be pulled: that of a loaded image is of its configuration, or of a name that
// kind has made up.
func TestByDigest(t *testing.T) {
	const digest = "@sha256:0123"
	for _, tc := range []struct{ image, ran, want string }{
		{"mariadb:11.8", "docker.io/library/mariadb" + digest, "docker.io/library/mariadb" + digest},
		{"mariadb/server", "docker.io/mariadb/server" + digest, "docker.io/mariadb/server" + digest},
		{"registry:5000/loader:1", "registry:5000/loader" + digest, "registry:5000/loader" + digest},
		{"registry:5000/loader", "docker-pullable://registry:5000/loader" + digest, "registry:5000/loader" + digest},
		{"loader@sha256:0123", "docker.io/library/loader" + digest, "docker.io/library/loader" + digest},
		{"localhost/loader:1", "docker.io/library/import-2026-01-02" + digest, "localhost/loader:1"},
		{"loader:1", "sha256:0123", "loader:1"},
		{"loader:1", "quay.io/library/loader" + digest, "loader:1"},
		{"loader:1", "", "loader:1"},
		{"", "docker.io/library/" + digest, ""},
	} {
		must.Same(t, tc.image+" that ran as "+tc.ran, tc.want, podutil.ByDigest(tc.image, tc.ran))
	}
}

// podOf requests that much.
func podOf(cpu, memory string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Labels: map[string]string{"of": cpu}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: resources(cpu, memory)}}}},
	}
}

func TestShortage(t *testing.T) {
	const cpuOnly = "0/3 nodes are available: 1 node(s) had untolerated taint {a: b}, 2 Insufficient cpu. preemption: 0/3 nodes are available."
	for name, tc := range map[string]struct {
		pod     corev1.Pod
		message string
		want    string
	}{
		"something else": {podOf("1", "256Mi"), "0/3 nodes are available: 3 node(s) had volume node affinity conflict.", ""},
		"one resource": {
			podOf("1", "256Mi"), cpuOnly,
			"no eligible node has enough cpu (it requests 1): set loader.resources.requests to what fits (they may be below the limits; " +
				"kubectl describe nodes says what is left), or free a node",
		},
		"two resources": {
			podOf("1", "8Gi"), "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.",
			"no eligible node has enough cpu (it requests 1) and memory (it requests 8Gi): set loader.resources.requests to what fits (they " +
				"may be below the limits; kubectl describe nodes says what is left), or free a node",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.pod.Status.Conditions = []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: tc.message,
			}}
			must.Same(t, "shortage", tc.want, podutil.Shortage(&tc.pod, "loader.resources"))
		})
	}
}
