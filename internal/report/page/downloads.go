// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"

	"sigs.k8s.io/yaml"
)

// download is a file that is in the page itself, or a hint where it is if it is too large for that.
type download struct {
	Name, Size, About string
	URL               template.URL
}

// Bounds of what is within a page, in bytes: a file of up to maxPlain is there as it is, one of up to maxPacked after
// compression is there compressed.
const (
	maxPlain  = 256 << 10
	maxPacked = 2 << 20
)

// packed is a file for download.
func packed(name, media, about, elsewhere string, content []byte) (download, error) {
	d := download{Name: name, About: about, Size: size(len(content))}
	if len(content) > maxPlain {
		var b bytes.Buffer
		zw, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		if err != nil {
			return d, fmt.Errorf("compressing %s: %w", name, err)
		}
		if _, err := zw.Write(content); err != nil {
			return d, fmt.Errorf("compressing %s: %w", name, err)
		}
		if err := zw.Close(); err != nil {
			return d, fmt.Errorf("compressing %s: %w", name, err)
		}
		content, d.Name, media = b.Bytes(), name+".gz", "application/gzip"
		d.Size = fmt.Sprintf("%s, %s unpacked", size(len(content)), d.Size)
	}
	if len(content) > maxPacked {
		return download{Name: name, About: about + "; it is too large for this page: " + elsewhere, Size: d.Size}, nil
	}
	url := "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(content)
	d.URL = template.URL(url) //nolint:gosec // a data URL of our own
	return d, nil
}

func size(bytes int) string {
	const kibi = 1 << 10
	if bytes < kibi {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%.0f KiB", float64(bytes)/kibi)
}

// manifest is a resource as YAML, as kubectl takes it.
func manifest(kind, namespace, name string, spec json.RawMessage) (string, error) {
	text, err := json.Marshal(map[string]any{
		"apiVersion": "benchrun.dev/v1alpha1", "kind": kind,
		"metadata": map[string]string{"namespace": namespace, "name": name}, "spec": spec,
	})
	if err != nil {
		return "", fmt.Errorf("encoding the specification: %w", err)
	}
	out, err := yaml.JSONToYAML(text)
	if err != nil {
		return "", fmt.Errorf("encoding the specification: %w", err)
	}
	return string(out), nil
}

// reproduced sets what was asked and the command for it.
func (f *frame) reproduced(kind, name string, spec json.RawMessage) error {
	text, err := manifest(kind, f.Namespace, name, spec)
	if err != nil {
		return err
	}
	f.Spec = text
	f.Command = "kubectl create --filename " + name + ".yaml"
	d, err := packed(name+".yaml", "application/yaml", "the specification: kubectl creates it again", "", []byte(text))
	f.Downloads = append(f.Downloads, d)
	return err
}
