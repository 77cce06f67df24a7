// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command publications makes docs/publications.md, and a page for each publication, from what publications.sh has measured:
//
//	write          writes the pages
//	digest FILE    prints the digest of what a file asks for, without its comments
//
// It runs in the folder of the repository, and reads what was measured from JSON files, never from texts for people.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
)

// introduction is what the first page begins with.
//
//go:embed introduction.md
var introduction string

// pages by their paths in the repository: the matrix of all publications, and one for each of them.
func pages(list []*publication) (map[string]string, error) {
	all := map[string]string{reportsFolder + ".md": introduction + "\n" + matrix(list)}
	for _, p := range list {
		text, err := p.page()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		all[reportsFolder+"/"+p.pageFile()] = text
	}
	return all, nil
}

// pageFile is the path of a publication's page, from the folder of all.
func (p *publication) pageFile() string { return p.name + "/README.md" }

// link to a sample from the page of its publication.
func (s *sample) link() string {
	return fmt.Sprintf("[%s](../../../%s)", filepath.Base(s.path), s.path)
}

// page of a publication: what it asked, what ran here and what came of it, what differs, and how to run it in full.
func (p *publication) page() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", p.name)
	for i := range p.full.header {
		if part := &p.full.header[i]; part.label == "" {
			b.WriteString(part.prose() + "\n")
		}
	}
	fmt.Fprintf(&b, "**What ran here.** %s. %s\n\n", p.small.link(), p.small.header[0].text)
	b.WriteString(p.measurement() + "\n")
	for i := range p.reports {
		text, err := p.reports[i].section()
		if err != nil {
			return "", err
		}
		b.WriteString(text + "\n")
	}
	b.WriteString("## What differs, and how to run it in full\n\n")
	fmt.Fprintf(&b, "The full file: %s, `kubectl apply -f %s`.\n", p.full.link(), p.full.path)
	for _, label := range []string{differences, sizesAndHours, beforeYouBegin} {
		if text := p.full.labelledBy(label); text != "" {
			fmt.Fprintf(&b, "\n**%s**: %s\n", label, text)
		}
	}
	return b.String(), nil
}

// measurement says when and from what a publication was measured, and whether that is what its file still asks for.
func (p *publication) measurement() string {
	text := fmt.Sprintf("Measured on %s at commit %.12s", p.reports[0].Started.UTC().Format("2 January 2006"), p.measured.Commit)
	if !p.measured.Clean {
		text += ", with changes that were not committed"
	}
	text += ".\n"
	if p.measured.Digest != p.small.digest {
		text += "\n**The file has changed since then**: the figures and verdicts are those of the file as it was. " +
			fmt.Sprintf("`%s` measures it again.\n", p.measureAgain())
	}
	return text
}

func (r *reported) section() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s.\n\n%s.", r.of.name, plain(r.answer), plain(strings.TrimSuffix(r.state, ".")))
	if len(r.servers) > 0 {
		fmt.Fprintf(&b, " Servers: %s.", plain(strings.Join(r.servers, ", ")))
	}
	fmt.Fprintf(&b, "\n[The page](%[1]s/report.html), [the summary](%[1]s/summary.md), ", r.of.name)
	fmt.Fprintf(&b, "[a row for each trial](%s/results.csv).\n\n", r.of.name)
	sizes, err := r.sizes()
	if err != nil {
		return "", err
	}
	b.WriteString(sizes + "\n")
	plots, err := r.pictures()
	if err != nil {
		return "", err
	}
	b.WriteString(plots)
	for i := range r.tables {
		t := &r.tables[i]
		if slices.ContainsFunc(t.Head, func(c report.Column) bool { return c.Text == report.PublishedHead }) {
			fmt.Fprintf(&b, "%s%s:\n\n%s\n", strings.ToUpper(t.Name[:1]), plain(t.Name[1:]), texts(t.Texts()))
		}
		if remark := t.Remark(); remark != "" {
			b.WriteString(plain(remark) + "\n\n")
		}
	}
	b.WriteString(r.verdicts())
	b.WriteString(r.warned())
	return b.String(), nil
}

// unequal are fields that say what is shown or where, and not what is measured.
var unequal = regexp.MustCompile(`^(claims|title|seed|loader\..*|trials\.deadlineSeconds|.*\.requests\..*)$`)

// sizes is a table of what the small file asks for otherwise than the full one. What all variants have is said once.
func (r *reported) sizes() (string, error) {
	rows := [][]string{{"", "in full", "here"}, {"plan", r.full.planned, r.of.planned}}
	variants := map[plan.Difference][]string{}
	for at, v := range r.of.variants {
		i := slices.IndexFunc(r.full.variants, func(full variant) bool { return full.name == v.name })
		if i < 0 { // it may have another name there
			i = min(at, len(r.full.variants)-1)
		}
		differences, err := plan.Differences(r.full.variants[i].spec, v.spec)
		if err != nil {
			return "", err
		}
		for _, d := range differences {
			if ofPoints := strings.HasPrefix(d.From+d.To, "[{"); !ofPoints && !unequal.MatchString(d.Name) { // the plan counts points
				variants[d] = append(variants[d], v.name)
			}
		}
	}
	for _, d := range slices.SortedFunc(maps.Keys(variants), func(a, b plan.Difference) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	}) {
		name := d.Name
		if len(variants[d]) < len(r.of.variants) {
			name += " of " + strings.Join(variants[d], ", ")
		}
		rows = append(rows, []string{name, d.From, d.To})
	}
	return texts(rows), nil
}

type picture struct{ name, words string }

// unnamed are the plots of a report of which the first that is there stands for a publication whose plots the file does not name.
var unnamed = []picture{
	{"rate.against_rowsInserted", "The rate against the rows inserted, which is what insert benchmarks plot"},
	{"ratios", "The publication has no plot; the ratios of the pairs"},
}

// pictures are the plots that the file of plots names after the publication's. One that is not there is an error.
func (r *reported) pictures() (string, error) {
	var list []picture
	for _, p := range r.plots {
		list = append(list, picture{p.Name, "The publication's plot"})
	}
	for _, p := range unnamed {
		if len(list) == 0 && r.missing(p.name) == nil {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return "", fmt.Errorf("%s names no plot, and has neither %s nor %s", r.of.name, unnamed[0].name, unnamed[1].name)
	}
	var b strings.Builder
	for _, p := range list {
		if err := r.missing(p.name); err != nil {
			return "", fmt.Errorf("the plot %s that the file asks for is not there: %w", p.name, err)
		}
		fmt.Fprintf(&b, "%s, `%s`:\n\n![%s](%s/%s.svg)\n\n", p.words, p.name, plain(p.name), r.of.name, p.name)
	}
	return b.String(), nil
}

func (r *reported) missing(plot string) error {
	_, err := os.Stat(filepath.Join(r.root, r.folder, plot+".svg"))
	return err
}

func (r *reported) verdicts() string {
	var b strings.Builder
	for i := range r.Claims {
		j := &r.Claims[i]
		fmt.Fprintf(&b, "- %s, **%s**", verdictCell(j.Verdict), j.Name)
		switch {
		case strings.HasPrefix(j.Statement, ours):
			b.WriteString(", " + plain(j.Statement))
		case j.Statement != "":
			b.WriteString(", “" + plain(j.Statement) + "”")
		}
		b.WriteString(": " + plain(j.Detail))
		if j.Published != "" {
			b.WriteString("; " + plain(report.PublishedText(j)))
		}
		b.WriteString("\n")
	}
	return cmp.Or(b.String(), "No claims.\n")
}

// warned are the warnings that travel with the numbers.
func (r *reported) warned() string {
	var b strings.Builder
	for _, w := range r.AllWarnings() {
		b.WriteString("- " + plain(w) + "\n")
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n**Warnings**, to be read with these numbers:\n\n" + b.String()
}

// plain is a text in one line that is nothing but a text, without emphasis too.
func plain(text string) string { return strings.ReplaceAll(report.MarkdownCell(text), "*", `\*`) }

// texts is a table of texts that are no Markdown; it escapes them in place.
func texts(rows [][]string) string {
	for _, cells := range rows {
		for i, cell := range cells {
			cells[i] = plain(cell)
		}
	}
	return table(rows)
}

// table of rows, of which the first is the header. Cells are Markdown.
func table(rows [][]string) string {
	var b strings.Builder
	for n, cells := range rows {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		if n == 0 {
			b.WriteString(strings.Repeat("| --- ", len(cells)) + "|\n")
		}
	}
	return b.String()
}

// prose is a paragraph of a file's comment as Markdown: tables keep their columns.
func (p *paragraph) prose() string {
	if p.table {
		return "```text\n" + p.text + "\n```\n"
	}
	return p.text + "\n"
}

func main() {
	if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "publications:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, arguments []string) error {
	switch {
	case len(arguments) == 1 && arguments[0] == "write":
		list, err := load(ctx, ".")
		if err != nil {
			return err
		}
		all, err := pages(list)
		if err != nil {
			return err
		}
		for path, text := range all {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				return err
			}
		}
		return nil
	case len(arguments) == 2 && arguments[0] == "digest":
		text, err := os.ReadFile(arguments[1])
		if err != nil {
			return err
		}
		digest, err := digestOf(text)
		if err != nil {
			return fmt.Errorf("%s: %w", arguments[1], err)
		}
		_, err = fmt.Fprintln(out, digest)
		return err
	}
	return errors.New("usage: publications write | publications digest FILE")
}
