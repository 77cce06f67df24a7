// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"fmt"
	"regexp"
	"strconv"
)

// percentage is a flag: a fraction, written like 5% or 0.5.
type percentage struct {
	fraction float64
	// below is the percentage that is too much.
	below float64
}

var percentText = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?%?$`)

// String implements pflag.Value.
func (p *percentage) String() string {
	if p.fraction == 0 {
		return ""
	}
	return strconv.FormatFloat(p.fraction*100, 'g', 6, 64) + "%"
}

// Set implements pflag.Value.
func (p *percentage) Set(text string) error {
	if match := percentText.FindStringSubmatch(text); match != nil {
		if percent, err := strconv.ParseFloat(match[1], 64); err == nil && percent < p.below {
			p.fraction = percent / 100
			return nil
		}
	}
	return fmt.Errorf("use a number from 0 to below %g, for example 5%% or 0.5%%", p.below)
}

// Type implements pflag.Value.
func (*percentage) Type() string { return "percentage" }
