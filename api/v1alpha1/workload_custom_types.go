// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// WorkloadCustom runs a program of your own.
const WorkloadCustom WorkloadType = "Custom"

// CustomWorkload runs a program of yours in any image, with a read-only root except /tmp. See
// https://github.com/benchrun-dev/benchrun/blob/main/docs/reference/workloads/custom.md
//
// +kubebuilder:validation:XValidation:rule="!has(self.sweep) || !has(self.points)",message="set sweep or points, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.parameters) || self.parameters.all(p, p.matches('^[a-zA-Z][a-zA-Z0-9_]{0,62}$'))",message="a parameter's name is letters, digits and '_', beginning with a letter, at most 63"
// +kubebuilder:validation:XValidation:rule="!has(self.env) || self.env.all(n, n.matches('^[A-Za-z_][A-Za-z0-9_]*$') && !n.startsWith('BENCHRUN_'))",message="a variable's name is letters, digits and '_', and does not begin with BENCHRUN_, which is reserved"
// +kubebuilder:validation:XValidation:rule="!has(self.sweep) || self.sweep.parameters.all(p, has(self.parameters) && p in self.parameters)",message="sweep can vary the parameters that parameters names with their usual values"
// +kubebuilder:validation:XValidation:rule="!has(self.points) || self.points.all(p, p.parameters.all(n, has(self.parameters) && n in self.parameters))",message="points can vary the parameters that parameters names with their usual values"
type CustomWorkload struct {
	// image of the program, which Benchrun's loader, a static binary, starts in it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// command is the measured program and its arguments, without a shell. ${name} is the parameter of that name.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Command []CustomArgument `json:"command,omitempty"`

	// prepare runs before the server is quiesced. Written like command.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Prepare []CustomArgument `json:"prepare,omitempty"`

	// cleanup removes what prepare made. Written like command.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Cleanup []CustomArgument `json:"cleanup,omitempty"`

	// parameters that command, prepare, cleanup and env may use as ${name}, with their values.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	// +benchrun:sweep
	// +benchrun:sweep:max=6
	// +benchrun:sweep:required
	Parameters map[string]SweptValue `json:"parameters,omitempty"`

	// env has further environment variables of the program.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	Env map[string]CustomArgument `json:"env,omitempty"`

	// filesFrom is a ConfigMap in the run's namespace whose keys become files in /etc/benchrun/files.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	FilesFrom string `json:"filesFrom,omitempty"`

	// user is the program's UID, not root. From 1 to 2147483647; defaults to 65532.
	// +optional
	// +kubebuilder:default=65532
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	User int64 `json:"user,omitempty"`

	// result finds the numbers in the output. Unset: the program writes JSON to BENCHRUN_RESULT_FILE.
	// +optional
	Result *CustomResult `json:"result,omitempty"`

	// sweep of values to measure. Unset: those above.
	// +optional
	Sweep *CustomSweep `json:"sweep,omitempty"`

	// points to measure, instead of sweep.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	Points []CustomPoint `json:"points,omitempty"`
}

// CustomArgument is an argument of a program.
//
// +kubebuilder:validation:MaxLength=512
type CustomArgument string

// CustomResult finds numbers in a program's output.
//
// +kubebuilder:validation:XValidation:rule="'x'.matches(self.pattern) in [true, false]",message="pattern must be a regular expression (RE2)"
// +kubebuilder:validation:XValidation:rule="self.metrics.all(m, self.pattern.contains('(?P<' + m.name + '>') || self.pattern.contains('(?<' + m.name + '>'))",message="each metric needs a group of its name in pattern: (?P<name>…)"
type CustomResult struct {
	// pattern is a regular expression (RE2) with a named group for each metric, for lines of the output; the last match counts.
	// For example: TPS: (?P<transactionsPerSecond>[0-9.]+)
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Pattern string `json:"pattern,omitempty"`

	// metrics describe the groups. The first is the headline.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Metrics []CustomMetric `json:"metrics,omitempty"`
}

// MetricDirection is which of two values is better.
type MetricDirection string

const (
	// MetricHigher: the larger value is better.
	MetricHigher MetricDirection = "Higher"
)

// CustomMetric is a measured number.
type CustomMetric struct {
	// name of the metric, and of its group.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z][a-zA-Z0-9]*$`
	Name string `json:"name,omitempty"`

	// unit of the metric, for example transactions/s.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^\S+$`
	Unit string `json:"unit,omitempty"`

	// better is Higher or Lower. Defaults to Higher.
	// +optional
	// +kubebuilder:default=Higher
	// +kubebuilder:validation:Enum=Higher;Lower
	Better MetricDirection `json:"better,omitempty"`
}
