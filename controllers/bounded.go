// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// errTooLarge is the error of an answer that has more bytes than its reader wants.
var errTooLarge = errors.New("the answer of the API server is too large")

// answer is how much an answer may have, and how much of it was read.
type answer struct{ most, read int64 }

type answerKey struct{}

// bound lets the answers to requests with that context have so many bytes, and counts them.
func bound(ctx context.Context, most int64) (context.Context, *answer) {
	a := &answer{most: most}
	return context.WithValue(ctx, answerKey{}, a), a
}

// Bounded makes a transport end answers that are larger than their reader wants, while they are read.
func Bounded(transport http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := transport.RoundTrip(request)
		if a, wanted := request.Context().Value(answerKey{}).(*answer); wanted && err == nil {
			a.read = 0 // of a request before, which was tried again
			response.Body = &boundedBody{response.Body, a}
		}
		return response, err
	})
}

// boundedBody is an answer's body, uncompressed.
type boundedBody struct {
	io.ReadCloser
	answer *answer
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.answer.read += int64(n); b.answer.read > b.answer.most {
		return 0, errTooLarge
	}
	return n, err
}
