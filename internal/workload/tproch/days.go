// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tproch

import "time"

// Days count from 1992-01-01. Orders are of 1992-01-02 to 1998-08-02, and what belongs to them happens within 151 days.
const (
	firstOrderDay = 1
	lastOrderDay  = 2405
	lastDay       = lastOrderDay + 121 + 30
)

// currentDay is what the rules take for today, 1995-06-17: what was received or shipped until then is done.
const currentDay = 1263

// dates has each day as YYYY-MM-DD.
var dates = func() (all [lastDay + 1][len(time.DateOnly)]byte) {
	origin := time.Date(1992, time.January, 1, 0, 0, 0, 0, time.UTC)
	for day := range all {
		copy(all[day][:], origin.AddDate(0, 0, day).Format(time.DateOnly))
	}
	return all
}()

func appendDate(dst []byte, day int64) []byte { return append(dst, dates[day][:]...) }
