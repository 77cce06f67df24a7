// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command release makes what hack/release.sh has no tool for. Both steps take -version vX.Y.Z -revision COMMIT -created SECONDS
// and, if the images have a place, -registry REGISTRY. The same input gives the same bytes.
//
//	release images FOLDER   OCI layouts of the images and the digests for the chart, in FOLDER/build; FOLDER/install.yaml
//	release describe FOLDER the manifest for krew, a provenance statement, and SHA256SUMS of all files in FOLDER
//
// FOLDER/build has what the script compiled and unpacked.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// source is where the source is published.
const source = "https://github.com/benchrun-dev/benchrun"

type release struct {
	// version is vX.Y.Z; revision is the commit, and created its time.
	version, revision string
	created           time.Time
	// registry is where the images are going to be, or empty if the user who installs them says so.
	registry string
	folder   string
}

func main() {
	var r release
	flag.StringVar(&r.version, "version", "", "version, as vX.Y.Z")
	flag.StringVar(&r.revision, "revision", "", "commit that is released")
	flag.StringVar(&r.registry, "registry", "", "registry and folder for the images")
	created := flag.Int64("created", 0, "time of the commit, in seconds since 1970")
	flag.Parse()
	r.folder, r.created = flag.Arg(1), time.Unix(*created, 0).UTC()
	step := map[string]func() error{"images": r.writeImages, "describe": r.describe}[flag.Arg(0)]
	if flag.NArg() != 2 || step == nil || r.version == "" || r.revision == "" || *created == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := step(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// built is the path of what the script or an earlier step made for this release.
func (r release) built(path ...string) string {
	return filepath.Join(append([]string{r.folder, "build"}, path...)...)
}
