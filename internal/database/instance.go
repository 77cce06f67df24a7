// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// Instance is what exists of a database instance.
type Instance struct {
	Number int
	// Provisioner that made it; empty is StatefulSet.
	Provisioner v1alpha1.Provisioner
	// Set is its StatefulSet, or nil.
	Set *appsv1.StatefulSet
	// MariaDB is the resource that the MariaDB operator makes the StatefulSet of, or nil.
	MariaDB *unstructured.Unstructured
	// Budget is its PodDisruptionBudget, or nil.
	Budget *policyv1.PodDisruptionBudget
	// Pod is its Pod, or nil.
	Pod *corev1.Pod
	// Claims are those of its volumes.
	Claims []*corev1.PersistentVolumeClaim
	// Others says whether its Service or its ConfigMap exists.
	Others bool
	// Foreign: a part of it is not known to be what the operator has made. It is removed, and the next instance is used.
	Foreign bool
	// Warning is the cluster's latest warning about an instance that does not start, or empty.
	Warning string
	// ClaimWarning is the cluster's latest warning about a claim that is not bound, or empty.
	ClaimWarning string
	// ServerLog is the log of a server that failed to start, if NeedsLog asked for it.
	ServerLog string
}

// Root is the object that stands for the instance: it is created last and deleted first. For an external server, which the
// operator does not create, it is the PodDisruptionBudget.
func (i *Instance) Root() metav1.Object {
	external, operator := i.Provisioner == v1alpha1.ProvisionerExternal, i.Provisioner == v1alpha1.ProvisionerMariaDBOperator
	switch {
	case external && i.Budget != nil:
		return i.Budget
	case operator && i.MariaDB != nil:
		return i.MariaDB
	case !external && !operator && i.Set != nil:
		return i.Set
	}
	return nil
}

// Going says whether an instance is being deleted, or is deleted in part.
func (i *Instance) Going() bool {
	root := i.Root()
	return root == nil || root.GetDeletionTimestamp() != nil
}

// Removable says whether an instance has objects to delete that are not being deleted yet.
func (i *Instance) Removable() bool {
	if i.Root() == nil {
		return i.Others || i.Budget != nil && i.Budget.DeletionTimestamp == nil || i.Foreign
	}
	return !i.Going() || i.Set != nil && i.Pod != nil && podutil.HeldUp(i.Set, *i.Pod)
}

// PartlyMade says whether an instance has no object that runs or holds data: not yet, or not any more.
func (i *Instance) PartlyMade() bool {
	return i.Root() == nil && i.Set == nil && i.Pod == nil && len(i.Claims) == 0
}

// Abandoned says whether what is left of an instance that is being deleted stays because of others, and loads no node: it has
// finalizers that are not Kubernetes' own, or is a Pod on a node that does not answer.
func (i *Instance) Abandoned(now time.Time) bool {
	if !i.Going() || i.Others || i.MayLoad(now) || i.Budget != nil && i.Budget.DeletionTimestamp == nil {
		return false
	}
	if i.Root() != nil && !podutil.IsKept(i.Root()) || i.Set != nil && !podutil.IsKept(i.Set) {
		return false
	}
	if i.Pod != nil && !podutil.IsKept(i.Pod) && !podutil.CutOff(i.Pod, now) {
		return false
	}
	return !slices.ContainsFunc(i.Claims, func(c *corev1.PersistentVolumeClaim) bool { return !podutil.IsKept(c) && i.Pod == nil })
}

// MayLoad says whether an instance has a server that may still put load on its node, or something that would start one.
func (i *Instance) MayLoad(now time.Time) bool {
	return i.Set != nil && podutil.MayLoad(i.Set, now) || i.MariaDB != nil && podutil.MayLoad(i.MariaDB, now) ||
		i.Pod != nil && podutil.MayLoad(i.Pod, now)
}

// Intact says whether an instance is still the server that it was for an earlier attempt, by the UID of its Pod. Of an external
// server only the loader can know.
func (i *Instance) Intact(podUID string) bool {
	if i.Provisioner == v1alpha1.ProvisionerExternal {
		return !i.Going()
	}
	return !i.Going() && i.Pod != nil && string(i.Pod.UID) == podUID && i.State().Ready &&
		(i.server() == nil || i.server().RestartCount == 0)
}

// maxEnds is how often a container may end before the server is up: what ends so often at once does not start later.
const maxEnds = 3

// ending is how a container without which there is no server last ended, and how often it has.
type ending struct {
	container string
	last      *corev1.ContainerStateTerminated
	times     int32
}

// endings of the containers of a Pod whose server is not up yet. An init container may end well; a server that ends, never does.
func (i *Instance) endings() []ending {
	server := i.server()
	if i.Pod == nil || server != nil && server.Started != nil && *server.Started {
		return nil
	}
	statuses := slices.DeleteFunc(slices.Clone(i.Pod.Status.InitContainerStatuses), func(s corev1.ContainerStatus) bool {
		return s.Name == ObserverContainer || slices.Contains(podutil.Beside(i.Pod), s.Name)
	})
	if server != nil {
		statuses = append(statuses, *server)
	}
	var all []ending
	for n := range statuses {
		s := &statuses[n]
		e := ending{container: s.Name, last: cmp.Or(s.State.Terminated, s.LastTerminationState.Terminated), times: s.RestartCount}
		if e.last == nil || e.last.ExitCode == 0 && s.Name != i.container() {
			continue
		}
		if s.State.Running == nil {
			e.times++
		}
		all = append(all, e)
	}
	return all
}

// startEnded says how a container ended that the server needs, and whether it has ended too often; it is empty if none has.
func (i *Instance) startEnded() (text string, tooOften bool) {
	all := i.endings()
	if len(all) == 0 {
		return "", false
	}
	e := slices.MaxFunc(all, func(a, b ending) int { return int(a.times - b.times) })
	what := "the server"
	if e.container != i.container() {
		what = "container " + e.container
	}
	tooOften = e.times >= maxEnds
	often := ""
	if tooOften { // a message that is not the last one has no counter
		often = fmt.Sprintf(" %d times", e.times)
	}
	if e.last.Reason == podutil.OOMKilled {
		return what + " ran out of memory and was killed" + often +
			" before the database was up: raise database.resources.limits.memory", tooOften
	}
	log := e.last.Message
	if e.container == i.container() {
		log += i.ServerLog
	}
	return fmt.Sprintf("%s ended%s with exit code %d before the database was up; %s", what, often, e.last.ExitCode, lastLines(log)),
		tooOften
}

const maxLines, maxLineBytes = 3, 800

// lastLines of a container's log are what a person looks for first.
func lastLines(log string) string {
	var lines []string
	for line := range strings.Lines(log) {
		if line = strings.TrimSpace(strings.ToValidUTF8(line, "")); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return "its log is empty"
	}
	text := strings.Join(lines[max(0, len(lines)-maxLines):], " | ")
	if cut := len(text) - maxLineBytes; cut > 0 {
		text = "… " + strings.ToValidUTF8(text[cut:], "")
	}
	return "its log ends with: " + text
}

const (
	// RestoreContainer has the server begin with a copy of prepared data, if there is one.
	RestoreContainer = "restore"

	copyVolume, copyPath = "copy", "/copy"
)

// DataCopy is the claim with the copy of the prepared data of an instance and of those after it; nil if the run keeps none.
func DataCopy(run *v1alpha1.BenchmarkRun, instance int) *corev1.PersistentVolumeClaim {
	if !plan.CopiesData(run) {
		return nil
	}
	requested := storage(&plan.Side(run, plan.VariantOf(run, instance), 1).Spec.Database)
	return claimOf(metav1.ObjectMeta{
		Name: plan.DataCopyName(run, instance), Namespace: run.Namespace, Labels: plan.Labels(run, v1alpha1.ComponentDataCopy),
	}, requested.Size, requested.StorageClassName)
}

// addRestore adds the volume of the copy, which is that claim, and the container that comes before all others.
func addRestore(spec *corev1.PodSpec, e *engine.Engine, run *v1alpha1.BenchmarkRun, claim string, images podutil.Images) {
	if !plan.CopiesData(run) {
		return
	}
	spec.Volumes = append(spec.Volumes, podutil.ClaimVolume(copyVolume, claim, false))
	restore := podutil.Container(RestoreContainer, images.Loader, "restore", "--data="+e.Image.DataPath, "--copy="+copyPath)
	// The same as the server's, so that the Pod keeps its class of service; they do not add up.
	restore.Resources = resources(&run.Spec.Database, e.Image.Memory)
	restore.VolumeMounts = []corev1.VolumeMount{
		{Name: dataVolume, MountPath: e.Image.DataPath},
		{Name: copyVolume, MountPath: copyPath, ReadOnly: true},
	}
	spec.InitContainers = slices.Insert(spec.InitContainers, 0, restore)
}

// ObserverContainer sees what the server uses.
const ObserverContainer = "observer"

// observerResources are requests and limits alike, so that a Guaranteed Pod stays one. The observer works for a moment
// before and after what is measured, and for a fifth of a second in the quiet time.
var observerResources = corev1.ResourceList{
	corev1.ResourceCPU:    resource.MustParse("100m"),
	corev1.ResourceMemory: resource.MustParse("32Mi"),
}

// addObserver adds the observer to the server's Pod: a sidecar, which starts before the server and ends after it. It shares
// the Pod's processes and has the server's user, which is what the kernel requires for reading about a process.
func addObserver(spec *corev1.PodSpec, e *engine.Engine, run *v1alpha1.BenchmarkRun, images podutil.Images) {
	if !plan.HasObserver(&run.Spec.Database) {
		return
	}
	spec.ShareProcessNamespace = ptr.To(true)
	observer := podutil.Container(ObserverContainer, images.Loader, "observe", "--engine="+e.Name, "--data="+e.Image.DataPath,
		"--port="+strconv.Itoa(plan.ObserverPort), "--password-file="+podutil.CredentialPath+"/"+podutil.PasswordKey)
	observer.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
	observer.Ports = []corev1.ContainerPort{{Name: ObserverContainer, ContainerPort: plan.ObserverPort}}
	observer.Resources = corev1.ResourceRequirements{Requests: observerResources.DeepCopy(), Limits: observerResources.DeepCopy()}
	observer.VolumeMounts = []corev1.VolumeMount{
		{Name: dataVolume, MountPath: e.Image.DataPath},
		{Name: "credentials", MountPath: podutil.CredentialPath, ReadOnly: true},
	}
	if plan.CopiesData(run) {
		observer.Args = append(observer.Args, "--copy="+copyPath)
		observer.VolumeMounts = append(observer.VolumeMounts, corev1.VolumeMount{Name: copyVolume, MountPath: copyPath})
	}
	spec.InitContainers = append(spec.InitContainers, observer)
}
