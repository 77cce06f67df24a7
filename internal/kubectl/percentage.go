// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"fmt"
	"strconv"
	"strings"
)

// percentage is a flag: a fraction above 0, written like 5% or 0.5%.
type percentage float64

func (p *percentage) String() string {
	if *p == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*p)*100, 'g', -1, 64) + "%"
}

// Set implements pflag.Value.
func (p *percentage) Set(text string) error {
	value, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(value > 0 && value <= maxPercent) {
		return fmt.Errorf("use a percentage above 0 and up to %d, for example 5%%", maxPercent)
	}
	*p = percentage(value / 100)
	return nil
}

// maxPercent is the largest percentage that a flag takes.
const maxPercent = 1000

// Type implements pflag.Value.
func (*percentage) Type() string { return "percentage" }
