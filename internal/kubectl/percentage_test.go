// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"math"
	"testing"
)

func TestPercentage(t *testing.T) {
	for text, want := range map[string]float64{"5%": 0.05, "5": 0.05, "0.5%": 0.005, "0": 0, "99.9 %": 0.999} {
		p := percentage{below: 100}
		if err := p.Set(text); err != nil || math.Abs(p.fraction-want) > 1e-12 {
			t.Errorf("%q: %g, %v", text, p.fraction, err)
		}
	}
	for _, text := range []string{"", "%", "-1", "-1%", "+5", "NaN", "nan%", "Inf", "1e3", "0x5", "100", "100%", "5%%", "five", "5 percent", ".5", "5."} {
		p := percentage{below: 100}
		if err := p.Set(text); err == nil {
			t.Errorf("%q is %g", text, p.fraction)
		}
	}
	for fraction, want := range map[float64]string{0: "", 0.05: "5%", 0.005: "0.5%", 0.07: "7%"} {
		if got := (&percentage{fraction: fraction}).String(); got != want {
			t.Errorf("%g is shown as %q, want %q", fraction, got, want)
		}
	}
}
