// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strings"
)

// called is what a message in a namespace calls a holder: readers of the message may be allowed to see that namespace only.
func (h Holder) called(namespace string, anonymous bool) string {
	words, elsewhere := h.named(namespace, anonymous)
	if elsewhere {
		words += " of another namespace"
	}
	return words
}

// named is a holder by its name or, if the name is not told, by its kind; elsewhere says that it is in another namespace.
func (h Holder) named(namespace string, anonymous bool) (words string, elsewhere bool) {
	switch {
	case !anonymous || h.Namespace == namespace:
		return h.String(), false
	case h.Kind == RunKind, h.Kind == ComparisonKind:
		return "a " + strings.ToLower(strings.TrimPrefix(h.Kind, "Benchmark")), true
	}
	return "an unrecognized holder", false
}

// holder is what a message to somebody who waits calls the holder of the lane, with the Lease if the message does not name it.
func (l *Lane) holder(lane string, one Holder) string {
	words, elsewhere := l.Holder.named(one.Namespace, l.Anonymous)
	lease := ""
	switch {
	case l.Foreign:
		words, lease = words+" of another installation", " (Lease "+l.Lease+")"
	case elsewhere:
		words += " of another namespace"
	}
	if l.Anonymous && l.Holder.Namespace != one.Namespace {
		lease = " (Lease " + l.Lease + ")"
	}
	return fmt.Sprintf("%s, which holds lane %s%s", words, lane, lease)
}
