// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"time"
)

// entity of an RO-Crate, by the names of schema.org.
type entity map[string]any

// reference to an entity.
func reference(id string) entity { return entity{"@id": id} }

// mediaTypes of files by their suffix.
var mediaTypes = map[string]string{
	".md": "text/markdown", ".json": "application/json", ".csv": "text/csv", ".yaml": "application/yaml", ".gz": "application/gzip",
	".html": "text/html", ".txt": "text/plain", ".bench": "text/plain",
}

// crate describes the files by RO-Crate 1.1 (https://w3id.org/ro/crate/1.1).
func (w *Writer) crate() ([]byte, error) {
	var parts []entity
	var files []entity
	for _, f := range w.files {
		parts = append(parts, reference(f.name))
		described := entity{"@id": f.name, "@type": "File", "contentSize": strconv.Itoa(f.size), "sha256": f.sha256}
		if kind := mediaTypes[path.Ext(f.name)]; kind != "" {
			described["encodingFormat"] = kind
		}
		files = append(files, described)
	}
	m := w.manifest
	data := entity{
		"@id": "./", "@type": "Dataset", "name": m.Name, "description": description(m),
		"datePublished": m.Finished.UTC().Format(time.RFC3339), "identifier": m.UID,
		"license": "The laboratory that measured this has not named a license.",
		"hasPart": parts, "mentions": reference("#measurement"),
	}
	if c := m.Citation; c != nil {
		data["name"] = m.Title()
		authors, references := c.authorsInCrate()
		files, data["author"] = append(files, authors...), references
		if c.License != "" {
			data["license"] = c.License
		}
	}
	graph := []entity{
		{
			"@id": CrateFile, "@type": "CreativeWork", "about": reference("./"),
			"conformsTo": reference("https://w3id.org/ro/crate/1.1"),
		},
		data,
		{
			"@id": "#measurement", "@type": "CreateAction", "name": m.Kind + " " + m.Name,
			"startTime": m.Started.UTC().Format(time.RFC3339), "endTime": m.Finished.UTC().Format(time.RFC3339),
			"instrument": reference("#benchrun"), "object": reference(BenchmarkFile), "result": reference(ResultsFolder + "results.json"),
		},
		{"@id": "#benchrun", "@type": "SoftwareApplication", "name": "Benchrun", "softwareVersion": m.Program},
	}
	document := entity{"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": append(graph, files...)}
	text, err := json.MarshalIndent(document, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", CrateFile, err)
	}
	return append(text, '\n'), nil
}

func description(m *Manifest) string {
	text := "A database benchmark: " + m.Kind + " " + m.Name
	if m.Answer != "" {
		text += ". " + m.Answer
	}
	return text
}
