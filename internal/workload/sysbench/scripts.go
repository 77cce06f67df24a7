// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"embed"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// script is what sysbench executes for a name: a Lua script, and the options of its command run.
type script struct {
	// lua is the name of one of sysbench's own scripts, or the file of one of Benchrun's, which ends in .lua.
	lua string
	// run are these options by name. They come after those of the workload: a script may have a distribution, or a part of the
	// tables, of its own.
	run map[string]string
	// writes says that it changes what is in the tables.
	writes bool
}

const (
	scriptTPCC       = "tpcc"
	scriptBulkInsert = "bulk_insert"
	scriptInsert     = "oltp_insert"
	scriptDelete     = "oltp_delete"

	pointsFile  = "points.lua"
	rangesFile  = "ranges.lua"
	scanFile    = "scan.lua"
	updatesFile = "updates.lua"
	luaSuffix   = ".lua"
)

// originals are sysbench's own scripts and tpcc by their names; true are those that write.
var originals = map[string]bool{
	"oltp_point_select": false, "oltp_read_only": false, "select_random_points": false, "select_random_ranges": false,
	scriptBulkInsert: true, scriptDelete: true, scriptInsert: true, "oltp_read_write": true, "oltp_update_index": true,
	"oltp_update_non_index": true, "oltp_write_only": true, scriptTPCC: true,
}

// microbenchmarks are names for a script with options. Where one of sysbench's own does what is asked for, it is that.
var microbenchmarks = map[string]script{
	"point-query":        {lua: "oltp_point_select"},
	"random-points-10":   {lua: pointsFile, run: points("id", "*", "10")},
	"random-points-100":  {lua: pointsFile, run: points("id", "*", "100")},
	"random-points-1000": {lua: pointsFile, run: points("id", "*", "1000")},
	"hot-points": {
		lua: pointsFile, run: map[string]string{"key": "id", "select": "*", "points": "100", "hot": "on"},
	},
	"random-ranges": {
		lua: rangesFile, run: map[string]string{"key": "k", "select": "SUM(LENGTH(c))", "ranges": "10", "range_size": "5"},
	},
	"points-covered-pk":    {lua: pointsFile, run: points("id", "id", "100")},
	"points-covered-si":    {lua: pointsFile, run: points("k", "k", "100")},
	"points-notcovered-pk": {lua: pointsFile, run: points("id", "c", "100")},
	"points-notcovered-si": {lua: pointsFile, run: points("k", "c", "100")},
	"range-covered-pk":     {lua: rangesFile, run: ranges("id", "id", "100")},
	"range-covered-si":     {lua: rangesFile, run: ranges("k", "k", "100")},
	"range-notcovered-pk":  {lua: rangesFile, run: ranges("id", "c", "100")},
	"range-notcovered-si":  {lua: rangesFile, run: ranges("k", "c", "100")},
	"read-only-10":         {lua: "oltp_read_only", run: map[string]string{"range_size": "10"}},
	"read-only-100":        {lua: "oltp_read_only", run: map[string]string{"range_size": "100"}},
	"read-only-10000":      {lua: "oltp_read_only", run: map[string]string{"range_size": "10000"}},
	"read-only-count":      {lua: rangesFile, run: ranges("id", "COUNT(*)", "1000")},
	"read-only-distinct":   {lua: "oltp_read_only", run: oneQuery("distinct_ranges")},
	"read-only-order":      {lua: "oltp_read_only", run: oneQuery("order_ranges")},
	"read-only-simple":     {lua: "oltp_read_only", run: oneQuery("simple_ranges")},
	"read-only-sum":        {lua: "oltp_read_only", run: oneQuery("sum_ranges")},
	"scan":                 {lua: scanFile},

	"update-inlist":   {lua: updatesFile, run: map[string]string{"points": "100", "zipf": "0"}, writes: true},
	"update-index":    {lua: "oltp_update_index", writes: true},
	"update-nonindex": {lua: "oltp_update_non_index", writes: true},
	"update-one": {
		lua: "oltp_update_non_index", run: map[string]string{"tables": "1", "table_size": "1"}, writes: true,
	},
	// The exponent is that of sysbench 1.1.
	"update-zipf":    {lua: updatesFile, run: map[string]string{"points": "1", "zipf": "0.8"}, writes: true},
	"write-only":     {lua: "oltp_write_only", writes: true},
	"read-write-10":  {lua: "oltp_read_write", run: map[string]string{"range_size": "10"}, writes: true},
	"read-write-100": {lua: "oltp_read_write", run: map[string]string{"range_size": "100"}, writes: true},
	"insert":         {lua: scriptInsert, writes: true},
	"delete":         {lua: scriptDelete, writes: true},
}

func points(key, selected, n string) map[string]string {
	return map[string]string{"key": key, "select": selected, "points": n, "hot": "off"}
}

func ranges(key, selected, size string) map[string]string {
	return map[string]string{"key": key, "select": selected, "range_size": size, "ranges": "1"}
}

// oneQuery is one range of 1,000 rows and nothing else in an event, without a transaction around it.
func oneQuery(kind string) map[string]string {
	run := map[string]string{"range_size": "1000", "skip_trx": "on", "point_selects": "0"}
	for _, other := range []string{"distinct_ranges", "order_ranges", "simple_ranges", "sum_ranges"} {
		run[other] = "0"
	}
	run[kind] = "1"
	return run
}

// Scripts are the names of all, sorted.
func Scripts() []string { return slices.Sorted(maps.Keys(allScripts)) }

var allScripts = func() map[string]script {
	all := maps.Clone(microbenchmarks)
	for name, writes := range originals {
		all[name] = script{lua: name, writes: writes}
	}
	all[scriptTPCC] = script{lua: tpccFile, writes: true}
	return all
}()

// tpccFile is the TPC-C-like script, in the tool's folder. It loads the others of the folder tpcc.
const tpccFile = "tpcc.lua"

//go:embed tpcc/*.lua micro/*.lua
var folders embed.FS

// tpccFiles and microFiles are the texts of Benchrun's scripts and of their parts by their names.
var tpccFiles, microFiles = filesOf("tpcc"), filesOf("micro")

func filesOf(folder string) map[string]string {
	files := map[string]string{}
	names, _ := fs.Glob(folders, folder+"/*.lua") // the pattern is one
	for _, name := range names {
		text, err := folders.ReadFile(name)
		if err != nil {
			panic(err) // what is embedded can be read
		}
		files[path.Base(name)] = string(text)
	}
	return files
}

func (s *script) files() map[string]string {
	switch {
	case s.lua == tpccFile:
		return tpccFiles
	case strings.HasSuffix(s.lua, luaSuffix):
		return microFiles
	}
	return nil
}

func (s *script) options() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.run)) {
		all = append(all, "--"+name+"="+s.run[name])
	}
	return all
}
