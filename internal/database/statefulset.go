// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/hosttuning"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// Names within the Pod.
const (
	// ServerContainer runs the database server.
	ServerContainer = "server"
	// ProbeContainer reads the node and the volume before the server starts.
	ProbeContainer = "probe"
	// DiskContainer says which disk is below the volume, in a Pod whose node is to be tuned.
	DiskContainer = "disk"

	configKey  = "benchrun.cnf"
	dataVolume = "data"
)

// shutdownSeconds for the server: its data is thrown away, so that a clean end is worth little.
const shutdownSeconds int64 = 10

func statefulSet(
	e *engine.Engine, run *v1alpha1.BenchmarkRun, instance int, node, dataCopy string, images podutil.Images,
) *appsv1.StatefulSet {
	meta := objectMeta(run, instance)
	template := maps.Clone(meta.Labels)
	maps.Copy(meta.Labels, plan.QueueLabels(run.Labels))
	db := &run.Spec.Database
	socket := podutil.EmptyVolume("run", "", nil)
	if plan.UsesSocket(run) { // which the server shares with the loader
		socket = podutil.ClaimVolume("run", plan.SocketClaim(run, instance), false)
	}
	spec := corev1.PodSpec{
		AutomountServiceAccountToken:  ptr.To(false),
		EnableServiceLinks:            ptr.To(false),
		TerminationGracePeriodSeconds: ptr.To(shutdownSeconds),
		NodeSelector:                  db.NodeSelector,
		Tolerations:                   podutil.Tolerations(db.Tolerations),
		Affinity:                      podutil.BindToNodes(affinity(db), node),
		PriorityClassName:             db.PriorityClassName,
		SecurityContext:               podSecurity(e),
		InitContainers:                probeContainers(e, run, images),
		Containers:                    []corev1.Container{serverContainer(e, run, images)},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: meta.Name},
			}}},
			{Name: "credentials", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: plan.SecretName(run)}}},
			socket,
			podutil.EmptyVolume("tmp", "", nil),
			data(db, meta.Name),
		},
	}
	if path := e.Image.SharedMemory; path != "" {
		spec.Volumes = append(spec.Volumes, podutil.EmptyVolume("memory", corev1.StorageMediumMemory, nil))
		mounts := &spec.Containers[0].VolumeMounts
		*mounts = append(*mounts, corev1.VolumeMount{Name: "memory", MountPath: path})
	}
	addRestore(&spec, e, run, dataCopy, images)
	addObserver(&spec, e, run, images)
	images.Complete(&spec, run.Spec.PullSecrets())
	var annotations map[string]string
	if class := db.Storage.BlockIOClass; class != "" { // for all: the probe and the observer measure the disk that the server has
		annotations = map[string]string{AnnotationBlockIO: class}
	}
	return &appsv1.StatefulSet{
		ObjectMeta: meta,
		Spec: appsv1.StatefulSetSpec{
			Replicas:    ptr.To[int32](1),
			ServiceName: meta.Name,
			Selector:    &metav1.LabelSelector{MatchLabels: selector(run, instance)},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{
					Labels:      plan.PodLabels(run, template),
					Annotations: plan.PodAnnotations(run, annotations),
				},
				Spec: spec,
			},
		},
	}
}

// data is the volume with the data: memory, the node's disk, or the instance's claim. The claim is an object of the run's own,
// not made from a template of the StatefulSet, which would take any claim that has the name already, and delete it in the end.
func data(db *v1alpha1.DatabaseSpec, instanceName string) corev1.Volume {
	requested, medium := storage(db), corev1.StorageMediumDefault
	switch requested.Medium {
	case v1alpha1.MediumMemory:
		medium = corev1.StorageMediumMemory
	case v1alpha1.MediumNodeDisk:
	case v1alpha1.MediumVolume:
		return podutil.ClaimVolume(dataVolume, instanceName, false)
	}
	return podutil.EmptyVolume(dataVolume, medium, ptr.To(requested.Size.DeepCopy()))
}

func podSecurity(e *engine.Engine) *corev1.PodSecurityContext {
	return &corev1.PodSecurityContext{
		RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To(e.Image.User), RunAsGroup: ptr.To(e.Image.User),
		FSGroup:             ptr.To(e.Image.User),
		FSGroupChangePolicy: ptr.To(corev1.FSGroupChangeOnRootMismatch),
		SeccompProfile:      &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

// serverContainer has a startup probe only: from the moment that the server answers nothing asks it anything, so that
// nothing but the loader is measured. A restart starts the probe again.
func serverContainer(e *engine.Engine, run *v1alpha1.BenchmarkRun, images podutil.Images) corev1.Container {
	c := podutil.Container(ServerContainer, images.Server(run.Spec.Database.Image, e.Name, e.Image.Default))
	c.Env = []corev1.EnvVar{
		{Name: e.Image.RootPasswordFile, Value: podutil.CredentialPath + "/" + podutil.PasswordKey},
	}
	if e.Image.RootHost != "" {
		c.Env = append(c.Env, corev1.EnvVar{Name: e.Image.RootHost, Value: "%"})
	}
	for _, variable := range e.Image.Env {
		name, value, _ := strings.Cut(variable, "=")
		c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value})
	}
	c.Args = e.Image.Args
	c.Ports = []corev1.ContainerPort{{Name: e.Image.PortName, ContainerPort: e.Image.Port}}
	c.Resources = resources(&run.Spec.Database, e.Image.Memory)
	c.VolumeMounts = []corev1.VolumeMount{
		{Name: dataVolume, MountPath: e.Image.DataPath},
		{Name: "config", MountPath: e.Image.ConfigPath, ReadOnly: true},
		{Name: "credentials", MountPath: podutil.CredentialPath, ReadOnly: true},
		{Name: "run", MountPath: e.Image.RunPath},
		{Name: "tmp", MountPath: "/tmp"},
	}
	c.StartupProbe = &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(e.Image.Port)}},
		PeriodSeconds: 1, FailureThreshold: run.Spec.Trials.StartDeadlineSeconds,
	}
	return c
}

// probeContainers read the node and the volume. If the node is to be tuned, the first one finds the disk that this is about, and
// the second one waits until the node has what the run asks for: the server starts on a node that is tuned.
func probeContainers(e *engine.Engine, run *v1alpha1.BenchmarkRun, images podutil.Images) []corev1.Container {
	probe := podutil.Container(ProbeContainer, images.Loader, "probe", "--data="+e.Image.DataPath)
	// The same as the server's, so that the Pod keeps its class of service; they do not add up.
	probe.Resources = resources(&run.Spec.Database, e.Image.Memory)
	probe.VolumeMounts = []corev1.VolumeMount{{Name: dataVolume, MountPath: e.Image.DataPath}}
	tuning := run.Spec.Database.HostTuning
	if tuning == nil {
		return []corev1.Container{probe}
	}
	disk := *probe.DeepCopy()
	disk.Name, disk.Args = DiskContainer, []string{"disk", "--data=" + e.Image.DataPath}
	probe.Args = append(probe.Args, hosttuning.Flags(hosttuning.Settings(tuning))...)
	return []corev1.Container{disk, probe}
}

// socketSize is what the volume with the socket asks for: nothing is written to it, and no disk is smaller.
var socketSize = resource.MustParse("16Mi")

func claimOf(meta metav1.ObjectMeta, size resource.Quantity, class string) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: meta,
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size.DeepCopy()}},
		},
	}
	if class != "" {
		claim.Spec.StorageClassName = ptr.To(class)
	}
	return claim
}

// AnnotationBlockIO on a Pod tells containerd and CRI-O in which block I/O class its containers run.
const AnnotationBlockIO = "blockio.resources.beta.kubernetes.io/pod"

// BlockIORefused says whether the node's container runtime refuses to create the containers of a Pod because of its block I/O
// class: it knows no such class, or none at all.
func BlockIORefused(pod *corev1.Pod) bool {
	if pod.Annotations[AnnotationBlockIO] == "" {
		return false
	}
	all := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	return slices.ContainsFunc(all, func(s corev1.ContainerStatus) bool {
		w := s.State.Waiting
		return w != nil && strings.Contains(strings.ToLower(w.Message), "blockio")
	})
}
