// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import _ "embed"

// tpccScript is the TPC-C-like script.
//
//go:embed tpcc.lua
var tpccScript string

// tpccCompat are the transactions of the published script.
//
//go:embed tpcc_compat.lua
var tpccCompat string
