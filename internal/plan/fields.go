// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// field is a sweepable parameter's place in a workload's specification.
type field interface {
	get() string
	// set is an error if the value is not one of the field's type.
	set(value string) error
}

// insertFields are the sweepable parameters of BulkInsert and IIBench; nil for other workloads.
func insertFields(w *v1alpha1.WorkloadSpec) map[string]field {
	switch {
	case w.Type == v1alpha1.WorkloadBulkInsert && w.BulkInsert != nil:
		b := w.BulkInsert
		return map[string]field{
			"rowsPerStatement":         number[int64]{&b.RowsPerStatement},
			"statementsPerTransaction": number[int64]{&b.StatementsPerTransaction},
			"concurrency":              number[int32]{&b.Concurrency},
			"storageEngine":            text{&b.StorageEngine},
		}
	case w.Type == v1alpha1.WorkloadIIBench && w.IIBench != nil:
		i := w.IIBench
		i.SecondaryIndexes, i.QueryThreads = ptr.To(ptr.Deref(i.SecondaryIndexes, 3)), ptr.To(ptr.Deref(i.QueryThreads, 0))
		return map[string]field{
			"rowsPerCommit":    number[int64]{&i.RowsPerCommit},
			"rowsPerStatement": number[int64]{&i.RowsPerStatement},
			"storageEngine":    text{&i.StorageEngine},
			"secondaryIndexes": number[int32]{i.SecondaryIndexes},
			"insertThreads":    number[int32]{&i.InsertThreads},
			"queryThreads":     number[int32]{i.QueryThreads},
		}
	}
	return nil
}

// insertParameters are the same with their values. w is not changed.
func insertParameters(w *v1alpha1.WorkloadSpec) (map[string]string, error) {
	fields := insertFields(w.DeepCopy())
	if fields == nil {
		return nil, fmt.Errorf("workload type %s lacks its member", w.Type)
	}
	values := map[string]string{}
	for name, f := range fields {
		values[name] = f.get()
	}
	return values, nil
}

// setInsertParameter puts a parameter in its place.
func setInsertParameter(w *v1alpha1.WorkloadSpec, name, value string) error {
	f, found := insertFields(w)[name]
	if !found {
		return fmt.Errorf("parameter %q of %s cannot be swept", name, w.Type)
	}
	if err := f.set(value); err != nil {
		return fmt.Errorf("%s %w", name, err)
	}
	return nil
}

type number[T int32 | int64] struct{ at *T }

func (n number[T]) get() string { return strconv.FormatInt(int64(*n.at), 10) }

func (n number[T]) set(value string) error {
	parsed, err := strconv.ParseInt(value, 10, 64)
	if err != nil || parsed < 0 || int64(T(parsed)) != parsed {
		return fmt.Errorf("must be a whole number, not %q", value)
	}
	*n.at = T(parsed)
	return nil
}

type text struct{ at *string }

func (t text) get() string            { return *t.at }
func (t text) set(value string) error { *t.at = value; return nil }
