// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// Images are the full names of the images of servers that a run does not name, by their engines.
func Images(installation podutil.Images) map[string]string {
	images := map[string]string{}
	for _, e := range engine.All() {
		images[e.Name] = installation.Server("", e.Name, e.Image.Default)
	}
	return images
}
