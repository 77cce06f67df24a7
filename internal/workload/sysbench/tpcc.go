// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"embed"
	"io/fs"
	"path"
)

// tpccFile is the TPC-C-like script, in the tool's folder. It loads the others of the folder tpcc.
const tpccFile = "tpcc.lua"

//go:embed tpcc/*.lua
var tpccFolder embed.FS

// tpccFiles are the texts of the script and of its parts by their names.
var tpccFiles = func() map[string]string {
	names, err := fs.Glob(tpccFolder, "tpcc/*.lua")
	if err != nil {
		panic(err) // the pattern is malformed
	}
	files := make(map[string]string, len(names))
	for _, name := range names {
		text, err := tpccFolder.ReadFile(name)
		if err != nil {
			panic(err) // what is embedded can be read
		}
		files[path.Base(name)] = string(text)
	}
	return files
}()
