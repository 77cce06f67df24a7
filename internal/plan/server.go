// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
)

// RunKind is the kind of runs.
const RunKind = "BenchmarkRun"

// Served is a database instance that has served attempts.
type Served struct {
	// Number of the instance; 0 is none.
	Number int
	// PodUID is that of the Pod that served the last attempt; empty if it is unknown.
	PodUID string
}

// InstanceLabels are on every object of a database instance.
func InstanceLabels(run *v1alpha1.BenchmarkRun, instance int) map[string]string {
	labels := Labels(run, v1alpha1.ComponentDatabase)
	labels[v1alpha1.LabelInstance] = strconv.Itoa(instance)
	return labels
}

// CopiesData says whether a run keeps a copy of its prepared data, with which further servers begin.
func CopiesData(run *v1alpha1.BenchmarkRun) bool { return run.Spec.Trials.Data == v1alpha1.DataRestore }

// DataCopyName is the name of the claim with the copy of the prepared data with which an instance begins: each variant has its
// own.
func DataCopyName(run *v1alpha1.BenchmarkRun, instance int) string {
	if len(run.Spec.Variants) == 0 {
		return run.Name + "-data"
	}
	return run.Name + "-data-" + VariantName(run, instance)
}

// ObserverPort is where the observer in a database's Pod answers.
const ObserverPort = 9706

// HasObserver says whether an observer runs beside the server: in the Pods that Benchrun itself makes, unless it is not wanted.
func HasObserver(db *v1alpha1.DatabaseSpec) bool {
	own := db.Provisioner == v1alpha1.ProvisionerStatefulSet || db.Provisioner == ""
	return own && db.Observer != v1alpha1.ObserverDisabled
}

// UsesSocket says whether the loader reaches the server by a Unix socket.
func UsesSocket(run *v1alpha1.BenchmarkRun) bool {
	return run.Spec.Loader.Transport == v1alpha1.TransportUnixSocket
}

// SocketClaim is the name of the volume claim that the Pods of a database instance and of its loaders share, with the socket.
func SocketClaim(run *v1alpha1.BenchmarkRun, instance int) string {
	return InstanceName(run, instance) + "-socket"
}

// DefaultCPUMillis is the CPU limit of a server whose resources are not specified, in thousandths of a CPU.
const DefaultCPUMillis = 1000

// CPULimitMillis is the CPU limit of the server that a run asks for, in thousandths of a CPU; 0 is none.
func CPULimitMillis(db *v1alpha1.DatabaseSpec) int64 {
	if db.Resources.Limits == nil && db.Resources.Requests == nil {
		return DefaultCPUMillis
	}
	return db.Resources.Limits.Cpu().MilliValue()
}

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

// InstanceName is the name of the objects of a database instance. The instances of an owner count from 1, and none is used twice.
func InstanceName(run *v1alpha1.BenchmarkRun, instance int) string {
	return fmt.Sprintf("%s-db%d", run.Name, instance)
}

// Address is where a database instance is reached. A provisioned one has a DNS name of the cluster, without the cluster's
// own domain, by a headless Service, so that no packet takes the way through a proxy's address translation.
func Address(e *engine.Engine, run *v1alpha1.BenchmarkRun, instance int) (host string, port int) {
	service := InstanceName(run, instance)
	switch run.Spec.Database.Provisioner {
	case v1alpha1.ProvisionerExternal:
		return External(&run.Spec.Database)
	case v1alpha1.ProvisionerMariaDBOperator:
		// The Pod's own name: the operator's certificate is for that.
		service = service + "-0." + service + "-internal"
	case v1alpha1.ProvisionerStatefulSet:
	}
	return fmt.Sprintf("%s.%s.svc", service, run.Namespace), int(e.Image.Port)
}

// External is where a server of the user's own is, at its engine's port unless the run says another; without one, host is empty.
func External(db *v1alpha1.DatabaseSpec) (host string, port int) {
	if e, err := EngineOf(db); err == nil && db.External != nil {
		return db.External.Host, int(cmp.Or(db.External.Port, e.Image.Port))
	}
	return "", 0
}

// Schema is the database in which workloads make their tables.
func Schema(run *v1alpha1.BenchmarkRun) string {
	if run.Spec.Database.External == nil {
		return "bench"
	}
	return cmp.Or(run.Spec.Database.External.Schema, "benchrun_"+strings.ReplaceAll(run.Name, "-", "_"))
}

// SecretName is the name of a run's credentials. Those that Benchrun makes carry the UID of their owner, so that they are never
// another's.
func SecretName(run *v1alpha1.BenchmarkRun) string {
	if external := run.Spec.Database.External; external != nil {
		return external.CredentialsSecretName
	}
	return fmt.Sprintf("%s-%.8s", run.Name, run.UID)
}

// AttemptName is the name of an attempt's Job and of its ConfigMap.
func AttemptName(run *v1alpha1.BenchmarkRun, trial, attempt int) string {
	return fmt.Sprintf("%s-t%d-a%d", run.Name, trial, attempt)
}

// AttemptOf is which attempt of a run has that name, or false: none.
func AttemptOf(run *v1alpha1.BenchmarkRun, name string) (trial, attempt int, found bool) {
	rest, _ := strings.CutPrefix(name, run.Name)
	if _, err := fmt.Sscanf(rest, "-t%d-a%d", &trial, &attempt); err != nil {
		return 0, 0, false
	}
	return trial, attempt, AttemptName(run, trial, attempt) == name
}

// ResultsName is the name of the ConfigMap of a finished run.
func ResultsName(run *v1alpha1.BenchmarkRun) string { return run.Name + "-results" }

// Labels are on every object of a run.
func Labels(run *v1alpha1.BenchmarkRun, component string) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":       "benchrun",
		"app.kubernetes.io/instance":   run.Name,
		"app.kubernetes.io/component":  component,
		"app.kubernetes.io/managed-by": "benchrun",
		v1alpha1.LabelRun:              run.Name,
		v1alpha1.LabelRunUID:           string(run.UID),
		v1alpha1.LabelComponent:        component,
	}
}

// PodLabels are those of a Pod of the run: its own, over what podMetadata adds.
func PodLabels(run *v1alpha1.BenchmarkRun, own map[string]string) map[string]string {
	return over(run.Spec.PodMetadata.Labels, own)
}

// PodAnnotations are those of a Pod of the run: its own, over what podMetadata adds; nil if there are none.
func PodAnnotations(run *v1alpha1.BenchmarkRun, own map[string]string) map[string]string {
	return over(run.Spec.PodMetadata.Annotations, own)
}

func over(added, own map[string]string) map[string]string {
	if len(added) == 0 {
		return own
	}
	all := maps.Clone(added)
	maps.Copy(all, own)
	return all
}

// QueueLabels are the labels of a run that tell Kueue in which of its queues a Job or StatefulSet stands. They are
// for these objects alone: their Pods get from Kueue what they need.
func QueueLabels(of map[string]string) map[string]string {
	labels := map[string]string{}
	for _, key := range []string{v1alpha1.LabelKueueQueue, v1alpha1.LabelKueuePriority} {
		if value, found := of[key]; found {
			labels[key] = value
		}
	}
	return labels
}
