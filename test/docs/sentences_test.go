// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// ours is how the statement of a claim begins that is not in the publication's words.
const ours = "from the figures: "

var (
	quoted = regexp.MustCompile(`"([^"]+)"`)
	// listed are the points of the lists in a file's comment.
	listed = regexp.MustCompile(`(?m)^- (.*(?:\n  .*)*)`)
	number = regexp.MustCompile(`^[0-9.]+$`)
)

// A claim of a publication is in the author's words, or says that it is ours. Each sentence of the publication that could be tested
// is in the full file: as the statement of a claim, or quoted in its comment, with the claim that judges it or why none does.
func TestSentencesOfPublications(t *testing.T) {
	for _, file := range tracked(t, "config/samples/publications/*.yaml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			original := strings.Join(strings.Fields(read(t, originals+filepath.Base(file)[:3]+".txt")), " ")
			var found []string
			for document := range strings.SplitSeq(read(t, file), "\n---\n") {
				for _, statement := range statements(t, document) {
					if strings.HasPrefix(statement, ours) {
						continue
					}
					must.Has(t, original, statement)
					found = append(found, statement)
				}
			}
			for _, point := range listed.FindAllStringSubmatch(comment(read(t, file)), -1) {
				for _, quote := range quoted.FindAllStringSubmatch(strings.Join(strings.Fields(point[1]), " "), -1) {
					must.Has(t, original, quote[1])
					found = append(found, quote[1])
				}
			}
			if strings.HasSuffix(file, "-small.yaml") {
				return
			}
			for sentence := range strings.Lines(read(t, originals+filepath.Base(file)[:3]+".txt")) {
				if !slices.ContainsFunc(found, func(part string) bool { return covers(part, strings.TrimSpace(sentence)) }) {
					t.Errorf("neither a claim nor the comment has %q", strings.TrimSpace(sentence))
				}
			}
		})
	}
}

// covers says whether a quotation is of a sentence: it is a part of it that says something, or has all of it.
func covers(quotation, sentence string) bool {
	const few = 4
	return strings.Contains(quotation, sentence) || strings.Contains(sentence, quotation) && len(strings.Fields(quotation)) >= few
}

// statements of the claims of a run.
func statements(t *testing.T, document string) []string {
	t.Helper()
	var object struct {
		Spec struct {
			Claims v1alpha1.Claims `json:"claims"`
		} `json:"spec"`
	}
	must.Do(t, yaml.Unmarshal([]byte(document), &object))
	var list []string
	for _, claim := range object.Spec.Claims {
		list = append(list, claim.Statement)
	}
	return list
}

// comment with which a file begins.
func comment(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, is := strings.CutPrefix(line, "#")
		if !is {
			break
		}
		b.WriteString(strings.TrimPrefix(line, " "))
	}
	return b.String()
}

// Each number in the table of published figures at the head of a file is in the publication's own table.
func TestTablesInComments(t *testing.T) {
	for name, fewest := range map[string]int{
		"001-innodb-bulk-insert": 14, "002-tpcc-four-configurations": 8, "004-commit-size": 4*6 + 5*5,
	} {
		published := map[float64]bool{}
		for _, row := range table(t, name[:3]) {
			for column, value := range row {
				switch n, err := strconv.ParseFloat(value, 64); {
				case err == nil && column == "exponent":
					published[float64(int(1)<<int(n))] = true
				case err == nil:
					published[n] = true
				default:
					published[seconds(value)] = true
				}
			}
		}
		_, list, _ := strings.Cut(comment(read(t, "config/samples/publications/"+name+".yaml")), "\n  published")
		list, _, _ = strings.Cut(list, "\n\n")
		_, list, _ = strings.Cut(list, "\n") // the head of the table
		found := 0
		for word := range strings.FieldsSeq(list) {
			if !number.MatchString(word) || word == "5.7.24" {
				continue
			}
			found++
			if n, err := strconv.ParseFloat(word, 64); err != nil || !published[n] {
				t.Errorf("%s: %s was not published", name, word)
			}
		}
		if found < fewest {
			t.Errorf("%s: %d numbers were found", name, found)
		}
	}
}

// The ranges in the comment of 000 are those of its runs.
func TestRangesOf000(t *testing.T) {
	lowest, highest := map[string]float64{}, map[string]float64{}
	for _, row := range table(t, "000") {
		key, took := row["env"]+" "+row["concurrency"], parsed(t, row["duration"])
		if low, known := lowest[key]; !known || took < low {
			lowest[key] = took
		}
		highest[key] = max(highest[key], took)
	}
	words := strings.Join(strings.Fields(comment(read(t, "config/samples/publications/000-file-list-inserts.yaml"))), " ")
	for _, env := range []string{"default_config", "5GiB_buffer"} {
		want := fmt.Sprintf("%s: %.0f to %.0f s over one connection, %.0f to %.0f s over five", env,
			lowest[env+" 1"], highest[env+" 1"], lowest[env+" 5"], highest[env+" 5"])
		must.Has(t, words, want)
	}
}
