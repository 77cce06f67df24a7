// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// unequal are fields that say what is shown or where, and not what is measured.
var unequal = []string{"claims", "title", "lane", "seed", "results", "loader", "trials.deadlineSeconds"}

// leaves of a specification by their paths.
func leaves(spec any) (map[string]string, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	all := map[string]string{}
	flatten(all, "", value)
	return all, nil
}

func flatten(all map[string]string, path string, value any) {
	if slices.Contains(unequal, path) || strings.HasSuffix(path, ".requests") {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			flatten(all, strings.TrimPrefix(path+"."+name, "."), field)
		}
	case []any:
		all[path] = listed(v)
	case nil:
	default:
		all[path] = fmt.Sprint(v)
		if number, is := v.(float64); is {
			all[path] = fmt.Sprintf("%.15g", number)
		}
	}
}

// listed are the values of a list, or the number of its objects.
func listed(list []any) string {
	var texts []string
	for _, v := range list {
		if _, is := v.(map[string]any); is {
			return fmt.Sprintf("%d points", len(list))
		}
		texts = append(texts, fmt.Sprint(v))
	}
	return strings.Join(texts, ", ")
}

// sizes is a table of what the small file asks for otherwise than the full one.
func (r *reported) sizes() (string, error) {
	rows := [][]string{{"", "in full", "here"}, {"plan", plain(r.full.planned), plain(r.of.planned)}}
	// A difference that all variants have is said once.
	type difference struct{ path, full, here string }
	var found []difference
	variants := map[difference][]string{}
	for i := range r.of.variants {
		v := &r.of.variants[i]
		twin := r.full.variantLike(r.of, i)
		if twin == nil {
			continue
		}
		full, err := leaves(twin.spec)
		if err != nil {
			return "", err
		}
		here, err := leaves(v.spec)
		if err != nil {
			return "", err
		}
		paths := maps.Clone(full)
		maps.Copy(paths, here)
		for _, path := range slices.Sorted(maps.Keys(paths)) {
			d := difference{path, full[path], here[path]}
			if d.full == d.here {
				continue
			}
			if variants[d] == nil {
				found = append(found, d)
			}
			variants[d] = append(variants[d], v.name)
		}
	}
	slices.SortStableFunc(found, func(a, b difference) int { return strings.Compare(a.path, b.path) })
	for _, d := range found {
		path := "`" + d.path + "`"
		if len(variants[d]) < len(r.of.variants) {
			path += " of " + strings.Join(variants[d], ", ")
		}
		rows = append(rows, []string{path, plain(d.full), plain(d.here)})
	}
	return table(rows), nil
}

// variantLike is the variant of the same name, or of the same place if neither file has the other's name; nil if there is none.
func (o *object) variantLike(of *object, at int) *variant {
	named := func(list []variant, name string) int {
		return slices.IndexFunc(list, func(v variant) bool { return v.name == name })
	}
	if i := named(o.variants, of.variants[at].name); i >= 0 {
		return &o.variants[i]
	}
	if at < len(o.variants) && named(of.variants, o.variants[at].name) < 0 {
		return &o.variants[at]
	}
	return nil
}
