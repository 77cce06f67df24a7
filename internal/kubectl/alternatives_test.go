// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestImageNames(t *testing.T) {
	for name, tc := range map[string]struct {
		images, want []string
		err          string
	}{
		"tags":             {[]string{"mariadb:10.11", "docker.io/library/mariadb:11.8"}, []string{"10-11", "11-8"}, ""},
		"no tag":           {[]string{"mariadb", "mariadb:11.8"}, []string{"latest", "11-8"}, ""},
		"repositories":     {[]string{"mariadb:11.8", "example.com:5000/x/mysql:9.7"}, []string{"mariadb-11-8", "mysql-9-7"}, ""},
		"folders":          {[]string{"a.example/mariadb:11.8", "b.example/mariadb:11.8"}, []string{"11-8", "11-8-2"}, ""},
		"digests":          {[]string{"mariadb:11.8", "mariadb@" + digest}, []string{"11-8", "0123456789ab"}, ""},
		"a tag and digest": {[]string{"mariadb:11.8", "mariadb:11.8@" + digest}, []string{"11-8", "0123456789ab"}, ""},
		"long": {
			[]string{"mariadb:11.8-a-very-long-tag-of-a-build-1", "mariadb:11.8-a-very-long-tag-of-a-build-2", "mariadb:_.11"},
			[]string{"11-8-a-very-long-tag", "11-8-a-very-long-t-2", "11"},
			"",
		},
		"one":   {[]string{"mariadb:11.8"}, nil, "name at least two images"},
		"twice": {[]string{"mariadb:11.8", "docker.io/library/mariadb:11.8"}, nil, "docker.io/library/mariadb:11.8 is listed twice"},
		"bad":   {[]string{"mariadb:11.8", "mariadb:11:8"}, nil, `"mariadb:11:8" is not the name of an image`},
	} {
		var got []string
		choices, err := imageChoices(map[string]any{}, tc.images)
		taken := map[string]bool{}
		for _, c := range choices {
			got = append(got, freeVariant(c.name, taken))
		}
		if d := cmp.Diff(tc.want, got); d != "" || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %v %s", name, err, d)
		}
	}
}

// TestCompareImages prints a run's file with a list of images as its variants, as it would be created: it is valid.
func TestCompareImages(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	const run = `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: sizes, namespace: lab, labels: {kueue.x-k8s.io/queue-name: q, mine: x}}
spec:
  title: Sizes
  seed: 7
  database: {image: "mariadb:10.6", settings: {binaryLog: false}}
  workload: {type: CommitSize, commitSize: {rows: 10}}
  trials: {repetitions: 6, primeSeconds: 1}
`
	code, out, errs := runMain(t, run, "run", "-f", "-", "versions", "--image", "mariadb:10.11,mariadb:11.8,mysql:9.7", "--image", "percona/percona-server:8.4",
		"--set", "alternation=Trials", "--set", "rounds.atMost=30", "--dry-run=client", "-o", "jsonpath={.metadata}{.spec}")
	want := `{"labels":{"kueue.x-k8s.io/queue-name":"q","mine":"x"},"name":"versions","namespace":"lab"}` +
		`{"alternation":"Trials","database":{"image":"mariadb:10.11","settings":{"binaryLog":false}},"rounds":{"atMost":30},"seed":7,"title":"Sizes",` +
		`"trials":{"primeSeconds":1},"variants":[{"name":"mariadb-10-11","title":"mariadb:10.11"},` +
		`{"database":{"image":"mariadb:11.8"},"name":"mariadb-11-8","title":"mariadb:11.8"},` +
		`{"database":{"image":"mysql:9.7"},"name":"mysql-9-7","title":"mysql:9.7"},` +
		`{"database":{"image":"percona/percona-server:8.4"},"name":"percona-server-8-4","title":"percona/percona-server:8.4"}],` +
		`"workload":{"commitSize":{"rows":10},"type":"CommitSize"}}`
	if d := cmp.Diff(want, out); code != ExitFine || d != "" ||
		errs != "left out, because rounds say how often variants are measured: trials.repetitions\n" {
		t.Error(code, errs, d)
	}
}

// TestCompareImagesEngine: an image whose name says nothing has the engine of the first one.
func TestCompareImagesEngine(t *testing.T) {
	code, out, errs := runMain(t, runWith("seed: 3"), "run", "-f", "-", "--image", "mysql:9.7,example.com/build:42,mariadb:11.8",
		"--dry-run=client", "-o", "jsonpath={.spec.database} {.spec.variants[*].database}")
	want := `{"image":"mysql:9.7"} {"engine":"MySQL","image":"example.com/build:42"} {"image":"mariadb:11.8"}`
	if code != ExitFine || out != want {
		t.Errorf("%d %s\n%s\n%s", code, errs, out, want)
	}
}

func TestAlternativesErrors(t *testing.T) {
	valid := runWith("database: {}")
	file := filepath.Join(t.TempDir(), "my.cnf")
	must.Do(t, os.WriteFile(file, []byte("[mysqld]\ninnodb_buffer_pool_size = much\n"), 0o600))
	for name, tc := range map[string]struct {
		stdin     string
		arguments []string
		says      string
	}{
		"no values":                {valid, []string{"--grid", "settings.binaryLog"}, "write PATH=VALUE,VALUE with at least two values"},
		"one value":                {valid, []string{"--grid", "settings.bufferPoolSize=1Gi"}, "with at least two values"},
		"a value twice":            {valid, []string{"--grid", "variables.a=1,2,1"}, "--grid variables.a=1,2,1: 1 is listed twice"},
		"a field twice":            {valid, []string{"--grid", "variables.a=1,2", "--grid", "database.variables.a=3,4"}, "there are two grids of this field"},
		"no field":                 {valid, []string{"--grid", "settings.poolSize=1,2"}, `spec.database.settings has no field "poolSize"; it has binaryLog, `},
		"no size":                  {valid, []string{"--grid", "settings.bufferPoolSize=1,much"}, "spec.database.settings.bufferPoolSize is a quantity"},
		"too many":                 {valid, []string{"--grid", "variables.a=1,2,3,4,5", "--grid", "variables.b=1,2,3,4", "--image", "a:1,a:2"}, "these are more than 16 variants"},
		"grid and file":            {valid, []string{"--grid", "variables.a=1,2", "--variant", "prod=" + file}, "use one of them"},
		"no file":                  {valid, []string{"--variant", "prod"}, "--variant prod: write NAME=FILE"},
		"a file that is not there": {valid, []string{"--variant", "prod=none.cnf"}, "none.cnf: no such file"},
		"no value in a file":       {valid, []string{"--variant", "prod=" + file}, file + `:2: innodb_buffer_pool_size: "much" is no value`},
		"one image":                {valid, []string{"--image", "mariadb:11.8"}, "name at least two images"},
		"two runs":                 {valid + "---\n" + valid, []string{"--image", "a:1,a:2"}, "--image, --grid and --variant take a file with one run, but there are 2"},
		"variants":                 {runWith("database: {}\n  variants: [{name: one}, {name: two}]"), []string{"--image", "a:1,a:2"}, "run a has variants already: --image, --grid and --variant need a run without"},
		"a name too long":          {valid, []string{"--image", "a:1,a:2", strings.Repeat("n", 41), "--dry-run=client"}, "a run's name has at most 40 characters"},
	} {
		if code, _, errs := runMain(t, tc.stdin, append([]string{"run", "-f", "-"}, tc.arguments...)...); code != ExitError || !strings.Contains(errs, tc.says) {
			t.Errorf("%s: %d %s", name, code, errs)
		}
	}
}

// variantsOf prints the variants of a run that is valid, as they would be created.
func variantsOf(t *testing.T, run string, arguments ...string) (variants, said string) {
	t.Helper()
	arguments = append([]string{"run", "-f", "-", "--dry-run=client", "-o", "jsonpath={.spec.database}{range .spec.variants[*]}{@}{\"\\n\"}{end}"}, arguments...)
	_, out, errs := runMain(t, run, arguments...)
	return out, errs // of what fails, nothing is printed
}

// TestGrid: all combinations, of which the first is the run's own, and the others have what differs from it.
func TestGrid(t *testing.T) {
	got, _ := variantsOf(t, runWith("database: {settings: {binaryLog: true, bufferPoolSize: 64Mi}}"),
		"--grid", "settings.bufferPoolSize=128Mi,1Gi", "--grid", "spec.database.variables.innodb_io_capacity=200,2000")
	must.Same(t, "the grid", `{"settings":{"binaryLog":true,"bufferPoolSize":"128Mi"},"variables":{"innodb_io_capacity":"200"}}`+
		`{"name":"128mi-200","title":"bufferPoolSize=128Mi, innodb_io_capacity=200"}
{"database":{"variables":{"innodb_io_capacity":"2000"}},"name":"128mi-2000","title":"bufferPoolSize=128Mi, innodb_io_capacity=2000"}
{"database":{"settings":{"bufferPoolSize":"1Gi"}},"name":"1gi-200","title":"bufferPoolSize=1Gi, innodb_io_capacity=200"}
{"database":{"settings":{"bufferPoolSize":"1Gi"},"variables":{"innodb_io_capacity":"2000"}},"name":"1gi-2000","title":"bufferPoolSize=1Gi, innodb_io_capacity=2000"}
`, got)
	got, _ = variantsOf(t, runWith("database: {image: \"mariadb:11.8\"}"), "--image", "mariadb:10.11,mysql:9.7",
		"--grid", "loader.separateFromDatabase=None,Preferred")
	must.Same(t, "images and a field of the loader", `{"image":"mariadb:10.11"}`+
		`{"name":"mariadb-10-11-none","title":"mariadb:10.11, separateFromDatabase=None"}
{"loader":{"separateFromDatabase":"Preferred"},"name":"mariadb-10-11-prefer","title":"mariadb:10.11, separateFromDatabase=Preferred"}
{"database":{"image":"mysql:9.7"},"name":"mysql-9-7-none","title":"mysql:9.7, separateFromDatabase=None"}
{"database":{"image":"mysql:9.7"},"loader":{"separateFromDatabase":"Preferred"},"name":"mysql-9-7-preferred","title":"mysql:9.7, separateFromDatabase=Preferred"}
`, got)
	got, _ = variantsOf(t, runWith("database: {}"), "--grid", `variables.sql_mode="ANSI_QUOTES,STRICT_ALL_TABLES",`)
	must.Same(t, "values with commas, and none", `{"variables":{"sql_mode":"ANSI_QUOTES,STRICT_ALL_TABLES"}}`+
		`{"name":"ansi-quotes-strict-a","title":"sql_mode=ANSI_QUOTES,STRICT_ALL_TABLES"}
{"database":{"variables":{"sql_mode":""}},"name":"empty","title":"sql_mode="}
`, got)
}

// TestVariantOfFile: the options of a server's file stand in place of the run's settings and variables.
func TestVariantOfFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prod.cnf")
	must.Do(t, os.WriteFile(file, []byte("[mysqld]\ndatadir=/srv\ninnodb-buffer-pool-size=1.5G\nsync_binlog=0\n"), 0o600))
	got, said := variantsOf(t, runWith("database: {settings: {binaryLog: false, bufferPoolSize: 64Mi}, variables: {sync_binlog: \"1\", max_connections: \"9\"}}"),
		"--variant", "prod="+file)
	must.Same(t, "the variants", `{"settings":{"binaryLog":false,"bufferPoolSize":"64Mi"},"variables":{"max_connections":"9","sync_binlog":"1"}}`+
		`{"name":"baseline","title":"as in the run's file"}
{"database":{"settings":{"bufferPoolSize":"1536Mi"},"variables":{"sync_binlog":"0"}},"name":"prod",`+
		`"remove":["database.settings.binaryLog","database.variables.max_connections"],"title":"prod.cnf"}
`, got)
	must.Same(t, "what is said", "left out of variant prod: "+file+":2: datadir: it says where a server is, or who reaches it\n", said)
}

// TestReadOptions reads option files as servers of each engine do.
func TestReadOptions(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	for name, text := range map[string]string{
		"my.cnf": `# the client is no server
[client]
port = 3306
[mysqld]
user		= mysql
 loose-innodb_adaptive_hash_index = 0   # blanks, and a comment
max_connections = 100
max-connections=200
sql_mode = "ANSI_QUOTES,STRICT # no comment"
init_connect='SET NAMES utf8mb4'
skip-name-resolve
loose-skip-innodb_change_buffering
skip-innodb_adaptive_flushing
disable-log-bin
innodb_log_file_size=48M
innodb_flush_log_at_trx_commit = 2
report_password = hush
ssl-key=/etc/key.pem
; another comment
[mariadb]
aria_pagecache_buffer_size=1.5G
plugin-load-add=ha_rocksdb
[mysqld-8.4]
innodb_redo_log_capacity=1G
!includedir conf.d
!include more.cnf
`,
		"conf.d/b.cnf": "[mysqld]\ntmp_table_size=2M\n", "conf.d/a.cnf": "[server]\ntmp_table_size=1M\n", "conf.d/readme": "nothing",
		"more.cnf": "[mysqld]\nlog-bin=binlog\n", "loop.cnf": "[mysqld]\n!include loop.cnf\n", "early.cnf": "a=1\n", "open.cnf": "[mysqld\n", "odd.cnf": "[mysqld]\n!source x\n", "empty.cnf": "[mysqld]\n=1\n",
		"capacity.cnf": "[mysqld]\ninnodb_redo_log_capacity=1G\ninnodb_log_files_in_group=3\n",
		"files.cnf":    "[mysqld]\ninnodb_log_file_size=32M\ninnodb_log_files_in_group=3\n", "zip.cnf": "[mysqld]\n!include none.cnf\n",
	} {
		must.Do(t, os.MkdirAll(filepath.Dir(at(name)), 0o700))
		must.Do(t, os.WriteFile(at(name), []byte(text), 0o600))
	}
	variables := map[string]any{
		"loose_innodb_adaptive_hash_index": "0", "max_connections": "200", "sql_mode": "ANSI_QUOTES,STRICT # no comment",
		"init_connect": "SET NAMES utf8mb4", "skip_name_resolve": "ON", "loose_innodb_change_buffering": "OFF", "innodb_adaptive_flushing": "OFF", "tmp_table_size": "2M",
	}
	with := func(name, value string) map[string]any {
		all := maps.Clone(variables)
		all[name] = value
		return all
	}
	const ofBoth, ofVersion = "5: user: it says where a server is, or who reaches it; 17: report_password: it may hold a secret; " +
		"18: ssl_key: it says where a server is, or who reaches it; ", "23: [mysqld-8.4]: only servers of that version read this group"
	for _, tc := range []struct {
		file                string
		e                   *engine.Engine
		settings, variables map[string]any
		left                string
	}{
		{"my.cnf", engine.MariaDB, map[string]any{"redoLogSize": "48Mi", "flushLogAtTrxCommit": int64(2), "binaryLog": true}, with("aria_pagecache_buffer_size", "1536M"), ofBoth + "22: plugin_load_add: it is no variable, so that it could not be read back; " + ofVersion},
		{"my.cnf", engine.MySQL, map[string]any{"flushLogAtTrxCommit": int64(2), "binaryLog": true}, with("innodb_log_file_size", "48M"), ofBoth + ofVersion},
		{"capacity.cnf", engine.MySQL, map[string]any{"redoLogSize": "1Gi"}, map[string]any{"innodb_log_files_in_group": "3"}, ""},
		{"files.cnf", engine.MariaDB, map[string]any{"redoLogSize": "96Mi"}, map[string]any{"innodb_log_files_in_group": "3"}, ""},
	} {
		got := must.Get(readOptions(at(tc.file), tc.e))(t)
		must.Same(t, tc.e.Name+": settings", tc.settings, got.settings)
		must.Same(t, tc.e.Name+": variables", tc.variables, got.variables)
		must.Same(t, tc.e.Name+": left", tc.left, strings.ReplaceAll(strings.Join(got.left, "; "), at(tc.file)+":", ""))
	}
	for file, want := range map[string]string{
		"loop.cnf": "loop.cnf:2: " + at("loop.cnf") + " includes itself", "early.cnf": "early.cnf:1: a=1: the option stands before the first [group]",
		"open.cnf": "the group has no ]", "odd.cnf": "!source is not known", "empty.cnf": "empty.cnf:2: =1: an option has a name", "zip.cnf": "zip.cnf:2: open",
	} {
		must.Refused(readOptions(at(file), engine.MariaDB))(t, want)
	}
}
