// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tproch makes the data of eight tables that are derived from the public TPC-H specification: its tables, its
// numbers of rows, its keys, ranges and average widths; in the order of columns and with the types that HammerDB's
// TPROC-H has. What the free text says is our own. Numbers that are measured with it are no TPC-H results and are not
// comparable with any.
//
// A table's rows are made by units: a unit is one row, but for LINEITEM, where it is the rows of one order. Unit n is a
// function of the seed, the table and n, so that any part of a table can be made alone, at the same time as others, on
// any machine. What two tables must agree about (an order's price and its items, for example) both compute from the same
// stream of numbers; no table is kept in memory.
//
// A row is a line of text: columns separated by '|', none after the last, a line feed at the end. No text has one of
// these, or a backslash, in it. Dates are YYYY-MM-DD, prices have two decimal places. So LOAD DATA converts nothing, and
// the server's own text form of a row is the line, byte for byte: that is how a loaded table is checked.
package tproch
