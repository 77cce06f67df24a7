// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package conn is how the loader talks to the server it measures: connections that can all be ended at once, and sessions that
// send statements and files with as little of the client's own work as possible.
//
//	Connections   credentials, TLS, who waits for a server, and the end of all of them
//	 └ Session    one client's: opened by the driver, which also reads result sets
//	    ├ handshake  what both sides can do, of which the driver knows a part
//	    └ exchange   statements, values of prepared ones and files past the driver, which would copy each twice
//	       └ socket     a connection for a closed loop, past Go's network poller
//
// An encrypted session has crypto/tls between exchange and socket, and nothing else is different. Package mysqlwire knows what
// packets look like. Sink is a server in memory that swallows what it is sent.
package conn
