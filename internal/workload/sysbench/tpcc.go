// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import _ "embed"

// TPCC is the TPC-C-like script.
//
//go:embed tpcc.lua
var TPCC string
