// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package must says what has to be so in a test: that what the test only needs has no error, and that two values are the same.
package must

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Do ends the test if there is an error.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get is the value of a call, for a test that ends if there is an error: doc := must.Get(result.DecodeDocument(text))(t).
func Get[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return value
	}
}

// Write a file that only its owner may read, and return its path.
func Write[T string | []byte](t testing.TB, path string, content T) string {
	t.Helper()
	Do(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// Repository is the folder of the module whose tests these are. Nothing that is compiled knows it: with -trimpath, a clone
// elsewhere need not compile anew.
func Repository() string {
	folder, err := os.Getwd()
	for err == nil && filepath.Dir(folder) != folder {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		folder = filepath.Dir(folder)
	}
	panic("there is no go.mod above the working directory")
}

// Same fails the test, which goes on, if what it got is not what it wants.
func Same(t testing.TB, what string, want, got any, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Text is what an error says, and empty if there is none.
func Text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Fail fails the test, which goes on, unless there is an error that says these words.
func Fail(t testing.TB, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("error %v, want %s", err, words)
	}
}

// Refused is Fail of a call that has a value, too: must.Refused(New(parameters))(t, "rows is 0").
func Refused[T any](_ T, err error) func(t testing.TB, words string) {
	return func(t testing.TB, words string) {
		t.Helper()
		Fail(t, err, words)
	}
}

// Err is the error of a call that has a value, too.
func Err[T any](_ T, err error) error { return err }

// Is fails the test, which goes on, unless the error is what it wants.
func Is(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

// Has fails the test, which goes on, unless a text has all of these words.
func Has(t testing.TB, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("there is no %q in\n%s", w, text)
		}
	}
}

// Lack fails the test, which goes on, if a text has one of these words.
func Lack(t testing.TB, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(text, w) {
			t.Errorf("there is %q in\n%s", w, text)
		}
	}
}
