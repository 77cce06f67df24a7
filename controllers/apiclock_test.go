// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// The operator's time is that of the API server, whatever its own clock says, and does not jump for a second.
func TestAPIClock(t *testing.T) {
	start := time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)
	for name, skew := range map[string]time.Duration{"ahead": 301 * time.Second, "behind": -301 * time.Second, "right": 0, "a bit ahead": 3 * time.Second} {
		own := clocktesting.NewFakePassiveClock(start.Add(skew))
		c, date := NewAPIClock(own), ""
		answer := func(says string) {
			date = says
			request := httptest.NewRequest(http.MethodGet, "https://api.example.com/", http.NoBody)
			response, err := c.Wrap(roundTripper(func(*http.Request) (*http.Response, error) {
				return &http.Response{Header: http.Header{"Date": []string{date}}, Body: http.NoBody}, nil
			})).RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
		}
		answer(start.Format(http.TimeFormat))
		first := c.Now()
		if off := first.Sub(start).Abs(); off > tolerated {
			t.Errorf("%s: it is %s off", name, off)
		}
		for _, noise := range []string{start.Add(time.Second).Format(http.TimeFormat), start.Add(-2 * time.Second).Format(http.TimeFormat), "", "yesterday"} {
			if answer(noise); !c.Now().Equal(first) {
				t.Errorf("%s: after %q it is %s, and was %s", name, noise, c.Now(), first)
			}
		}
		own.SetTime(start.Add(skew + time.Hour))
		if got := c.Since(first); got != time.Hour {
			t.Errorf("%s: an hour takes %s", name, got)
		}
	}
}
