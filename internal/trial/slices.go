// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
)

// Slices in which the loaders of several variants measure in turns.
type Slices struct {
	// First is the name of the run, and FirstUID its UID, whose observer gives the turns: that of its first database instance.
	// Another instance is never measured: the round begins again.
	First, FirstUID string
	// Variants that take turns; Place is which of them this is, from 0.
	Variants, Place int
	// Milliseconds of a slice, on average.
	Milliseconds int64
}

// NotInSlices says why a run cannot be measured in slices; empty if it can. It is for the run's author.
func NotInSlices(run *v1alpha1.BenchmarkRunSpec) string {
	load := result.Config{Workload: result.Workload{Type: string(run.Workload.Type)}}
	switch {
	case registry.IsTool(&load):
		return fmt.Sprintf("the program of workload %s cannot be halted; use alternation: Trials", run.Workload.Type)
	case run.Workload.IIBench.InStages():
		return "stages have a measured phase each; use alternation: Trials"
	case !plan.HasObserver(&run.Database):
		return "the observer gives the turns; use alternation: Trials, or database.provisioner StatefulSet with its observer"
	case run.Loader.Pods > 1:
		return "one loader Pod of each variant takes turns; set loader.pods to 1, or use alternation: Trials"
	}
	return ""
}

// refereePath is where the credentials of the first run are mounted.
const refereePath = "/etc/benchrun/referee"

// times is how many variants share the time; 1 without slices.
func (s *Slices) times() int64 {
	if s == nil {
		return 1
	}
	return int64(s.Variants)
}

// first is the run whose observer gives the turns, as far as names follow from it.
func (s *Slices) first(run *v1alpha1.BenchmarkRun) *v1alpha1.BenchmarkRun {
	first := *run
	first.Name, first.UID = s.First, types.UID(s.FirstUID)
	return &first
}

// turns is what the loader is told of the slices; nil without.
func (s *Slices) turns(run *v1alpha1.BenchmarkRun, e *engine.Engine) *result.Turns {
	if s == nil {
		return nil
	}
	host, _ := plan.Address(e, s.first(run), 1)
	return &result.Turns{
		Host: host, Port: plan.ObserverPort, PasswordFile: refereePath + "/" + podutil.PasswordKey,
		Variants: s.Variants, Place: s.Place, Seed: plan.Seed(&run.Spec), SliceMilliseconds: s.Milliseconds,
	}
}

// addSlices lets the loader prove itself to the observer of the first run, and keeps it on the node of that run's loader: what
// the machine does meanwhile is to affect both alike.
func addSlices(spec *corev1.PodSpec, run *v1alpha1.BenchmarkRun, a Attempt) {
	if a.Slices == nil {
		return
	}
	spec.Volumes = append(spec.Volumes, secretVolume("referee", plan.SecretName(a.Slices.first(run)), podutil.PasswordKey))
	c := &spec.Containers[0]
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "referee", MountPath: refereePath, ReadOnly: true})
	if a.Slices.Place == 0 || len(a.Nodes) > 0 || run.Spec.Placement != v1alpha1.PlacementSameNode {
		return
	}
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.PodAffinity == nil {
		spec.Affinity.PodAffinity = &corev1.PodAffinity{}
	}
	with := &spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	*with = append(*with, corev1.PodAffinityTerm{
		TopologyKey: corev1.LabelHostname,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{
			v1alpha1.LabelRunUID: a.Slices.FirstUID, v1alpha1.LabelComponent: v1alpha1.ComponentLoader,
		}},
	})
}

// addData mounts the user's data and SQL.
func addData(spec *corev1.PodSpec, w *v1alpha1.WorkloadSpec) {
	if from := w.SchemaFrom; from != nil {
		addFiles(spec, "schema", result.SchemaPath, from.Name, from.Key)
	}
	if from := w.DataFrom; from != nil {
		c := &spec.Containers[0]
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "data", MountPath: result.DataPath, ReadOnly: true})
		// With a read-only mount, no file's group is changed to the Pod's.
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: from.PersistentVolumeClaim, ReadOnly: true},
		}})
	}
}

// addFiles mounts the files of a ConfigMap: that of one key, or all if the key is empty.
func addFiles(spec *corev1.PodSpec, name, path, configMap, key string) {
	source := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}}
	if key != "" {
		source.Items = []corev1.KeyToPath{{Key: key, Path: key}}
	}
	c := &spec.Containers[0]
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path, ReadOnly: true})
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{ConfigMap: source}})
}

// installContainer copies the loader to where an image that is not its own finds it.
const installContainer = "install"

// workSize bounds the folder in memory for a tool's files: configuration, a script, a result.
var workSize = resource.MustParse("16Mi")

// addNeeds gives the loader's Pod what its workload needs.
func addNeeds(spec *corev1.PodSpec, needs workload.Pod, images podutil.Images) {
	switch needs.Bundle {
	case workload.BundleSysbench:
		spec.Containers[0].Image = images.Sysbench
	case workload.BundleNone:
	}
	if needs.Image != "" {
		useImage(spec, needs, images)
	}
	if needs.Work {
		addWork(spec)
	}
	if needs.Files != "" {
		addFiles(spec, "files", result.FilesPath, needs.Files, "")
	}
}

// useImage runs the loader in the user's image: an init container copies it there.
func useImage(spec *corev1.PodSpec, needs workload.Pod, images podutil.Images) {
	tool := corev1.VolumeMount{Name: "tool", MountPath: result.ToolPath}
	spec.InitContainers = append(spec.InitContainers, corev1.Container{
		Name: installContainer, Image: images.Loader, ImagePullPolicy: corev1.PullIfNotPresent,
		Args: []string{"install", result.ToolPath + "/loader"}, Resources: spec.Containers[0].Resources,
		SecurityContext: podutil.RestrictedContainer(), VolumeMounts: []corev1.VolumeMount{tool},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	})
	c := &spec.Containers[0]
	c.Image, c.Command = needs.Image, []string{result.ToolPath + "/loader"}
	c.SecurityContext.RunAsUser = ptr.To(needs.User)
	tool.ReadOnly = true
	c.VolumeMounts = append(c.VolumeMounts, tool, corev1.VolumeMount{Name: "tmp", MountPath: "/tmp"})
	spec.Volumes = append(spec.Volumes,
		corev1.Volume{Name: "tool", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		corev1.Volume{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
}

// addWork is a folder in memory: one of its files has the password, which must not reach a disk.
func addWork(spec *corev1.PodSpec) {
	c := &spec.Containers[0]
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "work", MountPath: result.WorkPath})
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "work", VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: ptr.To(workSize.DeepCopy())},
	}})
}
