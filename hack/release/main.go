// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command release turns compiled programs into what is published:
//
//	release -version vX.Y.Z -revision COMMIT -created SECONDS [-registry REGISTRY] [-key FILE] FOLDER
//
// FOLDER/build has what hack/release.sh compiled and unpacked. FOLDER gets an archive of the plugin for each platform, a manifest
// for krew, images, the chart, install.yaml, bills of materials (CycloneDX), a provenance statement, SHA256SUMS of all files, and
// a signature of that. The same input gives the same bytes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// source is where the source is published.
const source = "https://github.com/benchrun-dev/benchrun"

// sample is what a user's first run after the installation is made of.
const sample = "commit-size.yaml"

type release struct {
	// version is vX.Y.Z; revision is the commit, and created its time.
	version, revision string
	created           time.Time
	// registry is where the images are going to be, or empty if who installs says so.
	registry string
	folder   string
}

func main() {
	var r release
	flag.StringVar(&r.version, "version", "", "version, as vX.Y.Z")
	flag.StringVar(&r.revision, "revision", "", "commit that is released")
	flag.StringVar(&r.registry, "registry", "", "registry and folder that the images are going to be in")
	created := flag.Int64("created", 0, "time of the commit, in seconds since 1970")
	key := flag.String("key", "", "file with a key of minisign's; empty: the release is not signed")
	flag.Parse()
	r.folder, r.created = flag.Arg(0), time.Unix(*created, 0).UTC()
	if flag.NArg() != 1 || !strings.HasPrefix(r.version, "v") || r.revision == "" || *created == 0 {
		flag.Usage()
		os.Exit(2)
	}
	err := r.write(context.Background())
	if err == nil && *key != "" {
		err = r.sign(*key)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	if *key == "" {
		fmt.Fprintf(os.Stderr, "release: NOT SIGNED: name a key of minisign's to sign %s\n", result.SumsFile)
	}
}

// write everything but the signature.
func (r release) write(ctx context.Context) error {
	plugin, err := r.writePlugin()
	if err != nil {
		return err
	}
	all, err := r.buildImages()
	if err != nil {
		return err
	}
	run, err := os.ReadFile(filepath.Join("config", "samples", sample))
	if err != nil {
		return err
	}
	if err := errors.Join(
		r.writeImages(all), r.writeChart(ctx, all), r.writeInstall(all), os.WriteFile(filepath.Join(r.folder, sample), run, 0o644),
	); err != nil {
		return err
	}
	packages, err := r.writeBills(plugin)
	if err != nil {
		return err
	}
	if err := r.writeProvenance(packages); err != nil {
		return err
	}
	sums, err := sumsOf(r.folder)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.folder, result.SumsFile), sums.Text(), 0o644)
}

// writePlugin packs the plugin for all platforms, and returns one of its programs.
func (r release) writePlugin() (string, error) {
	programs, err := filepath.Glob(r.built("plugin", "*-*", "kubectl-benchrun*"))
	if err != nil || len(programs) == 0 {
		return "", errors.Join(err, fmt.Errorf("%s has no programs", r.built("plugin")))
	}
	var platforms []platform
	for _, program := range programs {
		p, err := archive(program, r.folder)
		if err != nil {
			return "", err
		}
		platforms = append(platforms, p)
	}
	return programs[0], writeKrew(r.version, platforms, filepath.Join(r.folder, "benchrun.krew.yaml"))
}

func digest(path string) (string, error) {
	data, err := os.ReadFile(path)
	return result.Digest(data), err
}
