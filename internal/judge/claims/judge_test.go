// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package claims_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// bySize are values at rowsPerCommit=1, 4 and so on, in so many rounds with a noise of one percent.
func bySize(better string, rounds int, values ...float64) []stats.Point {
	noise := rand.New(rand.NewPCG(1, 2))
	var list []stats.Point
	for i, value := range values {
		s := stats.Point{
			Parameters: map[string]string{"rowsPerCommit": strconv.Itoa(1 << (2 * i)), "clients": "5"},
			Metric:     result.Metric{Name: "rate", Unit: "rows/s", Better: better},
		}
		for range rounds {
			s.Values = append(s.Values, value*(1+0.01*noise.NormFloat64()))
		}
		list = append(list, s)
	}
	return list
}

// number as the API has it; 0 is none.
func number(v float64) v1alpha1.ClaimedNumber {
	if v == 0 {
		return ""
	}
	return v1alpha1.ClaimedNumber(strconv.FormatFloat(v, 'f', -1, 64))
}

func judged(c v1alpha1.Claim, series []stats.Point) claims.Judgement {
	c.Name = "claim"
	return claims.Judge([]v1alpha1.Claim{c}, func(string) []stats.Point { return series }, stats.PairedRatio)[0]
}

func TestJudge(t *testing.T) {
	const six = 6
	ratio := func(least, most float64) v1alpha1.Claim {
		return v1alpha1.Claim{Ratio: &v1alpha1.RatioClaim{Of: testutil.AtRows("16"), To: testutil.AtRows("1"), AtLeast: number(least), AtMost: number(most)}}
	}
	best := func(value string) v1alpha1.Claim {
		return v1alpha1.Claim{BestAt: &v1alpha1.BestAtClaim{At: testutil.AtRows(value)}}
	}
	order := func(falling bool) v1alpha1.Claim {
		direction := v1alpha1.DirectionRising
		if falling {
			direction = v1alpha1.DirectionFalling
		}
		return v1alpha1.Claim{Monotonic: &v1alpha1.MonotonicClaim{Parameter: "rowsPerCommit", Direction: direction, WithinPercent: 5}}
	}
	nearly := ratio(0.95, 1.05)
	equal := v1alpha1.Claim{Ratio: &v1alpha1.RatioClaim{Of: testutil.AtRows("16"), To: testutil.AtRows("4"), WithinPercent: 5}}
	value := func(least, most v1alpha1.ClaimedNumber) v1alpha1.Claim {
		return v1alpha1.Claim{Value: &v1alpha1.ValueClaim{Of: testutil.AtRows("16"), AtLeast: least, AtMost: most}}
	}
	for name, tc := range map[string]struct {
		claim   v1alpha1.Claim
		series  []stats.Point
		verdict claims.Verdict
		settled bool
		says    string
	}{
		"value, reached":      {value("900", ""), bySize("higher", six, 100, 500, 1000), claims.Holds, true, "; claimed: at least 900 rows/s)"},
		"value, not reached":  {value("1100", ""), bySize("higher", six, 100, 500, 1000), claims.DoesNotHold, true, "1001 rows/s ("},
		"value, exceeded":     {value("", "900"), bySize("lower", six, 100, 500, 1000), claims.DoesNotHold, true, "claimed: at most 900 rows/s"},
		"value, at the bound": {value("1000", ""), bySize("higher", six, 100, 500, 1000), claims.CannotSay, true, "1000"},
		"value, small":        {value("0.0012", ""), bySize("higher", six, 1, 1, 0.0015), claims.Holds, true, "rows/s (0.001"},
		"value around one":    {value("0.5", "2"), bySize("lower", six, 100, 500, 1), claims.Holds, true, "claimed: 0.5–2 rows/s"},
		"value, few trials":   {value("900", ""), bySize("higher", 2, 100, 500, 1000), claims.CannotSay, false, "too few trials (2)"},
		"ratio, at least":     {ratio(8, 0), bySize("higher", six, 100, 500, 1000), claims.Holds, true, "claimed: at least 8×"},
		"ratio, too small":    {ratio(8, 0), bySize("higher", six, 100, 200, 320), claims.DoesNotHold, true, "3.2"},
		"ratio, at most":      {ratio(0, 5), bySize("higher", six, 100, 200, 320), claims.Holds, true, "claimed: at most 5×"},
		"ratio, too large":    {ratio(2, 3), bySize("higher", six, 100, 200, 320), claims.DoesNotHold, true, "claimed: 2–3×"},
		"ratio, at the bound": {ratio(3.2, 0), bySize("higher", six, 100, 200, 320), claims.CannotSay, true, "3.2"},
		"ratio, few trials":   {ratio(8, 0), bySize("higher", 2, 100, 500, 1000), claims.CannotSay, false, "too few trials (2)"},
		"ratio, a value is 0": {ratio(8, 0), bySize("higher", six, 0, 500, 1000), claims.CannotSay, false, "zero"},
		"no difference":       {equal, bySize("higher", 10, 100, 500, 505), claims.Holds, true, "claimed: equal within 5%"},
		"no difference, few": {
			equal, bySize("higher", 9, 100, 500, 505), claims.CannotSay, false,
			"claimed: equal within 5%); no difference is said after 10 trials, and there are 9",
		},
		"a ratio around one":      {nearly, bySize("higher", 10, 500, 500, 500), claims.Holds, true, "claimed: 0.95–1.05×"},
		"a ratio around one, few": {nearly, bySize("higher", six, 500, 500, 500), claims.CannotSay, false, "no difference is said after 10"},
		"no difference, but":      {equal, bySize("higher", six, 100, 500, 600), claims.DoesNotHold, true, "1.2"},
		"no difference, on it":    {equal, bySize("higher", six, 100, 500, 525), claims.CannotSay, false, "1.05"},
		"best":                    {best("16"), bySize("higher", six, 100, 500, 600), claims.Holds, true, "rowsPerCommit=16 is the best; closest rival rowsPerCommit=4: 1.2"},
		"best of less":            {best("16"), bySize("lower", six, 900, 500, 400), claims.Holds, true, "rowsPerCommit=16 is the best; closest rival rowsPerCommit=4: 1.2"},
		"another is best":         {best("4"), bySize("higher", six, 100, 500, 600), claims.DoesNotHold, true, "rowsPerCommit=16 is better than rowsPerCommit=4: 1.2"},
		"another is best, less":   {best("4"), bySize("lower", six, 900, 500, 400), claims.DoesNotHold, true, "rowsPerCommit=16 is better than rowsPerCommit=4: 1.2"},
		"two are the best":        {best("16"), bySize("higher", six, 100, 600, 600), claims.CannotSay, false, "cannot be distinguished from"},
		"rising":                  {order(false), bySize("higher", six, 100, 500, 600), claims.Holds, true, "weakest step, from rowsPerCommit=4 to rowsPerCommit=16: 1.2"},
		"rising, then level":      {order(false), bySize("higher", six, 100, 500, 500), claims.Holds, true, "×"},
		"rising, then falling":    {order(false), bySize("higher", six, 100, 500, 400), claims.DoesNotHold, true, "from rowsPerCommit=4 to rowsPerCommit=16: 0.8"},
		// No step is below what is tolerated, but the whole way is down.
		"rising, but it falls": {order(false), bySize("higher", six, 100, 97, 94), claims.DoesNotHold, true, "from rowsPerCommit=1 to rowsPerCommit=16: 0.95"},
		"falling":              {order(true), bySize("higher", six, 600, 500, 100), claims.Holds, true, "×"},
		"level":                {order(false), bySize("higher", six, 500, 500, 500), claims.CannotSay, false, "×"},
	} {
		t.Run(name, func(t *testing.T) {
			j := judged(tc.claim, tc.series)
			if j.Verdict != tc.verdict || j.Settled != tc.settled || !strings.Contains(j.Detail, tc.says) {
				t.Errorf("%s, settled %t: %s", j.Verdict, j.Settled, j.Detail)
			}
		})
	}
}

// A side that halves in 10% of its trials is not equal to one that does not. With three trials, in which most show nothing of it,
// the claim held in 74% of runs.
func TestNoDifferenceOfRareStalls(t *testing.T) {
	const times = 1000
	random := rand.New(rand.NewPCG(5, 6))
	claim := v1alpha1.Claim{Ratio: &v1alpha1.RatioClaim{Of: testutil.AtRows("4"), To: testutil.AtRows("1"), WithinPercent: 5}}
	for trials, atMost := range map[int]int{3: 0, 6: 0, 9: 0, 10: times * 4 / 10, 30: times / 10} {
		holds := 0
		for range times {
			series := bySize("higher", trials, 100, 100)
			for i := range series[1].Values {
				if random.IntN(10) == 0 {
					series[1].Values[i] /= 2
				}
			}
			if judged(claim, series).Verdict == claims.Holds {
				holds++
			}
		}
		if holds > atMost {
			t.Errorf("%d trials: it holds in %d of %d runs, want at most %d", trials, holds, times, atMost)
		}
	}
}

// A claim with one bound whose truth lies on it holds by mistake in 5% of runs, and is denied in as many: each verdict has the
// whole error; between two bounds, half of it. Six values that are alike by chance count for less, so that it is rather smaller.
func TestErrorAtABound(t *testing.T) {
	const times = 4000
	for want, c := range map[float64]v1alpha1.RatioClaim{5: {AtMost: "2"}, 2.5: {AtLeast: "1.5", AtMost: "2"}} {
		random, got := rand.New(rand.NewPCG(7, 8)), map[claims.Verdict]float64{}
		c.Of, c.To = testutil.AtRows("4"), testutil.AtRows("1")
		for range times {
			series := bySize("higher", 0, 100, 200)
			for i := range series {
				for range 6 {
					series[i].Values = append(series[i].Values, float64(100*(i+1))*math.Exp(0.01*random.NormFloat64()))
				}
			}
			got[judged(v1alpha1.Claim{Ratio: &c}, series).Verdict] += 100.0 / times
		}
		for _, v := range []claims.Verdict{claims.Holds, claims.DoesNotHold} {
			if got[v] > 1.1*want || got[v] < 0.6*want {
				t.Errorf("%+v: %s in %.1f%%, want %g%%", c, v, got[v], want)
			}
		}
	}
}

// A true order is not contradicted by trials that are fast or slow by chance, however many steps it has and however few trials.
// Three trials of two modes agree and are wrong in 1 of 64 steps: without a least number of trials 15% of ten steps are denied.
func TestTrueOrderOfModes(t *testing.T) {
	const times = 1000
	random := rand.New(rand.NewPCG(3, 4))
	claim := v1alpha1.Claim{Monotonic: &v1alpha1.MonotonicClaim{Parameter: "rowsPerCommit"}}
	for _, trials := range []int{3, 4, 5, 6} {
		denied := 0
		for range times {
			series := bySize("higher", 0, make([]float64, 11)...)
			for i := range series {
				for range trials {
					fast := 1 + 0.1*float64(random.IntN(2))
					series[i].Values = append(series[i].Values, (100+0.1*float64(i))*fast*(1+0.005*random.NormFloat64()))
				}
			}
			if judged(claim, series).Verdict == claims.DoesNotHold {
				denied++
			}
		}
		if share := float64(denied) / times; share > stats.ErrorProbability {
			t.Errorf("%d trials: %.1f%% of true orders do not hold", trials, 100*share)
		}
	}
}

// Where trials are too few for the steps to be denied, that is said, and the order is neither denied nor confirmed.
func TestTooFewTrialsForManySteps(t *testing.T) {
	series := bySize("higher", 3, 100, 200, 150, 300, 400, 500, 600, 700, 800, 900, 1000)
	j := judged(v1alpha1.Claim{Monotonic: &v1alpha1.MonotonicClaim{Parameter: "rowsPerCommit"}}, series)
	if j.Verdict != claims.CannotSay || j.Settled || !strings.HasSuffix(j.Detail, "; too few trials (3): an answer takes at least 4") {
		t.Errorf("%s, settled %t: %s", j.Verdict, j.Settled, j.Detail)
	}
	best := bySize("higher", 3, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 150)
	j = judged(v1alpha1.Claim{BestAt: &v1alpha1.BestAtClaim{At: testutil.AtRows("1")}}, best)
	if j.Verdict != claims.CannotSay || j.Detail != "too few trials (3): an answer takes at least 4" {
		t.Errorf("%s: %s", j.Verdict, j.Detail)
	}
}

// A metric that nothing was measured of is not worth another round.
func TestUnknownMetric(t *testing.T) {
	c := v1alpha1.Claim{Metric: "coffee", Ratio: &v1alpha1.RatioClaim{Of: testutil.AtRows("16"), To: testutil.AtRows("1"), AtLeast: "1"}}
	if j := judged(c, nil); j.Verdict != claims.CannotSay || !j.Settled || j.Detail != "no metric named coffee was measured" {
		t.Errorf("%+v", j)
	}
	c.Metric = ""
	if j := judged(c, nil); j.Settled {
		t.Errorf("settled before anything is measured: %+v", j)
	}
}

func TestPublished(t *testing.T) {
	figures := func(values ...float64) (list []v1alpha1.PublishedFigure) {
		for i, v := range values {
			list = append(list, v1alpha1.PublishedFigure{Of: testutil.AtRows(strconv.Itoa(1 << (2 * i))), Value: number(v)})
		}
		return list
	}
	ratio := &v1alpha1.RatioClaim{Of: testutil.AtRows("16"), To: testutil.AtRows("1"), AtLeast: "8"}
	order := &v1alpha1.MonotonicClaim{Parameter: "rowsPerCommit", WithinPercent: 5}
	for name, tc := range map[string]struct {
		claim   v1alpha1.Claim
		better  string
		verdict claims.Verdict
		says    string
	}{
		"none":             {v1alpha1.Claim{Ratio: ratio}, "higher", "", ""},
		"value":            {v1alpha1.Claim{Value: &v1alpha1.ValueClaim{Of: testutil.AtRows("16"), AtLeast: "900"}, Published: figures(1, 1, 1000)}, "higher", claims.Holds, "1000 rows/s"},
		"value, unknown":   {v1alpha1.Claim{Value: &v1alpha1.ValueClaim{Of: testutil.AtRows("16"), AtLeast: "900"}, Published: figures(1)}, "higher", claims.CannotSay, "too few figures"},
		"one of two":       {v1alpha1.Claim{Ratio: ratio, Published: figures(100)}, "higher", claims.CannotSay, "no figure of rowsPerCommit=16"},
		"ratio":            {v1alpha1.Claim{Ratio: ratio, Published: figures(100, 500, 1000)}, "higher", claims.Holds, "10×"},
		"ratio, not so":    {v1alpha1.Claim{Ratio: ratio, Published: figures(100, 500, 760)}, "higher", claims.DoesNotHold, "7.60×"},
		"best":             {v1alpha1.Claim{BestAt: &v1alpha1.BestAtClaim{At: testutil.AtRows("16")}, Published: figures(100, 500, 760)}, "higher", claims.Holds, "rowsPerCommit=16 is the best; closest rival rowsPerCommit=4: 1.52×"},
		"best of less":     {v1alpha1.Claim{BestAt: &v1alpha1.BestAtClaim{At: testutil.AtRows("16")}, Published: figures(100, 500, 760)}, "lower", claims.DoesNotHold, "rowsPerCommit=1 is better than rowsPerCommit=16: 7.60×"},
		"best of two":      {v1alpha1.Claim{BestAt: &v1alpha1.BestAtClaim{At: testutil.AtRows("16")}, Published: figures(100, 500, 500)}, "higher", claims.CannotSay, "1×"},
		"order":            {v1alpha1.Claim{Monotonic: order, Published: figures(100, 500, 490)}, "higher", claims.Holds, "weakest step, from rowsPerCommit=4 to rowsPerCommit=16: 0.98×"},
		"order, not so":    {v1alpha1.Claim{Monotonic: order, Published: figures(100, 500, 400)}, "higher", claims.DoesNotHold, "0.80×"},
		"order, gaps":      {v1alpha1.Claim{Monotonic: order, Published: figures(100, 500)}, "higher", claims.CannotSay, "no figure of rowsPerCommit=16"},
		"no rival":         {v1alpha1.Claim{BestAt: &v1alpha1.BestAtClaim{At: testutil.AtRows("1")}, Published: figures(100)}, "higher", claims.CannotSay, "too few figures"},
		"no difference":    {v1alpha1.Claim{Ratio: &v1alpha1.RatioClaim{Of: testutil.AtRows("4"), To: testutil.AtRows("1"), WithinPercent: 5}, Published: figures(100, 101)}, "higher", claims.Holds, "1.01×"},
		"a difference":     {v1alpha1.Claim{Ratio: &v1alpha1.RatioClaim{Of: testutil.AtRows("4"), To: testutil.AtRows("1"), WithinPercent: 5}, Published: figures(100, 80)}, "higher", claims.DoesNotHold, "0.80×"},
		"falling":          {v1alpha1.Claim{Monotonic: &v1alpha1.MonotonicClaim{Parameter: "rowsPerCommit", Direction: v1alpha1.DirectionFalling, WithinPercent: 5}, Published: figures(300, 200, 100)}, "higher", claims.Holds, "3× from"},
		"falling, it rose": {v1alpha1.Claim{Monotonic: &v1alpha1.MonotonicClaim{Parameter: "rowsPerCommit", Direction: v1alpha1.DirectionFalling, WithinPercent: 5}, Published: figures(300, 100, 200)}, "higher", claims.DoesNotHold, "from rowsPerCommit=16 to rowsPerCommit=4: 0.50×"},
	} {
		t.Run(name, func(t *testing.T) {
			j := judged(tc.claim, bySize(tc.better, 6, 100, 500, 1000))
			if j.Published != tc.verdict || !strings.Contains(j.PublishedDetail, tc.says) {
				t.Errorf("%q: %q", j.Published, j.PublishedDetail)
			}
		})
	}
}

// Two metrics of one point are compared as those of two points are.
func TestTwoMetrics(t *testing.T) {
	const six = 6
	values := map[string][]stats.Point{
		"commitMicros": bySize("lower", six, 900, 900, 900), "insertMicros": bySize("lower", six, 100, 300, 1800),
	}
	for metric, list := range values {
		for i := range list {
			list[i].Metric.Name = metric
		}
	}
	measured := func(metric string) []stats.Point { return values[metric] }
	for name, tc := range map[string]struct {
		of, to, metric     string
		verdict, published claims.Verdict
		says               string
	}{
		"one point":   {"1", "1", "insertMicros", claims.Holds, claims.Holds, "9"},
		"two points":  {"1", "4", "insertMicros", claims.Holds, claims.CannotSay, "3"},
		"not so":      {"16", "16", "insertMicros", claims.DoesNotHold, claims.DoesNotHold, "0.50"},
		"no such one": {"1", "1", "coffee", claims.CannotSay, "", "no metric named coffee was measured"},
	} {
		t.Run(name, func(t *testing.T) {
			c := v1alpha1.Claim{
				Metric: "commitMicros", Ratio: &v1alpha1.RatioClaim{Of: testutil.AtRows(tc.of), To: testutil.AtRows(tc.to), ToMetric: tc.metric, AtLeast: "2"},
				Published: []v1alpha1.PublishedFigure{
					{Of: testutil.AtRows("1"), Value: "80"},
					{Of: testutil.AtRows("1"), Metric: "insertMicros", Value: "20"},
					{Of: testutil.AtRows("16"), Metric: "commitMicros", Value: "80"},
					{Of: testutil.AtRows("16"), Metric: "insertMicros", Value: "160"},
				},
			}
			j := claims.Judge([]v1alpha1.Claim{c}, measured, stats.PairedRatio)[0]
			if j.Verdict != tc.verdict || j.Published != tc.published || !strings.Contains(j.Detail, tc.says) {
				t.Errorf("%s, published %q: %s", j.Verdict, j.Published, j.Detail)
			}
			must.Do(t, claims.Check(v1alpha1.Claims{c}, bySize("lower", 0, 1, 2, 3)))
		})
	}
}

// What a claim is about must be measured, and be told apart.
func TestCheck(t *testing.T) {
	series := bySize("higher", 0, 1, 2, 3)
	for i, c := range series {
		c.Variant, series[i].Variant = "tuned", "default"
		series = append(series, c)
	}
	of := func(variant, value string) v1alpha1.PointSelector {
		s := testutil.AtRows(value)
		s.Variant = variant
		return s
	}
	tuned := v1alpha1.PointSelector{Variant: "tuned"}
	for name, tc := range map[string]struct {
		claim v1alpha1.Claim
		says  string
	}{
		"ratio":          {v1alpha1.Claim{Ratio: &v1alpha1.RatioClaim{Of: of("tuned", "1"), To: of("default", "1")}}, ""},
		"number":         {v1alpha1.Claim{Ratio: &v1alpha1.RatioClaim{Of: of("tuned", "1.0"), To: of("default", "1")}}, ""},
		"two variants":   {v1alpha1.Claim{Ratio: &v1alpha1.RatioClaim{Of: testutil.AtRows("1"), To: of("default", "1")}}, "of: rowsPerCommit=1 names 2 points but must name exactly one: default at"},
		"no such value":  {v1alpha1.Claim{Ratio: &v1alpha1.RatioClaim{Of: of("tuned", "2"), To: of("default", "1")}}, "of: tuned at rowsPerCommit=2 names no point"},
		"no parameter":   {v1alpha1.Claim{BestAt: &v1alpha1.BestAtClaim{At: v1alpha1.PointSelector{Parameters: map[string]v1alpha1.SelectedValue{"x": testutil.SelectedText("1")}}}}, "bestAt: x=1 names no point of everything"},
		"the same":       {v1alpha1.Claim{Ratio: &v1alpha1.RatioClaim{Of: of("tuned", "1"), To: of("tuned", "1")}}, "of and to name the same point, tuned at clients=5, rowsPerCommit=1"},
		"all are best":   {v1alpha1.Claim{BestAt: &v1alpha1.BestAtClaim{At: tuned, Among: tuned}}, "names every point"},
		"best variant":   {v1alpha1.Claim{BestAt: &v1alpha1.BestAtClaim{At: tuned}}, ""},
		"order":          {v1alpha1.Claim{Monotonic: &v1alpha1.MonotonicClaim{Parameter: "rowsPerCommit", Among: tuned}}, ""},
		"mixed order":    {v1alpha1.Claim{Monotonic: &v1alpha1.MonotonicClaim{Parameter: "rowsPerCommit"}}, "differ in more than rowsPerCommit"},
		"order of what":  {v1alpha1.Claim{Monotonic: &v1alpha1.MonotonicClaim{Parameter: "x", Among: tuned}}, "has no parameter x"},
		"order of one":   {v1alpha1.Claim{Monotonic: &v1alpha1.MonotonicClaim{Parameter: "rowsPerCommit", Among: of("tuned", "1")}}, "names 1 points, but an order takes at least 3"},
		"published":      {v1alpha1.Claim{Ratio: &v1alpha1.RatioClaim{Of: of("tuned", "1"), To: of("default", "1")}, Published: []v1alpha1.PublishedFigure{{Of: testutil.AtRows("7"), Value: "1"}}}, "published: rowsPerCommit=7 names no point"},
		"published once": {v1alpha1.Claim{Ratio: &v1alpha1.RatioClaim{Of: of("tuned", "1"), To: of("default", "1")}, Published: []v1alpha1.PublishedFigure{{Of: of("tuned", "1"), Value: "1"}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tc.claim.Name = "c"
			err := claims.Check(v1alpha1.Claims{tc.claim}, series)
			if tc.says == "" && err != nil || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("error %v, want %q", err, tc.says)
			}
		})
	}
}

// The error of the answers holds over several claims, whose truth is at their bounds: the worst case.
func TestErrorOverClaims(t *testing.T) {
	const runs, rounds = 2000, 6
	noise := rand.New(rand.NewPCG(3, 4))
	list := []v1alpha1.Claim{
		{Ratio: &v1alpha1.RatioClaim{Of: testutil.AtRows("4"), To: testutil.AtRows("1"), AtLeast: "1"}},
		{Ratio: &v1alpha1.RatioClaim{Of: testutil.AtRows("16"), To: testutil.AtRows("1"), AtMost: "1"}},
		{BestAt: &v1alpha1.BestAtClaim{At: testutil.AtRows("1")}},
	}
	wrong := 0
	for range runs {
		series := bySize("higher", 0, 1, 1, 1)
		for i := range series {
			for range rounds {
				series[i].Values = append(series[i].Values, 100*(1+0.05*noise.NormFloat64()))
			}
		}
		for _, j := range claims.Judge(list, func(string) []stats.Point { return series }, stats.PairedRatio) {
			if j.Verdict != claims.CannotSay {
				wrong++
				break
			}
		}
	}
	if share := float64(wrong) / runs; share > 0.06 {
		t.Errorf("an answer in %.1f%% of runs", 100*share)
	}
}

// A value that selects a point may be written as a number or as a text. It stays as it was written, and selects the same.
func TestSelectedValue(t *testing.T) {
	for written, want := range map[string]string{"16": "16", `"16"`: "16", `"0.5"`: "0.5", `"InnoDB"`: "InnoDB"} {
		var s v1alpha1.PointSelector
		must.Do(t, json.Unmarshal([]byte(`{"parameters":{"p":`+written+`}}`), &s))
		again, err := json.Marshal(&s)
		if got := s.Parameters["p"].String(); got != want || err != nil || string(again) != `{"parameters":{"p":`+written+`}}` {
			t.Errorf("%s is %q, and becomes %s (%v)", written, got, again, err)
		}
	}
}
