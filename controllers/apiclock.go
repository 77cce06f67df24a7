// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
)

// tolerated is by how much the clocks of the operator and of the API server may differ: an answer travels for a while, and its
// date has whole seconds.
const tolerated = 5 * time.Second

// APIClock is the API server's clock, as far as its answers say. What the operator waits for was created by that clock: one of
// its own that is five minutes ahead would find each object at its start deadline, and each Pod that is being deleted cut off.
type APIClock struct {
	clock.PassiveClock
	offset atomic.Int64
}

// NewAPIClock is the operator's own clock until the API server has answered.
func NewAPIClock(own clock.PassiveClock) *APIClock { return &APIClock{PassiveClock: own} }

// Now implements clock.PassiveClock.
func (c *APIClock) Now() time.Time { return c.PassiveClock.Now().Add(time.Duration(c.offset.Load())) }

// Since implements clock.PassiveClock.
func (c *APIClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Wrap reads the dates of the answers that a transport gets.
func (c *APIClock) Wrap(transport http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := transport.RoundTrip(request)
		if err == nil {
			c.read(response.Header.Get("Date"))
		}
		return response, err
	})
}

// read the date of an answer that came just now. Small differences change nothing: time must not jump to and fro.
func (c *APIClock) read(date string) {
	at, err := http.ParseTime(date)
	if err != nil {
		return // a proxy that leaves it out
	}
	offset := at.Sub(c.PassiveClock.Now())
	if (offset - time.Duration(c.offset.Load())).Abs() > tolerated {
		c.offset.Store(int64(offset))
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
