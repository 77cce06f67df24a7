// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package engine knows the families of database servers. Each is one value, in a folder of its own: to add one, write its
// folder, and add it to the list below and to the API's enum. The operator and the loader both use it.
package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/engine/mariadb"
	"github.com/benchrun-dev/benchrun/internal/engine/mysql"
	"github.com/benchrun-dev/benchrun/internal/engine/postgresql"
)

type (
	// Engine is a family of database servers.
	Engine = base.Engine
	// Setting is a requested server setting.
	Setting = base.Setting
)

// The engines.
var (
	MariaDB    = &mariadb.Engine
	MySQL      = &mysql.Engine
	PostgreSQL = &postgresql.Engine

	engines = []*Engine{MariaDB, MySQL, PostgreSQL}
)

// All engines that are known.
func All() []*Engine { return slices.Clone(engines) }

// ByName finds an engine by its name in the API.
func ByName(name string) (*Engine, error) {
	names := make([]string, 0, len(engines))
	for _, e := range engines {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return nil, fmt.Errorf("engine is %q but must be %s", name, strings.Join(names, " or "))
}

// SQL is what servers of an engine with that name speak; MySQL's of one without a name, which is that of a configuration
// without a server.
func SQL(name string) base.SQL {
	if e, err := ByName(name); err == nil {
		return e.SQL
	}
	return base.MySQL
}

// Named finds an engine by its name in the API or, without one, by its image; MariaDB if neither says anything.
func Named(name, image string) (*Engine, error) {
	if name != "" {
		return ByName(name)
	}
	return cmp.Or(OfImage(image), MariaDB), nil
}

// OfImage is the engine whose name is in the last part of an image's; nil if none is.
func OfImage(image string) *Engine {
	last := image[strings.LastIndex(image, "/")+1:]
	for _, e := range engines {
		if slices.ContainsFunc(e.Image.Names, func(name string) bool { return strings.Contains(last, name) }) {
			return e
		}
	}
	return nil
}

// ErrorLine finds the first error in the log of a server of any engine; empty if there is none.
func ErrorLine(log string) string {
	for line := range strings.Lines(log) {
		for _, e := range engines {
			found := e.Image.Error.FindStringSubmatch(line)
			if text := strings.TrimSpace(strings.Join(found[min(1, len(found)):], "")); found != nil && text != e.Image.ErrorEnd {
				return text
			}
		}
	}
	return ""
}
