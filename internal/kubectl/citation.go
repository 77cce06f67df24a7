// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"fmt"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/bundle"
)

// citation is the text of bundle.CitationFile. The digest is that of the results: whoever cites them can be held to it.
func citation(m *bundle.Manifest) ([]byte, error) {
	var authors []map[string]string
	for _, author := range m.Citation.Authors {
		if family, given := bundle.AuthorNames(author); given != "" {
			authors = append(authors, map[string]string{"family-names": family, "given-names": given})
		} else {
			authors = append(authors, map[string]string{"name": family})
		}
	}
	of := map[string]any{
		"cff-version": "1.2.0", "type": "dataset", "title": m.Title(), "authors": authors,
		"message":       "If you use these measurements, cite them as below.",
		"date-released": m.Finished.UTC().Format(time.DateOnly),
		"identifiers": []map[string]string{{
			"type": "other", "value": m.ResultsDigest, "description": "digest of results/results.json, as Benchrun has recorded it",
		}},
	}
	if m.Citation.License != "" {
		of["license"] = m.Citation.License
	}
	text, err := yaml.Marshal(of)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", bundle.CitationFile, err)
	}
	return text, nil
}
