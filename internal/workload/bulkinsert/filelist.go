// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bulkinsert

import "github.com/benchrun-dev/benchrun/internal/workload/generate"

// fileList is the data of a list of files: row n has a path, a time of modification and a size. Files of one folder follow
// each other, as in a list that was made by walking a tree.
type fileList struct {
	rows    generate.Rows
	folders [folderCount]string
}

const (
	folderCount = 1024
	// Folders have minFolder to maxFolder characters.
	minFolder, maxFolder = 80, 150
	// filesPerFolder rows in a row are in the same folder, as a power of two.
	filesPerFolderLog = 6
	fileSuffix        = ".dat"
	maxSizeDigits     = 13
	timeLength        = len("2010-01-01 00:00:00.000000")
	// maxFileRow bounds the text of a row in a statement with its comma, as appendRow makes it.
	maxFileRow = len("('") + maxFolder + len("/") + generate.TextLength + len(fileSuffix) + len("','") + timeLength + len("',") +
		maxSizeDigits + len("),")
)

// newFileList makes the folders of a seed.
func newFileList(seed int64) *fileList {
	f := &fileList{rows: generate.NewRows(seed)}
	draws := f.rows.Draws(0)
	for i := range f.folders {
		f.folders[i] = folder(&draws)
	}
	return f
}

// folder is a path of names of 6 to 20 characters, of which the last may be shorter.
func folder(d *generate.Draws) string {
	var path []byte
	for length := minFolder + 1 + d.Below(maxFolder-minFolder); uint64(len(path))+1 < length; {
		path = append(path, '/')
		for range min(6+d.Below(15), length-uint64(len(path))) {
			path = append(path, "abcdefghijklmnopqrstuvwxyz012345"[d.Next()>>59])
		}
	}
	return string(path)
}

// appendRow appends ('path','time',size) of row n.
func (f *fileList) appendRow(dst []byte, n int64) []byte {
	return append(f.appendFields(append(dst, "('"...), n, "','", "',"), ')')
}

// appendText appends path:time:size of row n.
func (f *fileList) appendText(dst []byte, n int64) []byte { return f.appendFields(dst, n, ":", ":") }

func (f *fileList) appendFields(dst []byte, n int64, afterPath, afterTime string) []byte {
	dst = f.appendPath(dst, f.folder(n), n)
	dst = append(dst, afterPath...)
	micros, size := f.numbers(n)
	dst = generate.AppendTime(dst, micros)
	dst = append(dst, afterTime...)
	return generate.AppendNumber(dst, size)
}

// folder of row n.
func (f *fileList) folder(n int64) string {
	draws := f.rows.Draws(-1 - n>>filesPerFolderLog)
	return f.folders[draws.Below(folderCount)]
}

// appendPath appends the path of row n, which is in that folder.
func (f *fileList) appendPath(dst []byte, folder string, n int64) []byte {
	dst = append(append(dst, folder...), '/')
	return append(f.rows.AppendText(dst, n), fileSuffix...)
}

// numbers are row n's time of modification and its size.
func (f *fileList) numbers(n int64) (micros, size uint64) {
	draws := f.rows.Draws(n)
	micros = draws.Below(generate.TimeSpan)
	// Sizes of all magnitudes up to 8 TiB, small ones as often as large ones.
	size = draws.Next()
	return micros, size >> (21 + size%40)
}
