// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workload says what a workload is: what is sent to the database, in which order, and how it is proved afterwards
// that the database has it. The workloads themselves are in folders of their own beside what several of them need.
//
// How to add one:
//
//  1. a file in api/v1alpha1 with its parameters as a user writes them, and its member in workload_types.go;
//  2. a folder here with its Parameters, a Definition that validates them, and a type with the three methods of Workload;
//  3. a line in package registry;
//  4. a test against the database in internal/loader, because only a server can say that the statements are right;
//  5. a sample, and a page of documentation.
//
// The test in test/cost does the first three.
//
// A workload is a closed loop: the next statement is sent when the previous one was answered. It neither reads a clock
// nor draws random numbers. Time comes from the Recorder that the loader gives it, so that every workload is measured
// alike; data is a function of the seed and the row's number, so that row n is the same in every run, from every client, on
// every machine.
package workload
