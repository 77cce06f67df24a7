// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/loader/server"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// habits are what servers of an image make of settings that they are not told: these images do not exist where the tests run. The
// values are those of the servers' manuals.
type habits struct {
	// instances of a buffer pool of 1 GiB and more, each with chunks of 128 MiB, of which the size of the pool is made a multiple;
	// 0: the pool has the size that it is told.
	instances int64
	// logFiles are how many files of innodb_log_file_size the redo log has, unless the size of the whole is asked for.
	logFiles int64
}

// habitsOf are all images of the publications. MySQL's redo log has the size that innodb_redo_log_capacity says.
var habitsOf = map[string]habits{
	"mariadb:10.3":    {instances: 8, logFiles: 2},
	"mariadb:10.5.16": {logFiles: 1},
	"mariadb:10.6":    {logFiles: 1},
	"mariadb:10.11":   {logFiles: 1},
	"mariadb:11.8":    {logFiles: 1},
	"mysql:8.4":       {instances: 8},
	"mysql:9.7":       {instances: 8},
}

// variablesOf are those of a server with the settings of a specification: it takes each setting as it is, and makes the size of
// its buffer pool a multiple of the chunks of all instances.
func variablesOf(t *testing.T, db *v1alpha1.DatabaseSpec) map[string]string {
	t.Helper()
	of, known := habitsOf[db.Image]
	if !known {
		t.Fatalf("what does a server of %s make of its settings?", db.Image)
	}
	variables := map[string]string{"innodb_buffer_pool_chunk_size": "134217728"}
	e := engineOf(t, db)
	for _, s := range plan.Settings(e, db) {
		variables[s.Name] = s.Value
	}
	number := func(name string) int64 {
		t.Helper()
		n, err := strconv.ParseInt(variables[name], 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return n
	}
	if of.logFiles > 0 && variables["innodb_log_files_in_group"] == "" {
		if db.Settings.RedoLogSize != nil {
			of.logFiles = 1
		}
		variables["innodb_log_files_in_group"] = strconv.FormatInt(of.logFiles, 10)
	}
	if of.instances == 0 {
		return variables
	}
	const several = 1 << 30
	pool := number("innodb_buffer_pool_size")
	switch {
	case pool < several:
		variables["innodb_buffer_pool_instances"] = "1"
	case variables["innodb_buffer_pool_instances"] == "":
		variables["innodb_buffer_pool_instances"] = strconv.FormatInt(of.instances, 10)
	}
	chunk := number("innodb_buffer_pool_chunk_size")
	chunk = min(chunk, pool/number("innodb_buffer_pool_instances"))
	step := chunk * number("innodb_buffer_pool_instances")
	variables["innodb_buffer_pool_chunk_size"] = strconv.FormatInt(chunk, 10)
	variables["innodb_buffer_pool_size"] = strconv.FormatInt((pool+step-1)/step*step, 10)
	return variables
}

// effective is what matters most of a server's variables, under names that all servers share.
func effective(t *testing.T, db *v1alpha1.DatabaseSpec) map[string]string {
	t.Helper()
	variables := variablesOf(t, db)
	redo := variables["innodb_redo_log_capacity"]
	if files, of := variables["innodb_log_files_in_group"], variables["innodb_log_file_size"]; of != "" {
		n, err := strconv.ParseInt(files, 10, 64)
		size, also := strconv.ParseInt(of, 10, 64)
		if err != nil || also != nil {
			t.Fatalf("%s files of %s bytes", files, of)
		}
		redo = strconv.FormatInt(n*size, 10)
	}
	return map[string]string{
		"buffer pool": variables["innodb_buffer_pool_size"], "redo log": redo,
		"flush at commit": variables["innodb_flush_log_at_trx_commit"], "binary log": variables["log_bin"],
		"flush method": variables["innodb_flush_method"],
	}
}

// Each server of each publication has what it is told, to the byte: a run whose server has something else ends with
// SettingNotEffective, or with a warning.
func TestSettingsOfPublicationsAreEffective(t *testing.T) {
	for _, file := range tracked(t, "config/samples/publications/*.yaml") {
		for name, spec := range specsOf(t, file) {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml")+"/"+name, func(t *testing.T) {
				e := engineOf(t, &spec.Database)
				var requested []result.Setting
				for _, s := range plan.Settings(e, &spec.Database) {
					requested = append(requested, result.Setting{Name: s.Name, Value: s.Value, Loose: s.Loose})
				}
				variables := variablesOf(t, &spec.Database)
				applied := server.CompareSettings(e, requested, variables, new(server.Taken))
				must.Do(t, server.RefusedSettings(e, requested, applied, variables))
				for _, a := range applied {
					if a.Outcome == result.SettingAdjusted {
						t.Errorf("%s=%s becomes %s", a.Name, a.Requested, a.Effective)
					}
				}
			})
		}
	}
}

func engineOf(t *testing.T, db *v1alpha1.DatabaseSpec) *engine.Engine {
	t.Helper()
	e := must.Get(engine.ByName(cmp.Or(string(db.Engine), engine.MariaDB.Name)))(t)
	return e
}

// specsOf are the specifications of a file's runs, or of their variants, by their names.
func specsOf(t *testing.T, file string) map[string]v1alpha1.BenchmarkRunSpec {
	t.Helper()
	specs := map[string]v1alpha1.BenchmarkRunSpec{}
	for document := range strings.SplitSeq(read(t, file), "\n---\n") {
		var run v1alpha1.BenchmarkRun
		if err := yaml.Unmarshal([]byte(document), &run); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for i := range run.Spec.Variants {
			specs[run.Spec.Variants[i].Name] = plan.Side(&run, i, 1).Spec
		}
		if len(run.Spec.Variants) == 0 {
			specs[run.Name] = run.Spec
		}
	}
	return specs
}
