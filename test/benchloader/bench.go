// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

const (
	// schema that everything is loaded into.
	schema = "benchloader"
	// inContainer is where the container has bench.dir.
	inContainer = "/bench"
)

// bench is where both programs run, which is one container, and what they load.
type bench struct {
	getenv                 func(string) string
	loader, container, dir string
	// before is another loader, of an earlier version, that ours is compared with in place of other programs; empty if none is.
	before string
	// program is the loader that attempts run, by its name in dir.
	program  string
	server   result.Server
	password string
	attempts int
}

// open reads how to reach the server, which hack/server.sh prints, and writes the credentials for the loader.
func (b *bench) open() error {
	port, err := strconv.Atoi(b.getenv("BENCHRUN_TEST_PORT"))
	if err != nil || b.dir == "" {
		return errors.New("BENCHRUN_TEST_PORT and -dir must be set: use hack/bench-loader.sh")
	}
	b.password = b.getenv("BENCHRUN_TEST_PASSWORD")
	b.server = result.Server{
		Engine: cmp.Or(b.getenv("BENCHRUN_TEST_ENGINE"), engine.MariaDB.Name),
		Host:   b.getenv("BENCHRUN_TEST_HOST"), Port: port, Schema: schema,
		UserFile: inContainer + "/user", PasswordFile: inContainer + "/password",
	}
	options := fmt.Sprintf("mysql-host=%s\nmysql-port=%d\nmysql-user=%s\nmysql-password=%s\nmysql-db=%s\n",
		b.server.Host, port, b.getenv("BENCHRUN_TEST_USER"), b.password, schema)
	for name, content := range map[string]string{
		"user": b.getenv("BENCHRUN_TEST_USER"), "password": b.password,
		"sysbench.conf": options,
		"my.cnf": fmt.Sprintf("[client]\nhost=%s\nport=%d\nuser=%s\npassword=%s\n",
			b.server.Host, port, b.getenv("BENCHRUN_TEST_USER"), b.password),
	} {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(content), 0o600); err != nil {
			return fmt.Errorf("writing credentials: %w", err)
		}
	}
	b.program = "loader"
	if err := b.copyLoader(b.loader, b.program); err != nil || b.before == "" {
		return err
	}
	return b.copyLoader(b.before, loaderBefore)
}

const loaderBefore = "loader-before"

// copyLoader to where the container has it.
func (b *bench) copyLoader(from, name string) error {
	loader, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("reading the loader: %w", err)
	}
	//nolint:gosec // it is a program
	if err := os.WriteFile(filepath.Join(b.dir, name), loader, 0o755); err != nil {
		return fmt.Errorf("copying the loader: %w", err)
	}
	return nil
}

// byBefore is what a program of ours measures with the earlier loader.
func byBefore(ours program) program {
	return func(ctx context.Context, b *bench) (sample, error) {
		other := *b
		other.program = loaderBefore
		return ours(ctx, &other)
	}
}

// loads is the loader with a workload.
func loads(w result.Workload) program {
	return func(ctx context.Context, b *bench) (sample, error) {
		doc, err := b.attempt(ctx, w)
		if err != nil {
			return sample{}, err
		}
		return sampleOf(doc, doc.Totals.Rows), nil
	}
}

// sampleOf the loader's measured phase, with what counts as its rows.
func sampleOf(doc *result.Document, rows int64) sample {
	return sample{
		rows: float64(rows), seconds: float64(doc.Totals.Micros) / 1e6,
		cpuMicros: float64(doc.Client.UserMicros + doc.Client.SystemMicros), rss: float64(doc.Client.MaxRSSBytes),
	}
}

// attempt runs the loader in the schema that all programs use. It leaves that with the tables of this workload and no others.
func (b *bench) attempt(ctx context.Context, w result.Workload) (*result.Document, error) {
	return b.attemptIn(ctx, schema, w, 0)
}

// attemptIn runs the loader as its Pod would, in the container of the other programs: who shares a busy machine by another
// control group gets another share of it. The measured phase ends after so many seconds; 0 is with its last row.
func (b *bench) attemptIn(ctx context.Context, schema string, w result.Workload, limitSeconds int) (*result.Document, error) {
	b.attempts++
	server := b.server
	server.Schema = schema
	config, err := json.Marshal(result.Config{
		Version: result.ConfigVersion, Namespace: "bench", Run: "loader", Trial: 1, Attempt: 1, Seed: 42,
		Server: server, Workload: w, ConnectSeconds: 10, Scratch: inContainer, LimitSeconds: limitSeconds, ErrorPercent: 10,
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the loader's configuration: %w", err)
	}
	const terminationLog = "termination-log"
	//nolint:gosec // our own loader
	cmd := exec.CommandContext(ctx, "docker", "exec", "--env", result.EnvConfig, "--env", result.EnvPodUID,
		"--env", result.EnvRunUID, b.container, inContainer+"/"+b.program, "run", "--termination-log", inContainer+"/"+terminationLog)
	cmd.Env = append(os.Environ(), result.EnvConfig+"="+string(config), result.EnvPodUID+"=bench",
		fmt.Sprintf("%s=%d-%d-%d", result.EnvRunUID, os.Getpid(), time.Now().UnixNano(), b.attempts))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("running the loader: %w", err)
	}
	message, err := os.ReadFile(filepath.Join(b.dir, terminationLog))
	if err != nil {
		return nil, fmt.Errorf("reading the loader's summary: %w", err)
	}
	summary, err := result.DecodeSummary(string(message))
	if err != nil {
		return nil, err
	}
	encoded, err := result.ReadDocument(&out, summary.DocumentSHA256)
	if err != nil {
		return nil, err
	}
	return result.DecodeDocument(encoded.Gzip)
}

// rest makes an empty schema and lets the server come to rest as the loader does before it measures: by an attempt of one
// row.
func (b *bench) rest(ctx context.Context) error {
	if b.postgres() {
		_, err := b.exec(ctx, "psql -q -c 'DROP SCHEMA IF EXISTS "+schema+" CASCADE' -c 'CREATE SCHEMA "+schema+"' -c CHECKPOINT")
		return err
	}
	if _, err := b.exec(ctx, client+"-e 'DROP SCHEMA IF EXISTS "+schema+
		"; CREATE SCHEMA "+schema+"'"); err != nil {
		return err
	}
	_, err := b.attempt(ctx, commits(1, 1).Workload)
	return err
}

func (b *bench) postgres() bool { return b.server.Engine == engine.PostgreSQL.Name }

// exec runs a shell command in the container and returns what it prints.
func (b *bench) exec(ctx context.Context, command string) (string, error) {
	//nolint:gosec // commands are constants and numbers of ours
	cmd := exec.CommandContext(ctx, "docker", "exec", b.container, "bash", "-c", "set -eo pipefail; "+command)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("executing %s: %w: %s%s", command, err, out.String(), problems.String())
	}
	return out.String() + problems.String(), nil
}

var times = regexp.MustCompile(`(?m)^times ([\d.]+) ([\d.]+) ([\d.]+)$`)

// timed runs a shell command in the container: rows, and the seconds and CPU time of the command itself.
func (b *bench) timed(ctx context.Context, rows int64, command string) (sample, string, error) {
	out, err := b.exec(ctx, "TIMEFORMAT='times %R %U %S'; time { "+command+"\n}")
	if err != nil {
		return sample{}, "", err
	}
	seconds, err := numbersIn(out, "times", times)
	if err != nil {
		return sample{}, "", err
	}
	return sample{rows: float64(rows), seconds: seconds[0], cpuMicros: (seconds[1] + seconds[2]) * 1e6}, out, nil
}

// numbersIn are the groups of a pattern in what a program has printed.
func numbersIn(out, name string, pattern *regexp.Regexp) ([]float64, error) {
	match := pattern.FindStringSubmatch(out)
	if match == nil {
		return nil, fmt.Errorf("no %s in %s", name, out)
	}
	numbers := make([]float64, len(match)-1)
	for i := range numbers {
		var err error
		if numbers[i], err = strconv.ParseFloat(match[1+i], 64); err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	return numbers, nil
}

// statements writes what a workload sends, one client's, into a file, and returns its path in the container.
func (b *bench) statements(ctx context.Context, name string, w result.Workload) (string, error) {
	path := filepath.Join(b.dir, name)
	if _, err := os.Stat(path); err == nil {
		return "/bench/" + name, nil
	}
	load, err := registry.New(&result.Config{Seed: 42, Workload: w})
	if err != nil {
		return "", err
	}
	planned, ok := load.(workload.Planned)
	if !ok {
		return "", fmt.Errorf("workload %s needs a server to know its plan", w.Type)
	}
	file := &statementFile{}
	if file.File, err = os.Create(path); err != nil {
		return "", fmt.Errorf("writing statements: %w", err)
	}
	err = file.Exec([]byte(strings.Join(planned.Plan().Setup, ";\n")))
	if err == nil {
		_, err = load.Measure(ctx, &workload.Client{Session: file, Recorder: file})
	}
	return "/bench/" + name, errors.Join(err, file.Close())
}

// statementFile is a session that writes statements into a file.
type statementFile struct {
	workloadtest.Silence
	*os.File
}

func (f *statementFile) Exec(statement []byte) error {
	_, err := f.Write(append(bytes.Clone(statement), ";\n"...))
	return err
}

func (f *statementFile) ExecWhile(statement []byte, meanwhile func()) (time.Duration, error) {
	err := f.Exec(statement)
	meanwhile()
	return 0, err
}
