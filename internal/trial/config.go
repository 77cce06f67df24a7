// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package trial makes the Job of an attempt, and judges an ended Job with its Pods: accepted, invalidated, or failed.
//
// A Job never retries. A result counts only if exactly one Pod ran, was not being deleted, succeeded, and left a summary
// that names that very Pod; its document must follow. Everything else has a cause from a closed set.
package trial

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
)

// Validate checks the workload's parameters at some points. The error is for the author of the run, and about the first point of
// which something is wrong.
func Validate(run *v1alpha1.BenchmarkRun, points ...plan.Point) (wrong plan.Point, err error) {
	parameters, err := plan.ParametersOf(&run.Spec.Workload)
	if err != nil {
		return wrong, err
	}
	for _, point := range points {
		if err := validate(run, parameters, point); err != nil {
			return point, err
		}
	}
	return wrong, nil
}

func validate(run *v1alpha1.BenchmarkRun, parameters *plan.Parameters, point plan.Point) error {
	config, err := configure(run, parameters, Attempt{Point: point})
	if err != nil {
		return err
	}
	if err := registry.Validate(config); err != nil {
		return err
	}
	if least, most := registry.LeastSeconds(config), run.Spec.Trials.DeadlineSeconds; least > int64(most) {
		return fmt.Errorf("an attempt measures and rests for %d s at least, and trials.deadlineSeconds would end it after %d s: set "+
			"trials.deadlineSeconds to more, or measure less", least, most)
	}
	_, err = encode(config)
	return err
}

// maxConfig is how many bytes of configuration a loader can be given: Linux starts no program with a variable of 128 KiB. The
// last KiB is for the variable's name, and for the numbers of an attempt, which differ in length.
const maxConfig = 127 << 10

// encode writes a configuration as the loader's Pod has it in its environment. The kubelet finds nothing to expand in it: "$$"
// and "$(NAME)" mean something to it.
func encode(c *result.Config) (string, error) {
	encoded, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("encoding the loader's configuration: %w", err)
	}
	text := strings.ReplaceAll(string(encoded), "$", `\u0024`)
	if len(text) > maxConfig {
		return "", fmt.Errorf("the loader's configuration has %d bytes; at most %d are allowed: shorten the workload's texts, or put "+
			"them into a file", len(text), maxConfig)
	}
	return text, nil
}

// Config is what the loader of an attempt is asked to do. Nothing in it depends on the run's UID.
func Config(run *v1alpha1.BenchmarkRun, a Attempt) (*result.Config, error) {
	if len(a.Sides) == 0 {
		return configOf(run, a)
	}
	c, err := configOf(a.side(run, 0))
	if err == nil && plan.CopiesData(run) { // the data of all rounds are those of the first
		c.DataSeed = ptr.To(plan.Seed(&run.Spec))
	}
	if err != nil || len(a.Sides) <= 1 {
		return c, err
	}
	sides := &result.Sides{Seed: c.Seed, SliceMilliseconds: plan.SliceMilliseconds}
	for i, side := range a.Sides {
		one, err := configOf(a.side(run, i))
		if err != nil {
			return nil, err
		}
		sides.Each = append(sides.Each, result.Side{
			Variant: run.Spec.Variants[side.Variant].Name, Server: one.Server, Settings: one.Settings, Workload: one.Workload,
			LimitSeconds: one.LimitSeconds,
		})
	}
	c.Sides, c.Server, c.Settings, c.Workload, c.LimitSeconds = sides, result.Server{}, nil, result.Workload{}, 0
	return c, nil
}

func configOf(run *v1alpha1.BenchmarkRun, a Attempt) (*result.Config, error) {
	parameters, err := plan.ParametersOf(&run.Spec.Workload)
	if err != nil {
		return nil, err
	}
	return configure(run, parameters, a)
}

func configure(run *v1alpha1.BenchmarkRun, parameters *plan.Parameters, a Attempt) (*result.Config, error) {
	db := &run.Spec.Database
	server, err := plan.EngineOf(db)
	if err != nil {
		return nil, err
	}
	host, port := plan.Address(server, run, a.Instance)
	c := &result.Config{
		Version:   result.ConfigVersion,
		Namespace: run.Namespace, Run: run.Name,
		Trial: a.Trial.Number, Attempt: a.Number,
		Parameters: a.Point.Swept(), Metric: a.Metric,
		Seed: plan.Seed(&run.Spec),
		Server: result.Server{
			Engine: server.Name, Host: host, Port: port,
			UserFile:     podutil.CredentialPath + "/" + podutil.UserKey,
			PasswordFile: podutil.CredentialPath + "/" + podutil.PasswordKey,
			Schema:       plan.Schema(run),
			Borrowed:     db.Provisioner == v1alpha1.ProvisionerExternal,
		},
		Workload:       workloadAt(&run.Spec.Workload, parameters, a.Point),
		KeepData:       run.Spec.Trials.Data == v1alpha1.DataKeep || plan.CopiesData(run),
		CopyData:       plan.CopiesData(run),
		LimitSeconds:   int(ptr.Deref(run.Spec.Workload.Limits.Seconds, 0)),
		ErrorPercent:   int(ptr.Deref(run.Spec.Workload.Limits.ErrorPercent, v1alpha1.DefaultErrorPercent)),
		ConnectSeconds: int(run.Spec.Trials.StartDeadlineSeconds),
	}
	if plan.UsesSocket(run) {
		c.Server.Socket = result.SocketPath + "/" + server.Image.Socket
	}
	if plan.HasObserver(db) {
		c.Server.ObserverPort = plan.ObserverPort
	}
	if db.TLS.Mode != v1alpha1.TLSDisabled && db.TLS.Mode != "" {
		c.Server.TLS = string(db.TLS.Mode)
	}
	if authority(run, a.Instance) != "" {
		c.Server.CAFile = caPath + "/" + caKey
	}
	for _, s := range plan.Settings(server, db) {
		c.Settings = append(c.Settings, result.Setting{Name: s.Name, Value: s.Value, Loose: s.Loose})
	}
	if run.Spec.Loader.Pods > 1 {
		c.Pods = int(run.Spec.Loader.Pods)
	}
	if run.Spec.Loader.Scratch != nil {
		c.Scratch = scratchPath
	}
	if a.Prime && registry.Primes(c) {
		c.PrimeSeconds = int(ptr.Deref(run.Spec.Trials.PrimeSeconds, 0))
	}
	needs, err := registry.Pod(c)
	if err == nil && needs.Files != "" {
		c.Workload.FilesPath = result.FilesPath
	}
	return c, err
}

func workloadAt(spec *v1alpha1.WorkloadSpec, parameters *plan.Parameters, point plan.Point) result.Workload {
	w := result.Workload{Type: string(spec.Type), Parameters: parameters.At(point)}
	if from := spec.SchemaFrom; from != nil {
		w.SchemaFile = result.SchemaPath + "/" + from.Key
	}
	if from := spec.DataFrom; from != nil {
		w.Data = &result.Data{
			Claim: from.PersistentVolumeClaim, Root: result.DataPath, Path: from.Path, Format: string(from.Format),
			Separator: from.Separator, EmptyIs: string(from.EmptyIs), HeaderLines: int64(ptr.Deref(from.HeaderLines, 0)),
			Table: from.Table, Columns: from.Columns,
		}
	}
	return w
}

func addData(spec *corev1.PodSpec, w *v1alpha1.WorkloadSpec) {
	if from := w.SchemaFrom; from != nil {
		addFiles(spec, "schema", result.SchemaPath, from.Name, from.Key)
	}
	if from := w.DataFrom; from != nil {
		// With a read-only mount, no file's group is changed to the Pod's.
		mount(spec, podutil.ClaimVolume("data", from.PersistentVolumeClaim, true), result.DataPath, true)
	}
}

// mount a volume, which the Pod gets with it, in the Pod's first container.
func mount(spec *corev1.PodSpec, volume corev1.Volume, path string, readOnly bool) {
	spec.Volumes = append(spec.Volumes, volume)
	c := &spec.Containers[0]
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: volume.Name, MountPath: path, ReadOnly: readOnly})
}

func addFiles(spec *corev1.PodSpec, name, path, configMap, key string) {
	source := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}}
	if key != "" {
		source.Items = []corev1.KeyToPath{{Key: key, Path: key}}
	}
	mount(spec, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{ConfigMap: source}}, path, true)
}

func addNeeds(spec *corev1.PodSpec, needs workload.Pod, images podutil.Images) {
	if needs.Bundle == workload.BundleSysbench {
		spec.Containers[0].Image = images.Sysbench
	}
	if e, err := engine.ByName(needs.ImageOf); err == nil {
		needs.Image = images.Server("", e.Name, e.Image.Default)
	}
	if needs.Image != "" {
		useImage(spec, needs, images)
	}
	if needs.Work { // in memory: one of its files has the password, which must not reach a disk
		work := podutil.EmptyVolume("work", corev1.StorageMediumMemory, ptr.To(resource.MustParse("16Mi")))
		mount(spec, work, result.WorkPath, false)
	}
	if needs.Files != "" {
		addFiles(spec, "files", result.FilesPath, needs.Files, "")
	}
}

// useImage has the loader copied to where an image that is not its own finds it.
func useImage(spec *corev1.PodSpec, needs workload.Pod, images podutil.Images) {
	c := &spec.Containers[0]
	install := podutil.Container("install", images.Loader, "install", result.ToolPath+"/loader")
	install.Resources, install.VolumeMounts = c.Resources, []corev1.VolumeMount{{Name: "tool", MountPath: result.ToolPath}}
	spec.InitContainers = append(spec.InitContainers, install)
	c.Image, c.Command = needs.Image, []string{result.ToolPath + "/loader"}
	c.SecurityContext.RunAsUser = ptr.To(needs.User)
	mount(spec, podutil.EmptyVolume("tool", "", nil), result.ToolPath, true)
	mount(spec, podutil.EmptyVolume("tmp", "", nil), "/tmp", false)
}
