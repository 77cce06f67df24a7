// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/report"
)

// opener reads what the arguments of compare name. It connects to the cluster when it needs it for the first
// time.
type opener struct {
	ctx       context.Context //nolint:containedctx // it lives as long as the command
	connect   func() (client.Client, string, error)
	from      client.Reader
	namespace string
}

// reference is what an argument names: the report of a run, and one of its variants.
type reference struct {
	printable
	// name is the argument without the variant.
	name, variant string
}

// text is the argument.
func (r *reference) text() string {
	if r.variant == "" {
		return r.name
	}
	return r.name + ":" + r.variant
}

// open reads what an argument names:
//
//	NAME        the published results of a run in the cluster
//	PATH/       a folder that `report --dir` has written
//	PATH.json   results.json of a run
//	PATH.tgz    a bundle
//
// each with :VARIANT behind it for a variant. No name in a cluster has a colon.
func (o *opener) open(text string) (*reference, error) {
	name, variant := text, ""
	if i := strings.LastIndex(text, ":"); i >= 0 && !strings.Contains(text[i:], "/") {
		if name, variant = text[:i], text[i+1:]; name == "" || variant == "" {
			return nil, fmt.Errorf("%q is not valid: use RUN:VARIANT", text)
		}
	}
	p, err := o.printable(name)
	if err != nil {
		return nil, err
	}
	return &reference{*p, name, variant}, nil
}

func (o *opener) printable(name string) (*printable, error) {
	if isPath(name) {
		p, err := openPath(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return p, nil
	}
	var err error
	if o.from == nil {
		if o.from, o.namespace, err = o.connect(); err != nil {
			return nil, err
		}
	}
	run, err := find(o.ctx, o.from, o.namespace, name)
	if err != nil {
		if _, exists := os.Stat(name); exists == nil {
			return nil, fmt.Errorf("%w. There is a file or folder of that name: use ./%s to compare it", err, name)
		}
		return nil, err
	}
	return published(o.ctx, o.from, run)
}

// isPath says whether an argument names a file or a folder, and not something in the cluster.
func isPath(name string) bool {
	if isBundle(name) {
		return true
	}
	return name == "." || name == ".." || strings.Contains(name, "/") || strings.HasSuffix(name, ".json")
}

// isBundle says whether a name is that of what export has written.
func isBundle(name string) bool { return strings.HasSuffix(name, ".tgz") }

// openPath reads a folder, a file or a bundle.
func openPath(name string) (*printable, error) {
	if isBundle(name) {
		b, err := openBundle(name)
		if err != nil {
			return nil, err
		}
		r, err := report.FromResults(b.Results)
		return &printable{r, map[string][]byte{report.JSONFile: b.Results}}, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("reading the results: %w", err)
	}
	var text []byte
	if info.IsDir() {
		text, err = readFolder(name)
	} else {
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, err
	}
	r, err := report.FromResults(text)
	return &printable{Report: r}, err
}
