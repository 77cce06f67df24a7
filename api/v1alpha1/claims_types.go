// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "k8s.io/apimachinery/pkg/util/intstr"

// Claims are statements to test about the numbers, for example those of a publication. They cannot be changed.
//
// +listType=map
// +listMapKey=name
// +kubebuilder:validation:MinItems=1
// +kubebuilder:validation:MaxItems=16
type Claims []Claim

// Claim is a statement. It has one of value, ratio, bestAt and monotonic; its interval holds at 95% for all claims together.
//
// +kubebuilder:validation:XValidation:rule="[has(self.value), has(self.ratio), has(self.bestAt), has(self.monotonic)].filter(set, set).size() == 1",message="a claim has exactly one of value, ratio, bestAt and monotonic"
type Claim struct {
	// name of the claim: a DNS label of at most 40 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// statement is the claim in its author's words.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Statement string `json:"statement,omitempty"`

	// metric of results.csv, for example lineitemSeconds, or durationSeconds, the length of the measured phase. Unset: the
	// headline's.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Metric string `json:"metric,omitempty"`

	// value claims how large the values of a point are.
	// +optional
	Value *ValueClaim `json:"value,omitempty"`

	// ratio claims that the values of one point are a multiple of those of another, or equal.
	// +optional
	Ratio *RatioClaim `json:"ratio,omitempty"`

	// bestAt claims which points are best.
	// +optional
	BestAt *BestAtClaim `json:"bestAt,omitempty"`

	// monotonic claims that the values only rise, or only fall.
	// +optional
	Monotonic *MonotonicClaim `json:"monotonic,omitempty"`

	// needs is what the machine must have; without it, the verdict is PremiseMissing.
	// +optional
	Needs ClaimNeeds `json:"needs,omitzero"`

	// published figures, by which the claim is judged too.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Published []PublishedFigure `json:"published,omitempty"`
}

// ClaimNeeds is what a claim needs of the machine of each variant that it names.
//
// +kubebuilder:validation:MinProperties=1
type ClaimNeeds struct {
	// fdatasyncMicros on the data volume: the median, or the mean if that is longer.
	// +optional
	FdatasyncMicros LeastNumber `json:"fdatasyncMicros,omitzero"`

	// cpusOfDatabase are the CPUs that the server may use.
	// +optional
	CPUsOfDatabase LeastNumber `json:"cpusOfDatabase,omitzero"`
}

// LeastNumber is the smallest number that is enough.
type LeastNumber struct {
	// atLeast is that number. From 1 to 1000000000.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	AtLeast int64 `json:"atLeast,omitempty"`
}

// SelectedValue is an integer, or a text of at most 256 characters.
type SelectedValue intstr.IntOrString

// String is the value as results have it.
func (v SelectedValue) String() string { return (*intstr.IntOrString)(&v).String() }

// MarshalJSON writes a number or a text, as it was written.
func (v SelectedValue) MarshalJSON() ([]byte, error) { return intstr.IntOrString(v).MarshalJSON() }

// UnmarshalJSON reads a number or a text.
func (v *SelectedValue) UnmarshalJSON(text []byte) error {
	return (*intstr.IntOrString)(v).UnmarshalJSON(text)
}

// PointSelector selects the points with the given values.
//
// +kubebuilder:validation:MinProperties=1
type PointSelector struct {
	// variant by its name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Variant string `json:"variant,omitempty"`

	// parameters by name: {rowsPerCommit: 16}. Quote decimal numbers.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=6
	Parameters map[string]SelectedValue `json:"parameters,omitempty"`
}

// ClaimedNumber is a number above 0 in quotes, for example "8" or "7.5".
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:Pattern=`^([0-9]{1,12}[.])?[0-9]{1,12}$`
// +kubebuilder:validation:XValidation:rule="double(self) > 0.0",message="write a number above 0 in quotes, for example \"8\" or \"7.5\""
type ClaimedNumber string

// ValueClaim claims how large the values of a point are.
//
// +kubebuilder:validation:XValidation:rule="has(self.atLeast) || has(self.atMost)",message="set atLeast or atMost, or both"
type ValueClaim struct {
	// of names the point.
	// +required
	Of PointSelector `json:"of,omitzero"`

	// atLeast is the smallest value that is claimed, in the metric's unit.
	// +optional
	AtLeast ClaimedNumber `json:"atLeast,omitempty"`

	// atMost is the largest value that is claimed.
	// +optional
	AtMost ClaimedNumber `json:"atMost,omitempty"`
}

// RatioClaim claims that the values of one point are a multiple of those of another, or equal.
//
// +kubebuilder:validation:XValidation:rule="has(self.withinPercent) != (has(self.atLeast) || has(self.atMost))",message="set withinPercent, or atLeast, atMost or both"
type RatioClaim struct {
	// of names the point whose values are divided.
	// +required
	Of PointSelector `json:"of,omitzero"`

	// to names the point by whose values they are divided.
	// +required
	To PointSelector `json:"to,omitzero"`

	// toMetric is the metric of to. Unset: the claim's.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	ToMetric string `json:"toMetric,omitempty"`

	// atLeast is the smallest ratio that is claimed, for example "7.5".
	// +optional
	AtLeast ClaimedNumber `json:"atLeast,omitempty"`

	// atMost is the largest ratio that is claimed.
	// +optional
	AtMost ClaimedNumber `json:"atMost,omitempty"`

	// withinPercent claims that the two are equal but for so much. From 1 to 50.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	WithinPercent int32 `json:"withinPercent,omitempty"`
}

// BestAtClaim claims that the best of some points is among those that at selects.
type BestAtClaim struct {
	// at selects the points that the best is among.
	// +required
	At PointSelector `json:"at,omitzero"`

	// among selects the points that are compared. Unset: all.
	// +optional
	Among PointSelector `json:"among,omitzero"`
}

// ClaimedDirection is where values go as a parameter grows.
type ClaimedDirection string

const (
	// DirectionRising: the values grow.
	DirectionRising ClaimedDirection = "Rising"
	// DirectionFalling: the values fall.
	DirectionFalling ClaimedDirection = "Falling"
)

// MonotonicClaim claims that the values only rise, or only fall, as a parameter grows.
type MonotonicClaim struct {
	// parameter that is swept, with at least three numeric values.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Parameter string `json:"parameter,omitempty"`

	// direction is Rising (with the parameter) or Falling.
	// +required
	// +kubebuilder:validation:Enum=Rising;Falling
	Direction ClaimedDirection `json:"direction,omitempty"`

	// among selects points that differ in the parameter alone. Unset: all.
	// +optional
	Among PointSelector `json:"among,omitzero"`

	// withinPercent is how far a step may go the wrong way. From 1 to 50; defaults to 5.
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	WithinPercent int32 `json:"withinPercent,omitempty"`
}

// PublishedFigure is a published value of a point.
type PublishedFigure struct {
	// of names the point.
	// +required
	Of PointSelector `json:"of,omitzero"`

	// metric of the value. Unset: the claim's.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Metric string `json:"metric,omitempty"`

	// value that was published, in the metric's unit.
	// +required
	Value ClaimedNumber `json:"value,omitempty"`
}

// ClaimVerdict is the answer about a claim.
type ClaimVerdict string

const (
	// ClaimHolds: by the numbers the claim is true.
	ClaimHolds ClaimVerdict = "Holds"
	// ClaimDoesNotHold: by the numbers the claim is false.
	ClaimDoesNotHold ClaimVerdict = "DoesNotHold"
	// ClaimCannotSay: the numbers allow both; detail has them.
	ClaimCannotSay ClaimVerdict = "CannotSay"
	// ClaimPremiseMissing: the machine lacks what the claim needs; detail says what.
	ClaimPremiseMissing ClaimVerdict = "PremiseMissing"
)

// ClaimStatus is what the numbers say of a claim.
type ClaimStatus struct {
	// name of the claim.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Name string `json:"name,omitempty"`

	// verdict is Holds, DoesNotHold, CannotSay (the interval allows both, or there is none) or PremiseMissing.
	// +required
	// +kubebuilder:validation:Enum=Holds;DoesNotHold;CannotSay;PremiseMissing
	Verdict ClaimVerdict `json:"verdict,omitempty"`

	// detail has the numbers in a sentence.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Detail string `json:"detail,omitempty"`

	// published is the verdict by the published figures: CannotSay if some are missing; unset: none.
	// +optional
	// +kubebuilder:validation:Enum=Holds;DoesNotHold;CannotSay
	Published ClaimVerdict `json:"published,omitempty"`
}
