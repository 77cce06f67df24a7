// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Plots are plots that the report has besides its own, for example those of a publication, under the publication's names.
//
// +listType=map
// +listMapKey=name
// +kubebuilder:validation:MinItems=1
// +kubebuilder:validation:MaxItems=16
// +kubebuilder:validation:XValidation:rule="self.all(p, self.exists_one(q, q.name.lowerAscii() == p.name.lowerAscii()))",message="names of plots must differ in more than upper and lower case: they are names of files"
type Plots []PlotSpec

// PlotSpec is a plot of what was measured against a swept parameter. A plot of which nothing was measured is left out of the
// report, which says so.
//
// +kubebuilder:validation:XValidation:rule="!has(self.lines) || self.lines != self.against",message="against and lines must be two parameters"
type PlotSpec struct {
	// name of the plot, and of its file without the ending: up to 80 letters, digits and the characters . _ = + -, for example
	// env=default_config.against_concurrency. It begins and ends with a letter or a digit.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=80
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([A-Za-z0-9._=+-]*[A-Za-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])([.].*)?$')",message="Windows takes no file of that name: choose another one"
	Name string `json:"name,omitempty"`

	// title of the plot on the page. Unset: the metric and what it is plotted against.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Title string `json:"title,omitempty"`

	// against is the name of the swept parameter on the horizontal axis.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Against string `json:"against,omitempty"`

	// lines is the name of a swept parameter that has a line for each of its values. In a comparison, a plot whose among names no
	// variant also has a line for each variant. Unset: no parameter has lines.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Lines string `json:"lines,omitempty"`

	// metric is the name of what is plotted, as in claims, for example durationSeconds, which is how long the measured phase
	// took. Unset: the metric that the run reports first.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Metric string `json:"metric,omitempty"`

	// among names the points that are plotted, which must not differ in any parameter but against and lines. Unset: all.
	// +optional
	Among PointSelector `json:"among,omitzero"`
}

// Tables are tables that the report has besides its own, for example those of a publication, with its figures beside what was
// measured.
//
// +listType=map
// +listMapKey=name
// +kubebuilder:validation:MinItems=1
// +kubebuilder:validation:MaxItems=8
// +kubebuilder:validation:XValidation:rule="self.all(t, self.exists_one(u, u.name.lowerAscii() == t.name.lowerAscii()))",message="names of tables must differ in more than upper and lower case: they are names of files"
type Tables []TableSpec

// TableSpec is a table of what was measured, with a row for each point. If it has more metrics than points, it has a row for each
// metric.
type TableSpec struct {
	// name of the table, and of its file without the ending: up to 80 letters, digits and the characters . _ = + -. It begins and
	// ends with a letter or a digit.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=80
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([A-Za-z0-9._=+-]*[A-Za-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])([.].*)?$')",message="Windows takes no file of that name: choose another one"
	Name string `json:"name,omitempty"`

	// title over the table. Unset: the name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Title string `json:"title,omitempty"`

	// metrics that the table has, in this order: metrics of results.csv, durationSeconds, which is how long the measured phase
	// took, or insertedRows, which is how many rows were inserted, as the server has counted them.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	Metrics []string `json:"metrics,omitempty"`

	// among names the points that the table has. Unset: all.
	// +optional
	Among PointSelector `json:"among,omitzero"`

	// published are figures that were published for these metrics. They stand beside what was measured.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Published []TableFigure `json:"published,omitempty"`
}

// TableFigure is a published value of a metric at a point.
type TableFigure struct {
	// of names the one point. Unset: the only one that there is.
	// +optional
	Of PointSelector `json:"of,omitzero"`

	// metric of the value: one of the table's. Unset: its first.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Metric string `json:"metric,omitempty"`

	// value that was published, in the unit of the metric.
	// +required
	Value ClaimedNumber `json:"value,omitempty"`
}
