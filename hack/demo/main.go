// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command demo does, from nothing, all that the measurement in the quick start takes, and says meanwhile what it is doing, what
// for, and how long that takes. The scripts do the work; what they say goes to bin/demo.log. At the end a table of the steps goes
// to standard error, and what was measured to standard output.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// steps in the order of their numbers. Each starts when those that it needs are done, so that downloads go on while something
// compiles; two that compile never run at the same time, because they would compile what they share twice.
func steps(measure ...string) []step {
	return []step{
		{
			name: "Docker", why: "runs the nodes of the cluster", command: []string{"hack/docker.sh"},
			first: 40 * time.Second, again: time.Second,
		},
		{
			name: "operator", why: "compile the manager and the loader", command: []string{"make", "build"},
			first: 4 * time.Minute, again: 2 * time.Second,
		},
		{
			name: "sources", why: "fetch the node image, or the sources to build it from",
			command: []string{"hack/images.sh", "node-sources"},
			first:   time.Minute, again: time.Second, needs: []string{"Docker"},
		},
		{
			name: "MariaDB", why: "fetch or build the image of MariaDB 11.8", command: []string{"hack/images.sh", "mariadb:11.8"},
			first: 40 * time.Second, again: time.Second, needs: []string{"sources"},
		},
		{
			name: "sysbench", why: "fetch or build the image that the loader with sysbench is put on",
			command: []string{"hack/images.sh", "sysbench"},
			first:   40 * time.Second, again: time.Second, needs: []string{"MariaDB"},
		},
		{
			name: "node image", why: "build Kubernetes, containerd and CoreDNS, where there is no registry",
			command: []string{"hack/images.sh", "node"},
			first:   12 * time.Minute, again: time.Second, needs: []string{"operator", "MariaDB"},
		},
		{
			name: "cluster", why: "bring up a control plane and two workers", command: []string{"hack/cluster.sh", "up", "mariadb:11.8"},
			first: 90 * time.Second, again: 5 * time.Second, needs: []string{"node image"},
		},
		{
			name: "install", why: "install the operator", command: []string{"hack/deploy.sh", "kustomize"},
			first: 20 * time.Second, again: 10 * time.Second, needs: []string{"cluster", "sysbench"},
		},
		{
			name: "measure", why: "apply a run of one server and one with variants, and wait for their results", command: measure,
			first: 300 * time.Second, again: 300 * time.Second, needs: []string{"install"}, result: true,
		},
	}
}

func main() {
	record := flag.Bool("record", false, "put the result into docs/quick-start.md and README.md instead of printing it")
	started := flag.Int64("started", time.Now().Unix(), "when the command was given, in seconds since 1970")
	flag.Parse()

	measure := []string{"hack/demo.sh"}
	if *record {
		measure = append(measure, "--record")
	}
	if err := demo(time.Unix(*started, 0), steps(measure...)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func demo(started time.Time, steps []step) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	if err := os.MkdirAll("bin", 0o755); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join("bin", "demo.log"))
	if err != nil {
		return err
	}
	defer log.Close()

	compiled := time.Since(started)
	screen := newScreen(os.Stderr, steps)
	outcomes, result, err := run(ctx, steps, log, screen)
	if err != nil {
		return err
	}

	table(os.Stderr, steps, outcomes, compiled, time.Since(started))
	_, err = os.Stdout.Write(result)
	return err
}
