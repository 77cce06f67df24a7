//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package testutil

import (
	"bufio"
	"bytes"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// Remember has reads answered as the API server did, until something of the kind is written: tests that call reconcilers one by one
// read the same all the time. All writes must come by this configuration, except those of quotas.
func Remember(config *rest.Config) {
	places := new(sync.Map)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return remembering{next, places} })
}

// remembering has answers by place, which is a resource in a namespace or in all, and then by URL and format.
type remembering struct {
	http.RoundTripper
	places *sync.Map
}

// RoundTrip implements http.RoundTripper. What is read while something is written may be kept where nobody looks any more.
func (m remembering) RoundTrip(r *http.Request) (*http.Response, error) {
	places := placesOf(r.URL.Path)
	if r.Method != http.MethodGet {
		m.forget(places)
		defer m.forget(places)
		return m.RoundTripper.RoundTrip(r)
	}
	place, _ := m.places.LoadOrStore(places[0], new(sync.Map))
	answers, key := place.(*sync.Map), r.URL.String()+" "+r.Header.Get("Accept")
	if known, found := answers.Load(key); found {
		return http.ReadResponse(bufio.NewReader(bytes.NewReader(known.([]byte))), r)
	}
	response, err := m.RoundTripper.RoundTrip(r)
	if err != nil || r.URL.Query().Has("watch") || strings.HasSuffix(places[0], "resourcequotas") {
		return response, err
	}
	dump, err := httputil.DumpResponse(response, true)
	if len(dump) < 1<<20 {
		answers.Store(key, dump)
	}
	return response, err
}

func (m remembering) forget(places []string) {
	for _, place := range places {
		m.places.Delete(place)
	}
}

// placesOf a path of the API: that of what it names, then that of all namespaces.
func placesOf(path string) []string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	named := parts[min(len(parts), map[string]int{"api": 2, "apis": 3}[parts[0]]):]
	switch {
	case len(named) == 0:
		return []string{path}
	case len(named) > 2 && named[0] == "namespaces":
		return []string{named[1] + "/" + named[2], named[2]}
	}
	return named[:1]
}
