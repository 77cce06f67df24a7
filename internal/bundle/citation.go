// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"errors"
	"fmt"
	"strings"
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
		if family, given := AuthorNames(author); family == "" || strings.Contains(author, ",") && given == "" {
			return fmt.Errorf("author %q must be a person, as in \"Doe, Jane\", or the name of an organization", author)
		}
	}
	if strings.Trim(c.License, licenseLetters) != "" {
		return fmt.Errorf("license %q must be an SPDX identifier, for example CC-BY-4.0", c.License)
	}
	return nil
}

// AuthorNames are the names of one of the authors; given is empty for an organization.
func AuthorNames(author string) (family, given string) {
	family, given, _ = strings.Cut(author, ",")
	return strings.TrimSpace(family), strings.TrimSpace(given)
}

// Title of what the manifest is of.
func (m *Manifest) Title() string {
	switch {
	case m.Citation != nil && m.Citation.Title != "":
		return m.Citation.Title
	case m.Answer != "":
		return m.Name + ": " + m.Answer
	}
	return m.Name
}

// authorsInCrate are the authors by the names of schema.org, and what refers to them.
func (c *Citation) authorsInCrate() (described, references []entity) {
	for i, author := range c.Authors {
		id := fmt.Sprintf("#author-%d", i+1)
		references = append(references, reference(id))
		if family, given := AuthorNames(author); given != "" {
			described = append(described, entity{
				"@id": id, "@type": "Person", "familyName": family, "givenName": given, "name": given + " " + family,
			})
		} else {
			described = append(described, entity{"@id": id, "@type": "Organization", "name": family})
		}
	}
	return described, references
}
