// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

// Folders in a loader's Pod that the operator and the loader agree on.
const (
	// DataPath has the claim with the user's data, read-only.
	DataPath = "/data"
	// SchemaPath has the user's SQL that makes the tables, read-only.
	SchemaPath = "/etc/benchrun/schema"
	// FilesPath has the user's files for the workload, read-only.
	FilesPath = "/etc/benchrun/files"
	// SocketPath has the server's Unix socket, read-only.
	SocketPath = "/run/benchrun-socket"
	// WorkPath is in memory, for files that a program is started with.
	WorkPath = "/run/benchrun"
	// ToolPath is where the loader is copied to in an image that is not its own.
	ToolPath = "/benchrun"
)

// Data are files of the user's that a workload loads in place of rows of its own.
type Data struct {
	// Claim is the PersistentVolumeClaim's name, Root the folder where it is mounted.
	Claim string `json:"claim,omitempty"`
	Root  string `json:"root"`
	// Path of the file, or of the folder with the files, within Root.
	Path string `json:"path"`
	// Format of a file of rows: TSV, empty for TSV, or CSV. Files of TPROCHLoad have HammerDB's.
	Format string `json:"format,omitempty"`
	// Separator of fields, one character; empty is a tab for TSV and a comma for CSV.
	Separator string `json:"separator,omitempty"`
	// EmptyIs is what an empty field is: EmptyString, empty for EmptyString, or NULL.
	EmptyIs string `json:"emptyIs,omitempty"`
	// HeaderLines are how many records at the beginning are no rows.
	HeaderLines int64 `json:"headerLines,omitempty"`
	// Table that the rows go to; empty is the workload's own. Columns are those of the fields, in their order; empty are all
	// that the table has.
	Table   string   `json:"table,omitempty"`
	Columns []string `json:"columns,omitempty"`
}

const (
	// DataTSV is the format of SELECT … INTO OUTFILE.
	DataTSV = "TSV"
	// DataCSV is the format of RFC 4180.
	DataCSV = "CSV"
	// EmptyIsText makes an empty field an empty string.
	EmptyIsText = "EmptyString"
	// EmptyIsNull makes an empty field NULL.
	EmptyIsNull = "NULL"
)
