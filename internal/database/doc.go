// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package database makes the objects of a database instance, and says of observed ones whether the server is up, or why
// not.
//
// A fresh database is a new instance: another StatefulSet with another volume and the next number. Instances are never
// changed and never used again after they were removed, so that no trial meets data of which the plan knows nothing. The
// objects are created once; what converges elsewhere has nothing to converge to here.
package database
