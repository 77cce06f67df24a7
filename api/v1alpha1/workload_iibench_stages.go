// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// IIBenchTables says who has which table.
type IIBenchTables string

const (
	// IIBenchPerClient gives each client a table of its own.
	IIBenchPerClient IIBenchTables = "PerClient"
	// IIBenchShared gives all clients one table.
	IIBenchShared IIBenchTables = "Shared"
)

// IIBenchQuery is how queries find their rows.
type IIBenchQuery string

const (
	// IIBenchSecondaryRange reads ten rows at a time from a secondary index, whichever chance says.
	IIBenchSecondaryRange IIBenchQuery = "SecondaryRange"
	// IIBenchPrimaryKey reads a row at a time by the primary key.
	IIBenchPrimaryKey IIBenchQuery = "PrimaryKey"
)

// IIBenchStage is a stage of a chain. It has exactly one member besides its name.
//
// +kubebuilder:validation:XValidation:rule="[has(self.insert), has(self.createIndexes), has(self.rest), has(self.query)].filter(x, x).size() == 1",message="a stage has exactly one of insert, createIndexes, rest and query"
type IIBenchStage struct {
	// name of the stage: the value of the parameter stage in points and claims.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// insert inserts rows as fast as the clients can, or at a rate.
	// +optional
	Insert *IIBenchInsertStage `json:"insert,omitempty"`

	// createIndexes builds this many of the schema's indexes, with one statement for each table, all tables at once. From 1 to 3.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3
	CreateIndexes int32 `json:"createIndexes,omitempty"`

	// rest waits until the server is quiet. It is no point.
	// +optional
	Rest *IIBenchRestStage `json:"rest,omitempty"`

	// query queries as fast as the clients can, while rows are inserted at a rate.
	// +optional
	Query *IIBenchQueryStage `json:"query,omitempty"`
}

// IIBenchInsertStage inserts rows.
type IIBenchInsertStage struct {
	// rows to insert, by all clients. From 1 to 1000000000.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	Rows int64 `json:"rows,omitempty"`

	// rowsPerCommit is the number of rows in a transaction: one statement. From 1 to 100000; defaults to 100.
	// +optional
	// +kubebuilder:default=100
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	RowsPerCommit int64 `json:"rowsPerCommit,omitempty"`

	// ratePerSecond is how many rows all clients insert together. Unset: as many as they can. From 1 to 100000000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000000
	RatePerSecond int64 `json:"ratePerSecond,omitempty"`

	// deletePerInsert deletes as many of the oldest rows as are inserted, over its own connection. Needs tables PerClient.
	// +optional
	DeletePerInsert *bool `json:"deletePerInsert,omitempty"`
}

// IIBenchRestStage analyzes the tables and waits until the server has written its dirty pages back.
type IIBenchRestStage struct {
	// atLeastSeconds is the least duration of the stage. From 0 to 3600. Unset: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	AtLeastSeconds *int32 `json:"atLeastSeconds,omitempty"`
}

// IIBenchQueryStage queries while rows are inserted.
type IIBenchQueryStage struct {
	// by is SecondaryRange (ten rows at a time from a random index) or PrimaryKey (one row at a time).
	// +required
	// +kubebuilder:validation:Enum=SecondaryRange;PrimaryKey
	By IIBenchQuery `json:"by,omitempty"`

	// seconds that the stage lasts. From 1 to 86400.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	Seconds int32 `json:"seconds,omitempty"`

	// ratePerSecond is how many rows all clients insert meanwhile. Unset: none. From 1 to 100000000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000000
	RatePerSecond int64 `json:"ratePerSecond,omitempty"`

	// rowsPerCommit is the number of rows in a transaction: one statement. From 1 to 100000; defaults to 50.
	// +optional
	// +kubebuilder:default=50
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	RowsPerCommit int64 `json:"rowsPerCommit,omitempty"`

	// deletePerInsert deletes as many of the oldest rows as are inserted, over its own connection. Needs tables PerClient.
	// +optional
	DeletePerInsert *bool `json:"deletePerInsert,omitempty"`
}

// InStages says whether a workload, which may be nil, is measured in stages.
func (w *IIBenchWorkload) InStages() bool {
	return w != nil && (len(w.Stages) > 0 || w.AsPublished == AsPublishedSmallDatum)
}
