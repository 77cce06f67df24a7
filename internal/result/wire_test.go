// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// testDocument has about so many bytes that do not compress.
func testDocument(incompressible int) *Document {
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, incompressible)
	for i := range text {
		text[i] = byte(random.IntN(94)) + 33
	}
	return &Document{
		Version:    DocumentVersion,
		Identity:   Identity{RunUID: "run", Trial: 1, Attempt: 2, PodUID: "pod", Started: time.Unix(1, 0).UTC()},
		Totals:     Totals{Rows: 5, StoppedBy: StoppedByRows},
		Latencies:  []Latency{{Operation: "commit", Histogram: "HIST"}},
		Server:     ServerFacts{Version: "11.8", Settings: []AppliedSetting{{Name: "a", Outcome: SettingEffective}, {Name: "b", Outcome: SettingAdjusted}}},
		ToolOutput: map[string]string{"x": string(text)},
	}
}

func encode(t testing.TB, d *Document) (EncodedDocument, string) {
	t.Helper()
	doc := must.Get(EncodeDocument(d))(t)
	var log bytes.Buffer
	must.Do(t, WriteDocument(&log, doc))
	return doc, log.String()
}

func TestDocumentRoundTrip(t *testing.T) {
	for _, size := range []int{0, 1, lineBytes, 10 * lineBytes, 1 << 20} {
		d := testDocument(size)
		doc, log := encode(t, d)
		for i, line := range strings.Split(log, "\n") {
			if len(line) > 4<<10 {
				t.Errorf("line %d has %d bytes", i, len(line))
			}
		}
		noise := `{"kind":"benchrun-progress","seconds":1,"phase":"measure"}` + "\nbenchrun-documentation is elsewhere\n"
		got, err := ReadDocument(strings.NewReader(noise+log+"afterwards\n"), doc.SHA256)
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if !bytes.Equal(got.Gzip, doc.Gzip) || got.SHA256 != doc.SHA256 {
			t.Errorf("%d bytes: what is read is not what was written", size)
		}
		decoded, err := DecodeDocument(got.Gzip)
		if err != nil || decoded.ToolOutput["x"] != d.ToolOutput["x"] || decoded.Identity != d.Identity {
			t.Errorf("%d bytes: %v", size, err)
		}
		if again, _ := encode(t, d); again.SHA256 != doc.SHA256 {
			t.Errorf("%d bytes: the same document has two checksums", size)
		}
	}
}

func TestDamagedDocumentIsLost(t *testing.T) {
	doc, log := encode(t, testDocument(5*lineBytes))
	lines := strings.SplitAfter(log, "\n")
	lines = lines[:len(lines)-1]
	other, otherLog := encode(t, testDocument(10))
	change := func(i int, f func(string) string) string {
		copied := append([]string{}, lines...)
		copied[i] = f(copied[i])
		return strings.Join(copied, "")
	}
	last := len(lines) - 1
	for name, damaged := range map[string]string{
		"nothing":                "",
		"no begin":               strings.Join(lines[1:], ""),
		"no end":                 strings.Join(lines[:last], ""),
		"cut in a line":          log[:len(log)/2],
		"a line is missing":      strings.Join(append(append([]string{}, lines[:3]...), lines[4:]...), ""),
		"the first is missing":   strings.Join(append(append([]string{}, lines[:1]...), lines[2:]...), ""),
		"the last is missing":    strings.Join(append(append([]string{}, lines[:last-1]...), lines[last]), ""),
		"two lines are swapped":  strings.Join(append(append([]string{}, lines[0], lines[2], lines[1]), lines[3:]...), ""),
		"a line is there twice":  strings.Join(append(append([]string{}, lines[:3]...), lines[2:]...), ""),
		"a character is changed": change(2, func(s string) string { return strings.Replace(s, s[40:41], string(s[40]^1), 1) }),
		"not base64":             change(2, func(s string) string { return s[:40] + "!" + s[41:] }),
		"a line is cut":          change(2, func(s string) string { return s[:len(s)-9] + "\n" }),
		"no number":              change(2, func(string) string { return linePrefix + "\n" }),
		"another version":        change(0, func(s string) string { return strings.Replace(s, " 1 ", " 2 ", 1) }),
		"fewer bytes announced":  change(0, func(s string) string { return strings.Replace(s, fmt.Sprint(len(doc.Gzip)), "7", 1) }),
		"more lines announced":   change(0, func(s string) string { return strings.Replace(s, fmt.Sprintf(" %d ", len(lines)-2), " 99 ", 1) }),
		"an unreadable header":   beginPrefix + "x\n" + strings.Join(lines[1:], ""),
		"another document":       otherLog,
		"an endless line":        lines[0] + linePrefix + "1 " + strings.Repeat("A", MaxLogLine+1) + "\n",
	} {
		if damaged == log {
			t.Errorf("%s: nothing was damaged", name)
		}
		if got, err := ReadDocument(strings.NewReader(damaged), doc.SHA256); !errors.Is(err, ErrDocumentLost) || got.Gzip != nil {
			t.Errorf("%s: error %v", name, err)
		}
	}
	must.Is(t, must.Err(ReadDocument(strings.NewReader(log), other.SHA256)), ErrDocumentLost)
}

// A log is read again from its beginning when the connection to it broke: a document that begins anew counts from
// there.
func TestDocumentThatBeginsAnew(t *testing.T) {
	doc, log := encode(t, testDocument(5*lineBytes))
	begun, _, _ := strings.Cut(log, linePrefix+"3 ")
	must.Get(ReadDocument(strings.NewReader(begun+log), doc.SHA256))(t)
}

// Before the document that the summary names, a log may have others, whole or not: they do not count, and take nothing from it.
func TestDocumentsBesideTheNamedOneDoNotCount(t *testing.T) {
	doc, log := encode(t, testDocument(5*lineBytes))
	_, other := encode(t, testDocument(10))
	for name, before := range map[string]string{
		"another document":      other,
		"two":                   other + other,
		"one that is cut":       other[:len(other)/2] + "\n",
		"one without its end":   strings.TrimSuffix(other, endLine+"\n"),
		"an unreadable header":  beginPrefix + "x\n",
		"this one, damaged":     strings.Replace(log, linePrefix+"2 ", linePrefix+"3 ", 1),
		"this one, with a gap":  strings.Replace(log, linePrefix+"2 ", "", 1),
		"lines without a begin": strings.Join(strings.SplitAfter(log, "\n")[1:], ""),
		"this one's first line": log[:strings.IndexByte(log, '\n')+1],
	} {
		got, err := ReadDocument(strings.NewReader(before+log), doc.SHA256)
		if err != nil || !bytes.Equal(got.Gzip, doc.Gzip) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := ReadDocument(strings.NewReader(log+before), doc.SHA256); err != nil {
			t.Errorf("%s, behind it: %v", name, err)
		}
	}
}

func TestDocumentTooLarge(t *testing.T) {
	must.Refused(EncodeDocument(testDocument(MaxDocumentBytes+MaxDocumentBytes/2)))(t, "at most")
	var log strings.Builder
	fmt.Fprintf(&log, "%s1 99999 99999999 %064d\n", beginPrefix, 0)
	for i := range MaxDocumentBytes/lineBytes + 2 {
		fmt.Fprintf(&log, "%s%d %s\n", linePrefix, i+1, strings.Repeat("A", lineBytes/3*4))
	}
	if _, err := ReadDocument(strings.NewReader(log.String()), strings.Repeat("0", 64)); !errors.Is(err, ErrDocumentLost) || !strings.Contains(err.Error(), "at most") {
		t.Errorf("error %v", err)
	}
	log.Reset()
	fmt.Fprintf(&log, "%s1 99999 %d %064d\n", beginPrefix, MaxDocumentBytes, 0)
	for i := range MaxDocumentBytes/lineBytes + 2 {
		fmt.Fprintf(&log, "%s%d %s\n", linePrefix, i+1, strings.Repeat("A", lineBytes/3*4))
	}
	if _, err := ReadDocument(strings.NewReader(log.String()), strings.Repeat("0", 64)); !errors.Is(err, ErrDocumentLost) || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a header that says less: error %v", err)
	}
}

func TestDecodeDocumentRefuses(t *testing.T) {
	zipped := func(text string) []byte {
		gz := must.Get(compress([]byte(text)))(t)
		return gz
	}
	newer := zipped(`{"version":2}`)
	for want, gz := range map[string][]byte{
		"unpacks to more than":    zipped(`{"version":1,"warnings":["` + strings.Repeat("x", maxDocumentExpanded) + `"]}`),
		"more than 300000 values": zipped(`{"version":1,"series":[{}` + strings.Repeat(",{}", maxDocumentValues) + `]}`),
		"version 2":               newer, "unpacking": []byte("no gzip"), "EOF": newer[:len(newer)-4], "reading it": zipped("[]"),
	} {
		if _, err := DecodeDocument(gz); !errors.Is(err, ErrDocumentInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		text, err := Unpack(gz)
		if err == nil {
			_, err = text.Identity()
		}
		if !errors.Is(err, ErrDocumentInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("identity: error %v, want %q", err, want)
		}
	}
	for _, doc := range map[string]*Document{
		"long": {Version: 1, ToolOutput: map[string]string{"x": strings.Repeat("x", maxDocumentExpanded)}},
		"full": {Version: 1, Series: make([]Interval, maxDocumentValues)},
	} {
		must.Refused(EncodeDocument(doc))(t, "at most")
	}
}

// Whatever a document holds within the bounds, decoding it does not take the operator's memory.
func TestDecodingIsBounded(t *testing.T) {
	list := func(item string) string { return `[` + item + strings.Repeat(","+item, maxDocumentValues/2-10) + `]` }
	for name, text := range map[string]string{
		"intervals": `{"version":1,"series":` + list("{}") + `}`,
		"latencies": `{"version":1,"latencies":` + list("{}") + `}`,
		"settings":  `{"version":1,"server":{"settings":` + list("{}") + `}}`,
		"pods":      `{"version":1,"pods":` + list("{}") + `}`,
		"tables":    `{"version":1,"tables":` + list("{}") + `}`,
		"findings":  `{"version":1,"findings":` + list("{}") + `}`,
		"measures":  `{"version":1,"findings":[{"measures":` + list("{}") + `}]}`,
	} {
		gz := must.Get(compress([]byte(text)))(t)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		must.Get(DecodeDocument(gz))(t)
		runtime.ReadMemStats(&after)
		const most = 160 << 20
		if got := after.TotalAlloc - before.TotalAlloc; got > most {
			t.Errorf("%s: decoding %d bytes allocates %d MiB in all, want at most %d MiB", name, len(text), got>>20, most>>20)
		}
	}
}

func TestSummaryRoundTrip(t *testing.T) {
	d := testDocument(100)
	d.Findings = []finding.Finding{finding.OfProgram("short")}
	doc, _ := encode(t, d)
	data := must.Get(EncodeSummary(d.Summarize(doc)))(t)
	s := must.Get(DecodeSummary(string(data)))(t)
	if s.DocumentSHA256 != doc.SHA256 || s.Identity != d.Identity || len(s.Latencies) != 1 || s.Latencies[0].Histogram != "" || len(s.Findings) != 1 {
		t.Errorf("%+v", s)
	}
	must.Same(t, "the document's own histogram", "HIST", d.Latencies[0].Histogram)
}

func TestSummaryBudget(t *testing.T) {
	long := func(n int) string { return strings.Repeat("ä", n/2) }
	base := Summary{Version: 1, DocumentSHA256: strings.Repeat("0", 64), Identity: Identity{RunUID: "run"}}
	for name, fill := range map[string]func(*Summary){
		"findings":  func(s *Summary) { s.Findings = []finding.Finding{finding.OfProgram(long(4000))} },
		"latencies": func(s *Summary) { s.Latencies = []Latency{{Operation: long(4000)}} },
		"all": func(s *Summary) {
			s.Findings, s.Latencies = []finding.Finding{finding.OfProgram(long(2000))}, []Latency{{Operation: long(2000)}}
		},
		"failure": func(s *Summary) {
			s.DocumentSHA256, s.Failure = "", &Failure{Reason: CauseSQL, Message: "x" + long(9000)}
		},
		"odd failure":   func(s *Summary) { s.DocumentSHA256, s.Failure = "", &Failure{Reason: CauseSQL, Message: long(9000)} },
		"wide failure":  func(s *Summary) { s.Failure = &Failure{Message: strings.Repeat("<\x00\n", 3000)} },
		"wrong failure": func(s *Summary) { s.Failure = &Failure{Message: strings.Repeat("\xff", 3000)} },
	} {
		s := base
		fill(&s)
		data, err := EncodeSummary(s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(data) > MaxSummaryBytes || !utf8.Valid(data) {
			t.Errorf("%s: %d bytes, valid %v", name, len(data), utf8.Valid(data))
		}
		got, err := DecodeSummary(string(data))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Failure != nil && strings.HasSuffix(strings.TrimSuffix(got.Failure.Message, "ä"), "�") && name != "wrong failure" {
			t.Errorf("%s: a character was cut", name)
		}
	}
	base.Identity.Node = long(4000)
	if _, err := EncodeSummary(base); err == nil {
		t.Error("a summary that cannot be shortened was encoded")
	}
}

func TestDecodeSummaryRefuses(t *testing.T) {
	for message, want := range map[string]string{
		"":                  ErrNoSummary.Error(),
		"panic: oh no":      ErrNoSummary.Error(),
		summaryPrefix + "{": "reading the summary",
		summaryPrefix + `{"version":2,"documentSHA256":"x"}`:                    "version 2",
		summaryPrefix + `{"version":1}`:                                         "neither a document nor a failure",
		summaryPrefix + `{"version":1}{}`:                                       "reading the summary",
		summaryPrefix + `{"version":1} ` + strings.Repeat(" ", MaxSummaryBytes): "at most",
	} {
		if s, err := DecodeSummary(message); err == nil || !strings.Contains(err.Error(), want) || s != nil {
			t.Errorf("%.60s: error %v, want %q", message, err, want)
		}
	}
}

func FuzzReadDocument(f *testing.F) {
	doc, log := encode(f, testDocument(3*lineBytes))
	f.Add(log)
	f.Add(log[:len(log)/2])
	f.Add(log + log)
	f.Add(strings.Replace(log, linePrefix+"2 ", linePrefix+"3 ", 1))
	f.Add(beginPrefix + "1 0 0 " + doc.SHA256 + "\n" + endLine + "\n")
	f.Add(beginPrefix + "1 -1 -1 " + strings.Repeat("0", 64) + "\n" + linePrefix + "1 \n" + endLine + "\n")
	f.Fuzz(func(t *testing.T, log string) {
		got, err := ReadDocument(strings.NewReader(log), doc.SHA256)
		switch {
		case err != nil && !errors.Is(err, ErrDocumentLost):
			t.Errorf("error %v", err)
		case err == nil && !bytes.Equal(got.Gzip, doc.Gzip):
			t.Error("another document passed for this one")
		}
	})
}

func FuzzDecodeSummary(f *testing.F) {
	data := must.Get(EncodeSummary(Summary{Version: 1, Failure: &Failure{Reason: CauseSQL, Message: "m"}}))(f)
	f.Add(string(data))
	f.Add(summaryPrefix)
	f.Add(summaryPrefix + `{"version":1,"documentSHA256":"x","totals":{"rows":-1},"metrics":[{"value":1e308}]}`)
	f.Add("benchrun-summary-v2 {}")
	f.Fuzz(func(t *testing.T, message string) {
		s, err := DecodeSummary(message)
		if err == nil && (s.Version != DocumentVersion || s.Failure == nil && s.DocumentSHA256 == "" || len(message) > MaxSummaryBytes) {
			t.Errorf("%+v passed for a summary", s)
		}
	})
}
