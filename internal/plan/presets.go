// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"math"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Sizes of SmallDatum at scale 1: rows of each client, and seconds.
const (
	loadedRows   = 30_000_000
	indexedRows  = 40_000_000
	smallRows    = 10_000_000
	querySeconds = 1800
	restSeconds  = 60
)

// Bounds of these stages: the shortest query that tells something, the longest rest, and the API's of rows and seconds.
const (
	leastQuerySeconds = 10
	mostRestSeconds   = 1200
	mostStageRows     = 1_000_000_000
)

// writtenOut is a workload whose stages are written out as SmallDatum published them: what is planned, measured and recorded
// has the stages themselves. Any other is returned as it is. The error is for the run's author.
func writtenOut(w *v1alpha1.WorkloadSpec) (*v1alpha1.WorkloadSpec, error) {
	if w.IIBench == nil || w.IIBench.AsPublished != v1alpha1.AsPublishedSmallDatum {
		return w, nil
	}
	written := w.DeepCopy()
	chain := written.IIBench
	scale := 1.0
	if chain.Scale != "" {
		var err error
		if scale, err = strconv.ParseFloat(string(chain.Scale), 64); err != nil {
			return nil, fmt.Errorf("scale is %q but must be a number: %w", chain.Scale, err)
		}
	}
	s := smallDatum{scale: scale, clients: int64(max(1, chain.Clients)), deletes: chain.Tables != v1alpha1.IIBenchShared}
	if most := s.rows(indexedRows); most > mostStageRows {
		return nil, fmt.Errorf("asPublished %s at scale %s inserts %d rows in a stage for %d clients, but at most %d are allowed: "+
			"reduce scale or clients", chain.AsPublished, strconv.FormatFloat(scale, 'f', -1, 64), most, s.clients, mostStageRows)
	}
	chain.AsPublished, chain.Scale, chain.Stages = v1alpha1.AsPublishedNone, "", s.stages()
	return written, nil
}

// smallDatum makes the stages.
type smallDatum struct {
	scale   float64
	clients int64
	// deletes as many rows as are inserted once the tables are loaded.
	deletes bool
}

func (s smallDatum) stages() []v1alpha1.IIBenchStage {
	stages := []v1alpha1.IIBenchStage{
		{Name: "l.i0", Insert: &v1alpha1.IIBenchInsertStage{Rows: s.rows(loadedRows), RowsPerCommit: 100}},
		{Name: "l.x", CreateIndexes: 3},
		s.insert("l.i1", indexedRows, 50),
		s.insert("l.i2", smallRows, 5),
		{Name: "rest", Rest: &v1alpha1.IIBenchRestStage{AtLeastSeconds: ptr.To(s.rest())}},
	}
	for _, perClient := range []int64{100, 500, 1000} {
		stages = append(stages,
			s.query("qr", v1alpha1.IIBenchSecondaryRange, perClient), s.query("qp", v1alpha1.IIBenchPrimaryKey, perClient))
	}
	return stages
}

// insert is a stage that inserts so many rows for each client at scale 1.
func (s smallDatum) insert(name string, rows, perCommit int64) v1alpha1.IIBenchStage {
	return v1alpha1.IIBenchStage{
		Name:   name,
		Insert: &v1alpha1.IIBenchInsertStage{Rows: s.rows(rows), RowsPerCommit: perCommit, DeletePerInsert: ptr.To(s.deletes)},
	}
}

// query is a stage in which each client inserts so many rows per second while it queries.
func (s smallDatum) query(prefix string, by v1alpha1.IIBenchQuery, perClient int64) v1alpha1.IIBenchStage {
	return v1alpha1.IIBenchStage{
		Name: fmt.Sprintf("%s%d", prefix, perClient),
		Query: &v1alpha1.IIBenchQueryStage{
			By: by, Seconds: max(leastQuerySeconds, int32(math.Round(querySeconds*s.scale))), RatePerSecond: perClient * s.clients,
			RowsPerCommit: 50, DeletePerInsert: ptr.To(s.deletes),
		},
	}
}

// rows of all clients, of so many of each at scale 1.
func (s smallDatum) rows(each int64) int64 {
	return s.clients * int64(math.Round(float64(each)*s.scale))
}

// rest is for how many seconds the server rests at least: longer after more rows.
func (s smallDatum) rest() int32 {
	return min(mostRestSeconds, int32(math.Round(restSeconds*s.scale+float64(s.rows(loadedRows))/1e6)))
}
