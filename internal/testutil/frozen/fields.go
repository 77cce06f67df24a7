// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package frozen

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// fieldsOf a text: those of the objects in .json and .yaml, its lines in every other.
func fieldsOf(name string, text []byte) (map[string][]string, error) {
	switch filepath.Ext(strings.TrimSuffix(name, ".gz")) {
	case ".json", ".yaml":
	default:
		return map[string][]string{"line": strings.Split(string(text), "\n")}, nil
	}
	fields := map[string][]string{}
	documents := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for n := 0; ; n++ {
		var document any
		if err := documents.Decode(&document); errors.Is(err, io.EOF) {
			return fields, nil
		} else if err != nil {
			return nil, fmt.Errorf("document %d: %w", n+1, err)
		}
		flatten(fields, label(document, ""), document)
	}
}

// flatten adds the leaves below a place. A text of several lines has them in its field, one of JSON its own fields.
func flatten(into map[string][]string, at string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, below := range v {
			flatten(into, at+"."+key, below)
		}
		if len(v) == 0 {
			into[at] = append(into[at], "{}")
		}
	case []any:
		for i, below := range v {
			flatten(into, at+"["+label(below, strconv.Itoa(i))+"]", below)
		}
		if len(v) == 0 {
			into[at] = append(into[at], "[]")
		}
	case string:
		var inside any
		if (strings.HasPrefix(v, "{") || strings.HasPrefix(v, "[")) && json.Unmarshal([]byte(v), &inside) == nil {
			flatten(into, at, inside)
			return
		}
		into[at] = append(into[at], strings.Split(strings.TrimSuffix(v, "\n"), "\n")...)
	default:
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // it was decoded
		}
		into[at] = append(into[at], string(text))
	}
}

// label of an object in a list: what it is called, so that one that is added does not move those after it.
func label(value any, place string) string {
	object, ok := value.(map[string]any)
	if !ok {
		return place
	}
	kind, _ := object["kind"].(string)
	if metadata, ok := object["metadata"].(map[string]any); ok {
		return fmt.Sprint(kind, "/", metadata["name"])
	}
	name, _ := object["name"].(string)
	return cmp.Or(name, place)
}
