// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// DefaultStreams is the number of connections of TPROCHLoad with loadMode Parallel.
const DefaultStreams = 4

// tprochParameters are what TPROCHLoad can sweep.
func tprochParameters(w *v1alpha1.TPROCHLoadWorkload) map[string]string {
	return map[string]string{
		"scaleFactor":      w.ScaleFactor,
		"uniqueChecks":     strconv.FormatBool(ptr.Deref(w.UniqueChecks, true)),
		"foreignKeyChecks": strconv.FormatBool(ptr.Deref(w.ForeignKeyChecks, true)),
		"streams":          strconv.Itoa(int(ptr.Deref(w.Streams, DefaultStreams))),
		"loadMode":         string(w.LoadMode),
	}
}

// setTPROCH puts a swept parameter's value in its place. The loader checks what is not a number here.
func setTPROCH(w *v1alpha1.TPROCHLoadWorkload, name, value string) error {
	switch name {
	case "scaleFactor":
		w.ScaleFactor = value
	case "uniqueChecks", "foreignKeyChecks":
		on, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%s must be true or false, not %q", name, value)
		}
		if name == "uniqueChecks" {
			w.UniqueChecks = &on
		} else {
			w.ForeignKeyChecks = &on
		}
	case "streams":
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 1 {
			return fmt.Errorf("streams must be a whole number from 1 on, not %q", value)
		}
		w.Streams = ptr.To(int32(n))
	case "loadMode":
		w.LoadMode = v1alpha1.TPROCHLoadMode(value)
	default:
		return fmt.Errorf("parameter %q of TPROCHLoad cannot be swept", name)
	}
	return nil
}
