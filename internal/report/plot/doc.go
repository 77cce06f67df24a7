// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plot draws what a run or a comparison measured. A Plot is made once, from values that are already judged, and is
// written as SVG. It has no reference to anything outside itself, embeds no font, and is the same for the same
// values; its elements have classes, so that a page can give it other colours in the dark.
package plot
