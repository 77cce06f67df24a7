// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"aead.dev/minisign"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// signatureFile is a signature of the checksums, for `minisign -V`.
const signatureFile = result.SumsFile + ".minisig"

// sign the checksums by a key of minisign's in a file. Its password is in the environment, if it has one.
func (r release) sign(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var key minisign.PrivateKey
	if minisign.IsEncrypted(text) {
		key, err = minisign.DecryptKey(os.Getenv("MINISIGN_PASSWORD"), text)
	} else {
		err = key.UnmarshalText(text)
	}
	if err != nil {
		return fmt.Errorf("reading the key in %s (its password is $MINISIGN_PASSWORD): %w", file, err)
	}
	sums, err := os.Open(filepath.Join(r.folder, result.SumsFile))
	if err != nil {
		return err
	}
	defer sums.Close()
	prehashed := minisign.NewReader(sums) // as minisign itself signs
	if _, err := io.Copy(io.Discard, prehashed); err != nil {
		return err
	}
	signature := prehashed.SignWithComments(key, "benchrun "+r.version, "verify with minisign -V")
	return os.WriteFile(filepath.Join(r.folder, signatureFile), signature, 0o644)
}
