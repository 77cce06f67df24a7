// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package loader is what happens in a loader's Pod: one attempt at one trial. It knows nothing of Kubernetes.
//
// In the order of time, with what it takes on an idle server:
//
//	   0 ms  read and check the configuration and the credentials; nothing has been connected to yet
//	         connect     wait until the server answers; a refusal ends the attempt in the server's own words
//	                     take the workload's schema by a lock, register the Pod under a primary key: a second start ends itself
//	 +10 ms  readback    compare every requested setting, as a value, with the server's variables
//	 +10 ms  prepare     make the workload's tables anew
//	         stage       make the files that are loaded, if the workload loads files
//	  +5 ms  quiesce     wait until what the server still has to write and purge is little or gets no less; 60 s at most
//	+500 ms  measure     status counters; CPU time; the clients, each in a closed loop; CPU time; counters
//	+work    verify      same server? same variables? are the rows there, and are they the right ones?
//	         publish     the summary to the termination log, then the document to the output
//
// A progress line is written once a second at most, and none after the document began.
//
// There are two ends before the work is done. The limit of the measured phase lets the client finish its statement,
// commit and go on to verify: that is a result, with a warning. Cancelling the context (SIGTERM) closes every
// connection, so that a caller that waits for the server gets an error at once: that is no result. Whatever ends an attempt,
// the summary says so in a closed set of reasons, and Run returns an error unless the whole result was written.
//
// Durations come from the monotonic clock. While it measures the loader holds no lock, starts no timer and no goroutine
// for a statement, and allocates some 200 bytes for each, so that it is the server that is measured (see package
// conn).
//
// What is measured is a load: clientLoad if the loader's own clients make it, toolLoad if another program does. What a Pod does
// of an attempt is a role: an only Pod does all of the above; of several, the leader does so too and gathers what the others,
// which follow, have measured at the same time and deliver. A chain measures a workload in stages: each is a load of its own, on
// the data that the one before has left.
package loader
