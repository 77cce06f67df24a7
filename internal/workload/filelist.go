// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import "time"

// fileList is the data of a list of files: row n has a path, a time of modification and a size. Files of one folder follow
// each other, as in a list that was made by walking a tree.
type fileList struct {
	rows    Rows
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
	maxFileRow = len("('") + maxFolder + len("/") + TextLength + len(fileSuffix) + len("','") + timeLength + len("',") +
		maxSizeDigits + len("),")
)

// newFileList makes the folders of a seed.
func newFileList(seed int64) *fileList {
	f := &fileList{rows: NewRows(seed)}
	draws := f.rows.draws(0)
	for i := range f.folders {
		f.folders[i] = draws.folder()
	}
	return f
}

// folder is a path of names of 6 to 20 characters, of which the last may be shorter.
func (d *draws) folder() string {
	var path []byte
	for length := minFolder + 1 + d.below(maxFolder-minFolder); uint64(len(path))+1 < length; {
		path = append(path, '/')
		for range min(6+d.below(15), length-uint64(len(path))) {
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
	folder := f.rows.draws(-1 - n>>filesPerFolderLog)
	dst = append(dst, f.folders[folder.below(folderCount)]...)
	dst = append(dst, '/')
	dst = f.rows.AppendText(dst, n)
	dst = append(dst, fileSuffix...)
	dst = append(dst, afterPath...)
	draws := f.rows.draws(n)
	dst = appendTime(dst, draws.below(timeSpan))
	dst = append(dst, afterTime...)
	// Sizes of all magnitudes up to 8 TiB, small ones as often as large ones.
	size := draws.Next()
	return appendNumber(dst, size>>(21+size%40))
}

const (
	// timeDays are the days from 2010-01-01 on in which files were modified, timeSpan the same in microseconds.
	timeDays = 3652
	timeSpan = timeDays * 24 * uint64(time.Hour/time.Microsecond)
)

// days has the texts of these days.
var days = func() (all [timeDays][len(time.DateOnly)]byte) {
	for i := range all {
		copy(all[i][:], time.Date(2010, time.January, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly))
	}
	return all
}()

// appendTime appends the time so many microseconds after the beginning of 2010, as DATETIME(6) has it.
func appendTime(dst []byte, micros uint64) []byte {
	const second = 1_000_000
	fraction := micros % second
	a, b, c := twoDigits[fraction/10000], twoDigits[fraction/100%100], twoDigits[fraction%100]
	return append(appendSecond(dst, micros/second), '.', a[0], a[1], b[0], b[1], c[0], c[1])
}

// appendSecond appends the time so many seconds after the beginning of 2010, as DATETIME has it.
func appendSecond(dst []byte, seconds uint64) []byte {
	day, clock := seconds/86400, seconds%86400
	dst = append(dst, days[day][:]...)
	hour, minute, second := twoDigits[clock/3600], twoDigits[clock/60%60], twoDigits[clock%60]
	return append(dst, ' ', hour[0], hour[1], ':', minute[0], minute[1], ':', second[0], second[1])
}
