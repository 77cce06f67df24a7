// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Config is what the loader of an attempt is asked to do. Nothing in it depends on the run's UID.
func Config(run *v1alpha1.BenchmarkRun, a Attempt) (*result.Config, error) {
	at, err := plan.Workload(&run.Spec.Workload, a.Point)
	if err != nil {
		return nil, err
	}
	workload, err := workload(at, run.Spec.Trials.Data)
	if err != nil {
		return nil, err
	}
	db := &run.Spec.Database
	server, err := engine.ByName(string(db.Engine))
	if err != nil {
		return nil, err
	}
	host, port := plan.Address(server, run, a.Instance)
	c := &result.Config{
		Version:   result.ConfigVersion,
		Namespace: run.Namespace, Run: run.Name,
		Trial: a.Trial.Number, Attempt: a.Number,
		Parameters: a.Point.Parameters,
		Seed:       plan.Seed(&run.Spec),
		Server: result.Server{
			Engine: string(db.Engine), Host: host, Port: port,
			UserFile:     podutil.CredentialPath + "/" + podutil.UserKey,
			PasswordFile: podutil.CredentialPath + "/" + podutil.PasswordKey,
			Schema:       plan.Schema(run),
			Borrowed:     db.Provisioner == v1alpha1.ProvisionerExternal,
		},
		Workload:       *workload,
		ConnectSeconds: int(run.Spec.Trials.StartDeadlineSeconds),
	}
	configureData(&c.Workload, &run.Spec.Workload)
	if db.TLS.Mode != v1alpha1.TLSDisabled && db.TLS.Mode != "" {
		c.Server.TLS = string(db.TLS.Mode)
	}
	if _, found := authority(run, a.Instance); found {
		c.Server.CAFile = caPath + "/" + caKey
	}
	for _, s := range plan.Settings(server, db) {
		c.Settings = append(c.Settings, result.Setting{Name: s.Name, Value: s.Value, Loose: s.Loose})
	}
	if seconds := run.Spec.Workload.Limits.Seconds; seconds != nil {
		c.LimitSeconds = int(*seconds)
	}
	if run.Spec.Loader.Pods > 1 {
		c.Pods = int(run.Spec.Loader.Pods)
	}
	if run.Spec.Loader.Scratch != nil {
		c.Scratch = scratchPath
	}
	return c, nil
}

// workload is the wire form of a workload's specification.
func workload(spec *v1alpha1.WorkloadSpec, data v1alpha1.DataLifetime) (*result.Workload, error) {
	w := &result.Workload{Type: string(spec.Type)}
	switch spec.Type {
	case v1alpha1.WorkloadCommitSize:
		w.CommitSize = &result.CommitSize{Rows: spec.CommitSize.Rows, RowsPerCommit: spec.CommitSize.RowsPerCommit}
		if spec.CommitSize.Compat != v1alpha1.CompatNone {
			w.CommitSize.Compat = string(spec.CommitSize.Compat)
		}
	case v1alpha1.WorkloadBulkInsert:
		w.BulkInsert = bulkInsert(spec.BulkInsert)
	case v1alpha1.WorkloadIIBench:
		w.IIBench = iiBench(spec.IIBench)
	case v1alpha1.WorkloadTPROCHLoad:
		w.TPROCHLoad = tprochLoad(spec.TPROCHLoad)
	case v1alpha1.WorkloadSysbench:
		w.Sysbench = sysbench(spec.Sysbench, data)
	case v1alpha1.WorkloadCustom:
		var err error
		w.Custom, err = custom(spec.Custom)
		return w, err
	default:
		return nil, fmt.Errorf("workload type %q is not known", spec.Type)
	}
	return w, nil
}
