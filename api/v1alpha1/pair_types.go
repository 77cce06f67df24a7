// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Verdict is the answer of a pair.
type Verdict string

const (
	// VerdictFaster: the variant is faster than the baseline.
	VerdictFaster Verdict = "Faster"
	// VerdictSlower: the variant is slower than the baseline.
	VerdictSlower Verdict = "Slower"
	// VerdictEqual: the variant differs from the baseline by less than equivalentWithinPercent.
	VerdictEqual Verdict = "Equal"
	// VerdictNoDifferenceShown: neither a difference nor equality is shown, although a difference of equivalentWithinPercent
	// would probably have been seen.
	VerdictNoDifferenceShown Verdict = "NoDifferenceShown"
	// VerdictCannotSay: there is no answer (too few rounds, too much scatter); detail says why.
	VerdictCannotSay Verdict = "CannotSay"
)

// PairStatus compares a variant with the baseline at one point, or at all of them together.
type PairStatus struct {
	// variant that is compared with the baseline.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Variant string `json:"variant,omitempty"`

	// parameters of the point by name; empty if nothing is swept.
	// +optional
	// +kubebuilder:validation:MaxProperties=6
	// +kubebuilder:validation:MinProperties=1
	Parameters map[string]ParameterValue `json:"parameters,omitempty"`

	// verdict is Faster, Slower, Equal (within equivalentWithinPercent), NoDifferenceShown or CannotSay.
	// +optional
	// +kubebuilder:validation:Enum=Faster;Slower;Equal;NoDifferenceShown;CannotSay
	Verdict Verdict `json:"verdict,omitempty"`

	// ratio of the variant's values to the baseline's, with at most four significant digits.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Ratio string `json:"ratio,omitempty"`

	// low is the lower end of the ratio's interval.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Low string `json:"low,omitempty"`

	// high is the upper end of the ratio's interval.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	High string `json:"high,omitempty"`

	// rounds that the pair is made of.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Rounds int32 `json:"rounds,omitempty"`

	// metric that is compared, for example rowsPerSecond.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Metric string `json:"metric,omitempty"`

	// baselineMedian is the median of the baseline's values in unit.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	BaselineMedian string `json:"baselineMedian,omitempty"`

	// median of the variant's values in unit.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Median string `json:"median,omitempty"`

	// unit of both medians.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Unit string `json:"unit,omitempty"`

	// detail says the verdict in a sentence.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Detail string `json:"detail,omitempty"`
}
