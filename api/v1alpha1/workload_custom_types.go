// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// WorkloadCustom runs a program that the run brings along.
const WorkloadCustom WorkloadType = "Custom"

// CustomWorkload runs any program in any image under the rules of the other workloads: settings are read back, counters are
// kept, and a program that ends without a result has failed. Sweepable: every parameter that parameters names.
//
// The program finds the database in the environment: BENCHRUN_DB_ENGINE, BENCHRUN_DB_HOST, BENCHRUN_DB_PORT,
// BENCHRUN_DB_SCHEMA, BENCHRUN_DB_TLS, BENCHRUN_DB_CA_FILE, and the files with the credentials in BENCHRUN_DB_USER_FILE and
// BENCHRUN_DB_PASSWORD_FILE; further BENCHRUN_SEED and BENCHRUN_RESULT_FILE, and each parameter as BENCHRUN_PARAM_<name>. It
// runs as the user that user names, with a read-only root; it may write to /tmp and to the folder of the result file.
//
// +kubebuilder:validation:XValidation:rule="!has(self.parameters) || self.parameters.all(p, p.matches('^[a-zA-Z][a-zA-Z0-9_]*$'))",message="a parameter's name is letters, digits and '_', beginning with a letter"
// +kubebuilder:validation:XValidation:rule="self.command.all(a, !a.contains('${') || a.split('${').all(part, a.startsWith(part) || (part.contains('}') && part.split('}')[0] in (has(self.parameters) ? self.parameters : {}))))",message="command has ${…} that parameters does not name"
// +kubebuilder:validation:XValidation:rule="!has(self.env) || self.env.all(n, n.matches('^[A-Za-z_][A-Za-z0-9_]*$') && !n.startsWith('BENCHRUN_'))",message="a variable's name is letters, digits and '_', and does not begin with BENCHRUN_, which is Benchrun's"
type CustomWorkload struct {
	// image that has the program. Benchrun's loader, which is static, is copied into it and starts the program.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// command is the program and its arguments, one by one; no shell looks at them. ${name} is replaced with the parameter of
	// that name. It is what is measured.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Command []CustomArgument `json:"command,omitempty"`

	// prepare is a program that makes what the command needs, before the server is brought to rest. Written as command is.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Prepare []CustomArgument `json:"prepare,omitempty"`

	// cleanup is a program that removes it again. Written as command is.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Cleanup []CustomArgument `json:"cleanup,omitempty"`

	// parameters are names that command, prepare, cleanup and env may use as ${name}, with their values where the sweep says
	// nothing else.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	Parameters map[string]ParameterValue `json:"parameters,omitempty"`

	// env are further environment variables of the program.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	Env map[string]CustomArgument `json:"env,omitempty"`

	// filesFrom is the name of a ConfigMap in the run's namespace whose keys are files in /etc/benchrun/files. Their SHA-256
	// are recorded.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	FilesFrom string `json:"filesFrom,omitempty"`

	// user that the program runs as; it must not be root. From 1 to 4294967294; defaults to 65532.
	// +optional
	// +kubebuilder:default=65532
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4294967294
	User int64 `json:"user,omitempty"`

	// result says how the numbers are found. Unset: the program writes JSON to the file that BENCHRUN_RESULT_FILE names.
	// +optional
	Result *CustomResult `json:"result,omitempty"`
}

// CustomArgument is an argument of a program.
//
// +kubebuilder:validation:MaxLength=512
type CustomArgument string

// CustomResult finds numbers in what a program prints.
//
// +kubebuilder:validation:XValidation:rule="'x'.matches(self.pattern) in [true, false]",message="pattern must be a regular expression (RE2)"
// +kubebuilder:validation:XValidation:rule="self.metrics.all(m, self.pattern.contains('(?P<' + m.name + '>') || self.pattern.contains('(?<' + m.name + '>'))",message="each metric needs a group of its name in pattern: (?P<name>…)"
type CustomResult struct {
	// pattern is a regular expression (RE2) with a named group for each metric, matched against each line that the command
	// prints; the last match counts. For example: TPS: (?P<transactionsPerSecond>[0-9.]+)
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Pattern string `json:"pattern,omitempty"`

	// metrics are what the groups mean. The first one is the headline.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Metrics []CustomMetric `json:"metrics,omitempty"`
}

// MetricDirection says which of two values is the better one.
type MetricDirection string

// CustomMetric is a number that is measured.
type CustomMetric struct {
	// name of the metric, and of its group in the pattern.
	// +required
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z][a-zA-Z0-9]*$`
	Name string `json:"name,omitempty"`

	// unit, for example transactions/s.
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
