// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// DefaultRepetitions of each point, if the specification names neither repetitions nor a precision.
const DefaultRepetitions = 3

// Point is one combination of swept parameters. It has none if nothing is swept.
type Point struct {
	Parameters map[string]string
}

// Trial is one planned execution of the workload.
type Trial struct {
	// Number counts from 1, in the order of measuring.
	Number int
	// Round counts from 1: the repetition of the point that this trial is.
	Round int
	// Point is an index into Plan.Points.
	Point int
}

// Plan is all points, in the order of the sweep, and all trials, in the order of measuring. With a precision target the
// trials are the maximum; whole rounds may be left out of it, but never reordered.
type Plan struct {
	Points []Point
	Rounds int
	Trials []Trial
}

// ForRun computes a run's plan. The error is for specifications that the API server would have refused.
func ForRun(spec *v1alpha1.BenchmarkRunSpec) (*Plan, error) {
	points, err := points(spec)
	if err != nil {
		return nil, err
	}
	rounds := DefaultRepetitions
	switch {
	case spec.Trials.Precision != nil:
		rounds = int(spec.Trials.Precision.Max)
	case spec.Trials.Repetitions != nil:
		rounds = int(*spec.Trials.Repetitions)
	}
	p := &Plan{Points: points, Rounds: rounds}
	p.Trials = order(len(points), rounds, spec.Trials.Order, Seed(spec))
	return p, nil
}

// Seed is the seed of a run.
func Seed(spec *v1alpha1.BenchmarkRunSpec) int64 { return ptr.Deref(spec.Seed, 1) }

func points(spec *v1alpha1.BenchmarkRunSpec) ([]Point, error) {
	sweep := spec.Sweep
	if sweep == nil {
		return []Point{{}}, nil
	}
	base, err := parameters(&spec.Workload)
	if err != nil {
		return nil, err
	}
	switch sweep.Mode {
	case v1alpha1.SweepList:
		return listPoints(sweep.Points, base)
	case v1alpha1.SweepOneFactor:
		return oneFactorPoints(sweep.Axes, base)
	default:
		return gridPoints(sweep.Axes, base)
	}
}

func gridPoints(axes []v1alpha1.SweepAxis, base map[string]string) ([]Point, error) {
	result := []Point{{}}
	for _, axis := range axes {
		if err := known(axis.Parameter, base); err != nil {
			return nil, err
		}
		var next []Point
		for _, p := range result {
			for _, v := range axis.Values {
				next = append(next, p.with(axis.Parameter, string(v)))
			}
		}
		result = next
	}
	return result, nil
}

func oneFactorPoints(axes []v1alpha1.SweepAxis, base map[string]string) ([]Point, error) {
	origin := Point{}
	for _, axis := range axes {
		if err := known(axis.Parameter, base); err != nil {
			return nil, err
		}
		origin = origin.with(axis.Parameter, base[axis.Parameter])
	}
	var all []Point
	for _, axis := range axes {
		for _, v := range axis.Values {
			all = append(all, origin.with(axis.Parameter, string(v)))
		}
	}
	return distinct(all), nil
}

func listPoints(list []v1alpha1.SweepPoint, base map[string]string) ([]Point, error) {
	swept := map[string]bool{}
	for _, item := range list {
		for name := range item.Parameters {
			if err := known(name, base); err != nil {
				return nil, err
			}
			swept[name] = true
		}
	}
	var all []Point
	for _, item := range list {
		p := Point{}
		for name := range swept {
			value := base[name]
			if v, found := item.Parameters[name]; found {
				value = string(v)
			}
			p = p.with(name, value)
		}
		all = append(all, p)
	}
	return distinct(all), nil
}

func known(parameter string, base map[string]string) error {
	if _, found := base[parameter]; !found {
		return fmt.Errorf("parameter %q cannot be swept; allowed: %s", parameter,
			strings.Join(slices.Sorted(maps.Keys(base)), ", "))
	}
	return nil
}

func (p Point) with(name, value string) Point {
	parameters := maps.Clone(p.Parameters)
	if parameters == nil {
		parameters = map[string]string{}
	}
	parameters[name] = value
	return Point{Parameters: parameters}
}

// distinct leaves the first of equal points.
func distinct(points []Point) []Point {
	seen := map[string]bool{}
	return slices.DeleteFunc(points, func(p Point) bool {
		// A map prints its keys in order.
		name := fmt.Sprint(p.Parameters)
		found := seen[name]
		seen[name] = true
		return found
	})
}

// parameters are the sweepable parameters of a workload with the values that its specification names.
func parameters(w *v1alpha1.WorkloadSpec) (map[string]string, error) {
	switch w.Type {
	case v1alpha1.WorkloadCommitSize:
		if w.CommitSize == nil {
			return nil, fmt.Errorf("workload type %s lacks its member", w.Type)
		}
		return map[string]string{"rowsPerCommit": strconv.FormatInt(w.CommitSize.RowsPerCommit, 10)}, nil
	case v1alpha1.WorkloadBulkInsert, v1alpha1.WorkloadIIBench:
		return insertParameters(w)
	case v1alpha1.WorkloadTPROCHLoad:
		if w.TPROCHLoad == nil {
			return nil, fmt.Errorf("workload type %s lacks its member", w.Type)
		}
		return tprochParameters(w.TPROCHLoad), nil
	case v1alpha1.WorkloadSysbench:
		return sysbenchParameters(w.Sysbench)
	case v1alpha1.WorkloadCustom:
		return customParameters(w.Custom)
	default:
		return nil, fmt.Errorf("workload type %q is not known", w.Type)
	}
}

// Workload is the specification of the workload at a point: the parameters are put in their places.
func Workload(w *v1alpha1.WorkloadSpec, p Point) (*v1alpha1.WorkloadSpec, error) {
	at := w.DeepCopy()
	for name, value := range p.Parameters {
		switch {
		case w.Type == v1alpha1.WorkloadCommitSize && name == "rowsPerCommit":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < 1 {
				return nil, fmt.Errorf("rowsPerCommit must be a whole number from 1 on, not %q", value)
			}
			at.CommitSize.RowsPerCommit = n
		case w.Type == v1alpha1.WorkloadBulkInsert || w.Type == v1alpha1.WorkloadIIBench:
			if err := setInsertParameter(at, name, value); err != nil {
				return nil, err
			}
		case w.Type == v1alpha1.WorkloadTPROCHLoad:
			if err := setTPROCH(at.TPROCHLoad, name, value); err != nil {
				return nil, err
			}
		case w.Type == v1alpha1.WorkloadSysbench:
			if err := setSysbench(at.Sysbench, name, value); err != nil {
				return nil, err
			}
		case w.Type == v1alpha1.WorkloadCustom:
			at.Custom.Parameters[name] = v1alpha1.ParameterValue(value)
		default:
			return nil, fmt.Errorf("parameter %q of %s cannot be swept", name, w.Type)
		}
	}
	return at, nil
}
