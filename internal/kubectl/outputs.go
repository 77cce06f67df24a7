// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// outputsFolder has in a folder of report --dir what programs printed that made the load.
const outputsFolder = "output/"

// outputs are files with what programs printed that made the load: one for each attempt that had such a program.
type outputs struct{ files []result.File }

// add the document of an attempt. It does nothing if nobody wants outputs.
func (o *outputs) add(attempt string, d *result.Document) {
	if o == nil || len(d.ToolOutput) == 0 {
		return
	}
	var b bytes.Buffer
	printToolOutput(d, &b)
	o.files = append(o.files, result.File{Name: outputsFolder + attempt + ".txt", Data: bytes.TrimLeft(b.Bytes(), "\n")})
}
