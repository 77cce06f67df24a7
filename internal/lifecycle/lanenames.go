// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strings"
)

// called is what a message in a namespace calls a holder: readers of the message may be allowed to see that namespace only.
func (h Holder) called(namespace string, anonymous bool) string {
	switch {
	case !anonymous || h.Namespace == namespace:
		return h.String()
	case h.Kind == RunKind, h.Kind == SuiteKind:
		return fmt.Sprintf("a %s of another namespace", strings.ToLower(strings.TrimPrefix(h.Kind, "Benchmark")))
	}
	return "a holder that is no run and no suite"
}

// holder is what a message to somebody who waits calls the holder of the lane, with the Lease if the message does not name it.
func (l *Lane) holder(lane string, one Holder) string {
	words, lease := l.Holder.called(one.Namespace, l.Anonymous), ""
	if l.Foreign {
		words, lease = strings.TrimSuffix(words, " of another namespace")+" of another installation", " (Lease "+l.Lease+")"
	}
	if l.Anonymous && l.Holder.Namespace != one.Namespace {
		lease = " (Lease " + l.Lease + ")"
	}
	return fmt.Sprintf("%s, which holds lane %s%s", words, lane, lease)
}
