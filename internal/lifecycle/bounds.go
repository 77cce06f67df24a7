// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

// What the status has room for. The API server refuses a status that breaks one bound of its schema, and etcd an object of more
// than 1.5 MiB.
const (
	// maxStatusPoints is how many points the status lists; the rest is in the results.
	maxStatusPoints = 64
	// maxFindings is how many findings the status has, and maxFinding how long the texts of one are.
	maxFindings, maxFinding = 32, 512
	maxMessage              = 4096
)

// fit cuts every text of a status that comes from elsewhere, and its numbers, to what the schema allows. Lists are cut where they
// are made.
func fit(s *v1alpha1.BenchmarkRunStatus) {
	e := &s.Environment
	shorten(512, &s.Answer.Detail, &e.DatabaseImage, &e.LoaderImage, &e.BlockIO)
	shorten(253, &e.DatabaseNode, &s.Results.ConfigMap)
	shorten(16384, &e.LoaderNode)
	shorten(128, &e.SettingsDigest, &s.Results.Digest)
	shorten(256, &e.ServerVersion, &e.Kernel, &e.CPUModel)
	shorten(1024, &e.MountOptions)
	shorten(64, &s.Results.FromRun, &e.Filesystem, &e.IOScheduler)
	shorten(32, &e.Swappiness, &e.TransparentHugePages)
	e.CPUs, e.MemoryBytes, e.FdatasyncMicros = max(0, e.CPUs), max(0, e.MemoryBytes), max(0, e.FdatasyncMicros)
	e.FdatasyncMeanMicros = max(0, e.FdatasyncMeanMicros)
}

func shorten(length int, texts ...*string) {
	for _, text := range texts {
		*text = cut(*text, length)
	}
}

// cut keeps the first characters of a text, as many as the API allows.
func cut(text string, length int) string {
	if r := []rune(text); len(r) > length {
		return string(r[:length])
	}
	return text
}

func shortText(text string, length int) string {
	if utf8.RuneCountInString(text) > length {
		return cut(text, length-1) + "…"
	}
	return text
}

// fitting are as many of a list as there is room for. If some are left out, the last one says how many.
func fitting[T any](list []T, most int, saying func(text string) T) []T {
	left := len(list) - most + 1
	if left < 2 {
		return list
	}
	return append(list[:most-1], saying(fmt.Sprintf("%d more, see the results", left)))
}

// int32Of is the number, or the nearest that there is.
func int32Of(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

// Invalid is the failure of a run whose specification cannot be carried out; nil without an error.
func Invalid(err error) *Failure {
	if err == nil {
		return nil
	}
	return &Failure{Reason: v1alpha1.ReasonInvalidSpecification, Message: err.Error()}
}

// claimStatus is what the status says of claims, each and together.
func claimStatus(judged []claims.Judgement) (list []v1alpha1.ClaimStatus, together string) {
	counts := map[claims.Verdict]int{}
	for _, j := range judged {
		counts[j.Verdict]++
		detail := j.Detail
		if j.PublishedDetail != "" {
			detail += "; published: " + j.PublishedDetail
		}
		list = append(list, v1alpha1.ClaimStatus{
			Name: j.Name, Verdict: j.Verdict, Detail: cut(detail, maxComparisonText), Published: j.Published,
		})
	}
	var parts []string
	for _, v := range []claims.Verdict{claims.Holds, claims.DoesNotHold, claims.CannotSay, claims.PremiseMissing} {
		if counts[v] > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", stats.Words(v), counts[v]))
		}
	}
	return list, strings.Join(parts, ", ")
}
