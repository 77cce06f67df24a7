// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"time"

	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
)

const (
	// timeDays are the days from 2010-01-01 on in which files were modified, TimeSpan the same in microseconds.
	timeDays = 3652
	TimeSpan = timeDays * 24 * uint64(time.Hour/time.Microsecond)
)

// days has the texts of these days.
var days = func() (all [timeDays][len(time.DateOnly)]byte) {
	for i := range all {
		copy(all[i][:], time.Date(2010, time.January, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly))
	}
	return all
}()

// AppendTime appends the time so many microseconds after the beginning of 2010, as DATETIME(6) has it.
func AppendTime(dst []byte, micros uint64) []byte {
	const second = 1_000_000
	fraction := micros % second
	a, b, c := TwoDigits[fraction/10000], TwoDigits[fraction/100%100], TwoDigits[fraction%100]
	return append(AppendSecond(dst, micros/second), '.', a[0], a[1], b[0], b[1], c[0], c[1])
}

// AppendSecond appends the time so many seconds after the beginning of 2010, as DATETIME has it.
func AppendSecond(dst []byte, seconds uint64) []byte {
	day, clock := seconds/86400, seconds%86400
	dst = append(dst, days[day][:]...)
	hour, minute, second := TwoDigits[clock/3600], TwoDigits[clock/60%60], TwoDigits[clock%60]
	return append(dst, ' ', hour[0], hour[1], ':', minute[0], minute[1], ':', second[0], second[1])
}

// dates are the days that files were modified, in the binary form.
var dates = func() (all [timeDays]mysqlwire.Date) {
	for i := range all {
		year, month, day := time.Date(2010, time.January, 1+i, 0, 0, 0, 0, time.UTC).Date()
		all[i] = mysqlwire.NewDate(year, int(month), day)
	}
	return all
}()

// AppendTimeValue is AppendTime in the binary form.
func AppendTimeValue(v mysqlwire.Values, dst []byte, micros uint64) []byte {
	const second, day = 1_000_000, 86400
	seconds := micros / second
	return v.AppendDatetime(dst, dates[seconds/day], uint32(seconds%day), uint32(micros%second))
}
