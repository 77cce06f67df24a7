// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package observer sees what a server cannot say of itself: what its process uses, how its CPU limit holds it back, and what
// its node is like. One side of it runs beside the server, in a container that shares the Pod's processes, and waits for
// requests; the other side is the loader's. Between two requests it does nothing.
//
// Both sides know the run's password. What proves a request is derived from it, so that the password does not travel.
package observer

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

const (
	// Path of the observation.
	Path = "/v1/observation"
	// probeParameter asks for a probe of the node too.
	probeParameter = "probe"
	// label is what the token is made of, besides the password. It has the version of the method.
	label = "benchrun observer v1"
	// bearer precedes the token in the header of a request.
	bearer = "Bearer "
)

// token is what a request must carry. It does not tell the password.
func token(password string) string {
	mac := hmac.New(sha256.New, []byte(password))
	mac.Write([]byte(label))
	return hex.EncodeToString(mac.Sum(nil))
}
