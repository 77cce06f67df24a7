// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"maps"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
)

// Container is the name of the container that measures.
const Container = "loader"

const scratchPath = "/scratch"

// loaderUser is the user of distroless images that is not root.
const loaderUser int64 = 65532

// Attempt is one try at a trial.
type Attempt struct {
	Trial plan.Trial
	// Point is the trial's.
	Point plan.Point
	// Number counts from 1.
	Number int
	// Instance is the database instance that it measures.
	Instance int
	// Metric is the headline of the run's plan; empty is the workload's own.
	Metric string
	// Prime: nothing was measured on the instance before.
	Prime bool
	// Nodes bind it to these nodes; none binds it to none.
	Nodes []string
	// Address of the Pod of the instance, or empty: the name of its server is resolved by the cluster's DNS.
	Address string
	// Sides are the servers of the variants that it measures, in their order, of a run with variants: one, or in slices all that its
	// round needs.
	Sides []Side
}

// Side is the server of a variant: its index, its instance, and the address of the instance's Pod or empty, as Attempt.Address.
type Side struct {
	Variant, Instance int
	Address           string
}

func (a *Attempt) side(run *v1alpha1.BenchmarkRun, i int) (*v1alpha1.BenchmarkRun, Attempt) {
	one := *a
	one.Sides, one.Instance, one.Address = nil, a.Sides[i].Instance, a.Sides[i].Address
	return plan.Side(run, a.Sides[i].Variant, a.Trial.Round), one
}

// Job is the Job of an attempt. The same specification gives the same Job, but for what carries the run's UID and for the address
// of the server's Pod.
func Job(run *v1alpha1.BenchmarkRun, a Attempt, images podutil.Images) (*batchv1.Job, error) {
	config, err := Config(run, a)
	if err != nil {
		return nil, err
	}
	sides, variants := a.Sides, len(run.Spec.Variants)
	if len(sides) > 0 {
		run, a = a.side(run, 0)
	}
	encoded, err := encode(config)
	if err != nil {
		return nil, err
	}
	first := *config
	if config.Sides != nil {
		first = config.Side(0)
	}
	needs, err := registry.Pod(&first)
	if err != nil {
		return nil, err
	}
	spec := podSpec(run, a, encoded, images)
	spec.HostAliases = serverAddress(&config.Server, a.Address)
	if config.Sides != nil {
		addSides(&spec, config.Sides, sides)
	}
	addData(&spec, &run.Spec.Workload)
	addNeeds(&spec, needs, images)
	images.Complete(&spec, run.Spec.PullSecrets())
	labels := plan.Labels(run, v1alpha1.ComponentLoader)
	labels[v1alpha1.LabelTrial] = strconv.Itoa(a.Trial.Number)
	labels[v1alpha1.LabelAttempt] = strconv.Itoa(a.Number)
	labels[v1alpha1.LabelInstance] = strconv.Itoa(a.Instance)
	template := maps.Clone(labels)
	maps.Copy(labels, plan.QueueLabels(run.Labels))
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: plan.AttemptName(run, a.Trial.Number, a.Number), Namespace: run.Namespace, Labels: labels,
			Annotations: instances(sides, variants),
		},
		Spec: batchv1.JobSpec{
			Parallelism:          ptr.To(run.Spec.Loader.Pods),
			Completions:          ptr.To(run.Spec.Loader.Pods),
			CompletionMode:       ptr.To(batchv1.IndexedCompletion),
			BackoffLimit:         ptr.To[int32](0),
			PodReplacementPolicy: ptr.To(batchv1.Failed),
			// The load that primes the server has a bound; its preparation has as long again. In slices, all variants together
			// have as long as each would have alone.
			ActiveDeadlineSeconds: ptr.To(max(1, int64(len(sides))) *
				(int64(run.Spec.Trials.DeadlineSeconds) + 2*int64(config.PrimeSeconds))),
			// A disrupted Pod must end the Job at once: a replacement would measure a database that was already used.
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action: batchv1.PodFailurePolicyActionFailJob,
				OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
					{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
				},
			}}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: plan.PodLabels(run, template), Annotations: plan.PodAnnotations(run, nil)},
				Spec:       spec,
			},
		},
	}, nil
}

// instances of the sides as an annotation, if they are several and not those of all variants.
func instances(sides []Side, variants int) map[string]string {
	if len(sides) < 2 || len(sides) == variants {
		return nil
	}
	var numbers []string
	for _, side := range sides {
		numbers = append(numbers, strconv.Itoa(side.Instance))
	}
	return map[string]string{AnnotationInstances: strings.Join(numbers, ",")}
}

func podSpec(run *v1alpha1.BenchmarkRun, a Attempt, config string, images podutil.Images) corev1.PodSpec {
	loader := &run.Spec.Loader
	container := podutil.Container(Container, images.Loader, "run")
	container.Env, container.Resources = environment(config), resources(loader.Resources)
	spec := corev1.PodSpec{
		RestartPolicy:                corev1.RestartPolicyNever,
		AutomountServiceAccountToken: ptr.To(false),
		EnableServiceLinks:           ptr.To(false),
		NodeSelector:                 loader.NodeSelector,
		Tolerations:                  podutil.Tolerations(loader.Tolerations),
		Affinity:                     podutil.BindToNodes(separation(run), a.Nodes...),
		TopologySpreadConstraints:    spread(run),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To(loaderUser), RunAsGroup: ptr.To(loaderUser),
			FSGroup:        ptr.To(loaderUser),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{container},
	}
	credentials := secretVolume("credentials", plan.SecretName(run), credentialKeys(run)...)
	mount(&spec, credentials, podutil.CredentialPath, true)
	if secret := authority(run, a.Instance); secret != "" {
		mount(&spec, secretVolume("authority", secret, caKey), caPath, true)
	}
	if plan.UsesSocket(run) {
		mount(&spec, podutil.ClaimVolume("socket", plan.SocketClaim(run, a.Instance), false), result.SocketPath, true)
		// The cluster gives the volume to this group, and must not take it from the server.
		if e, err := plan.EngineOf(&run.Spec.Database); err == nil { // the API knows no other
			spec.SecurityContext.FSGroup = ptr.To(e.Image.User)
		}
	}
	if loader.Scratch != nil {
		mount(&spec, podutil.EmptyVolume("scratch", "", ptr.To(loader.Scratch.Size.DeepCopy())), scratchPath, false)
	}
	return spec
}

// serverAddress has the name of a server stand for the Pod that the operator knows by its UID, in all programs of the loader's
// Pod. The Service of that name selects by labels, which anybody can write: its name has the addresses of strangers, too.
func serverAddress(server *result.Server, address string) []corev1.HostAlias {
	if address == "" {
		return nil
	}
	return []corev1.HostAlias{{IP: address, Hostnames: []string{server.Host}}}
}

// credentialKeys are those that a loader reads. A Secret of an external server that has databases may name one: all are files
// then.
func credentialKeys(run *v1alpha1.BenchmarkRun) []string {
	if e, err := plan.EngineOf(&run.Spec.Database); err == nil && e.Databases && run.Spec.Database.External != nil {
		return nil
	}
	return []string{podutil.UserKey, podutil.PasswordKey}
}

// secretVolume has those keys of a Secret as files. The keys are named, so that the cluster says which one is missing.
func secretVolume(name, secret string, keys ...string) corev1.Volume {
	source := &corev1.SecretVolumeSource{SecretName: secret}
	for _, key := range keys {
		source.Items = append(source.Items, corev1.KeyToPath{Key: key, Path: key})
	}
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: source}}
}

const (
	// caKey is the key of a Secret that holds the authorities to trust, as cert-manager and the MariaDB operator name it.
	caKey  = "ca.crt"
	caPath = "/etc/benchrun/authority"
)

// authority is the Secret with the authorities to trust; empty if there is none.
func authority(run *v1alpha1.BenchmarkRun, instance int) string {
	switch db := &run.Spec.Database; {
	case db.TLS.Mode != v1alpha1.TLSVerifyIdentity:
		return ""
	case db.Provisioner == v1alpha1.ProvisionerMariaDBOperator:
		return plan.InstanceName(run, instance) + "-ca-bundle"
	default:
		return db.TLS.CASecretName
	}
}

// environment tells the loader what to do, and who it is: identity comes by the downward API, so that two runs of one
// specification have the same Jobs.
func environment(config string) []corev1.EnvVar {
	field := func(name, path string) corev1.EnvVar {
		source := &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: source}}
	}
	return []corev1.EnvVar{
		{Name: result.EnvConfig, Value: config},
		field(result.EnvRunUID, "metadata.labels['"+v1alpha1.LabelRunUID+"']"),
		field(result.EnvPodUID, "metadata.uid"),
		field(result.EnvPodName, "metadata.name"),
		field(result.EnvNode, "spec.nodeName"),
		{Name: result.EnvCPULimitMillis, ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{
			ContainerName: Container, Resource: "limits.cpu", Divisor: resource.MustParse("1m"),
		}}},
	}
}

// separation keeps the loader away from the database's node, as far as was asked, or on it, where its socket is.
func separation(run *v1alpha1.BenchmarkRun) *corev1.Affinity {
	term := corev1.PodAffinityTerm{LabelSelector: podsOf(run, v1alpha1.ComponentDatabase), TopologyKey: corev1.LabelHostname}
	required := []corev1.PodAffinityTerm{term}
	if plan.UsesSocket(run) {
		return &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
	}
	switch run.Spec.Loader.SeparateFromDatabase {
	case v1alpha1.SeparationNone:
		return nil
	case v1alpha1.SeparationRequired:
		return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
	default:
		return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: term}},
		}}
	}
}

// spread distributes several loaders evenly over the nodes, as far as there is room.
func spread(run *v1alpha1.BenchmarkRun) []corev1.TopologySpreadConstraint {
	if run.Spec.Loader.Pods < 2 {
		return nil
	}
	return []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector: podsOf(run, v1alpha1.ComponentLoader),
	}}
}

func podsOf(run *v1alpha1.BenchmarkRun, component string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelRun: run.Name, v1alpha1.LabelComponent: component}}
}

func resources(requested corev1.ResourceRequirements) corev1.ResourceRequirements {
	if requested.Limits != nil || requested.Requests != nil {
		return podutil.Guaranteed(requested)
	}
	return podutil.Guaranteed(corev1.ResourceRequirements{Limits: corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("1"),
		corev1.ResourceMemory: resource.MustParse("256Mi"),
	}})
}
