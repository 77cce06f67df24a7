// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// What sysbench's scripts take if nothing is said.
const (
	defaultTables    int32 = 1
	defaultTableSize int64 = 10_000
	defaultScale     int32 = 1
)

// sysbenchParameters are what can be swept, with the usual values.
func sysbenchParameters(w *v1alpha1.SysbenchWorkload) (map[string]string, error) {
	if w == nil {
		return nil, errors.New("workload type Sysbench lacks its member")
	}
	p := map[string]string{
		"threads": strconv.Itoa(int(w.Threads)),
		"rate":    strconv.Itoa(int(ptr.Deref(w.Rate, 0))),
	}
	switch w.Script {
	case v1alpha1.SysbenchScriptTPCC:
		p["tables"] = strconv.Itoa(int(ptr.Deref(w.Tables, defaultTables)))
		p["scale"] = strconv.Itoa(int(ptr.Deref(w.Scale, defaultScale)))
	case "bulk_insert":
	case "select_random_points", "select_random_ranges":
		p["tableSize"] = strconv.FormatInt(ptr.Deref(w.TableSize, defaultTableSize), 10)
	default:
		p["tables"] = strconv.Itoa(int(ptr.Deref(w.Tables, defaultTables)))
		p["tableSize"] = strconv.FormatInt(ptr.Deref(w.TableSize, defaultTableSize), 10)
	}
	if w.ScriptFrom != nil {
		p["scale"] = strconv.Itoa(int(ptr.Deref(w.Scale, defaultScale)))
	}
	for name, value := range w.Options {
		p[name] = string(value)
	}
	return p, nil
}

// setSysbench puts a swept parameter in its place.
func setSysbench(w *v1alpha1.SysbenchWorkload, name, value string) error {
	if _, isOption := w.Options[name]; isOption {
		w.Options[name] = v1alpha1.SysbenchOption(value)
		return nil
	}
	low, bits := int64(1), 32
	switch name {
	case "rate":
		low = 0
	case "tableSize":
		bits = 64
	}
	n, err := strconv.ParseInt(value, 10, bits)
	if err != nil || n < low {
		return fmt.Errorf("%s must be a whole number from %d on, not %q", name, low, value)
	}
	switch name {
	case "threads":
		w.Threads = int32(n) //nolint:gosec // ParseInt has looked at its size
	case "rate":
		w.Rate = ptr.To(int32(n)) //nolint:gosec // likewise
	case "tables":
		w.Tables = ptr.To(int32(n)) //nolint:gosec // likewise
	case "scale":
		w.Scale = ptr.To(int32(n)) //nolint:gosec // likewise
	case "tableSize":
		w.TableSize = ptr.To(n)
	default:
		return fmt.Errorf("parameter %q of Sysbench cannot be swept", name)
	}
	return nil
}

// customParameters are what can be swept, with the usual values.
func customParameters(w *v1alpha1.CustomWorkload) (map[string]string, error) {
	if w == nil {
		return nil, errors.New("workload type Custom lacks its member")
	}
	p := map[string]string{}
	for name, value := range w.Parameters {
		p[name] = string(value)
	}
	return p, nil
}
