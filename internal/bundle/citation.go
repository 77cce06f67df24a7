// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// CitationFile says how to cite a bundle, for people and for archives of research data that give a DOI
// (https://citation-file-format.github.io).
const CitationFile = "CITATION.cff"

// Citation is who has measured a bundle, and what others may do with it.
type Citation struct {
	// Authors, at least one: "Doe, Jane" is a person, a name without a comma is an organization.
	Authors []string `json:"authors"`
	// Title of the data; empty is the name and the answer of what was measured.
	Title string `json:"title,omitempty"`
	// License is an SPDX identifier, for example CC-BY-4.0; empty is none.
	License string `json:"license,omitempty"`
}

// licenseLetters are those of SPDX identifiers.
const licenseLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-"

// Check says what is wrong with a citation.
func (c *Citation) Check() error {
	if len(c.Authors) == 0 {
		return errors.New("a title and a license belong to a citation, which has at least one author")
	}
	for _, author := range c.Authors {
		if family, given := names(author); family == "" || strings.Contains(author, ",") && given == "" {
			return fmt.Errorf("author %q must be a person, as in \"Doe, Jane\", or the name of an organization", author)
		}
	}
	if strings.Trim(c.License, licenseLetters) != "" {
		return fmt.Errorf("license %q must be an SPDX identifier, for example CC-BY-4.0", c.License)
	}
	return nil
}

// names of an author; given is empty for an organization.
func names(author string) (family, given string) {
	family, given, _ = strings.Cut(author, ",")
	return strings.TrimSpace(family), strings.TrimSpace(given)
}

// title of what the manifest is of.
func (m *Manifest) title() string {
	switch {
	case m.Citation != nil && m.Citation.Title != "":
		return m.Citation.Title
	case m.Answer != "":
		return m.Name + ": " + m.Answer
	}
	return m.Name
}

// citation is the text of CitationFile. The digest is that of the results: whoever cites them can be held to it.
func citation(m *Manifest) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "cff-version: 1.2.0\nmessage: If you use these measurements, cite them as below.\ntype: dataset\n")
	fmt.Fprintf(&b, "title: %q\nauthors:\n", m.title())
	for _, author := range m.Citation.Authors {
		if family, given := names(author); given != "" {
			fmt.Fprintf(&b, "- family-names: %q\n  given-names: %q\n", family, given)
		} else {
			fmt.Fprintf(&b, "- name: %q\n", family)
		}
	}
	if m.Citation.License != "" {
		fmt.Fprintf(&b, "license: %q\n", m.Citation.License)
	}
	fmt.Fprintf(&b, "date-released: %q\nidentifiers:\n- type: other\n  value: %q\n  description: %s\n",
		m.Finished.UTC().Format(time.DateOnly), m.ResultsDigest, "digest of results/results.json, as Benchrun has recorded it")
	return []byte(b.String())
}

// authorsInCrate are the authors by the names of schema.org, and what refers to them.
func (c *Citation) authorsInCrate() (described, references []entity) {
	for i, author := range c.Authors {
		id := fmt.Sprintf("#author-%d", i+1)
		references = append(references, reference(id))
		if family, given := names(author); given != "" {
			described = append(described, entity{
				"@id": id, "@type": "Person", "familyName": family, "givenName": given, "name": given + " " + family,
			})
		} else {
			described = append(described, entity{"@id": id, "@type": "Organization", "name": family})
		}
	}
	return described, references
}
