// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tproch

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Scale is a scale factor in hundredths: 100 is about a gigabyte of text. Steps are hundredths because the number of
// suppliers must be divisible by four for a part's four suppliers to be different ones.
type Scale int64

// MaxScale keeps all keys but those of orders within 32 bits.
const MaxScale Scale = 1000_00

var scaleText = regexp.MustCompile(`^(0|[1-9][0-9]{0,3})(\.[0-9]{1,2})?$`)

// ParseScale reads a scale factor: from 0.01 to 1000, with at most two decimal places.
func ParseScale(text string) (Scale, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64)
	if !scaleText.MatchString(text) || err != nil || n < 1 || Scale(n) > MaxScale {
		return 0, fmt.Errorf("scaleFactor is %q but must be 0.01 to 1000 with at most two decimal places", text)
	}
	return Scale(n), nil
}
