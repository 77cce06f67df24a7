// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"bytes"
	"fmt"
)

// encodings are what files begin with that are no UTF-8, the longer ones first.
var encodings = []struct{ prefix, name, way string }{
	{"\x00\x00\xfe\xff", "UTF-32", "iconv -f UTF-32 -t UTF-8"},
	{"\xff\xfe\x00\x00", "UTF-32", "iconv -f UTF-32 -t UTF-8"},
	{"\xff\xfe", "UTF-16", "iconv -f UTF-16 -t UTF-8"},
	{"\xfe\xff", "UTF-16", "iconv -f UTF-16 -t UTF-8"},
	{"\x1f\x8b", "compressed by gzip", "gunzip"},
	{"\xfd7zXZ\x00", "compressed by xz", "unxz"},
	{"\x28\xb5\x2f\xfd", "compressed by zstd", "unzstd"},
	{"PK\x03\x04", "a ZIP archive or a spreadsheet", "unzip, or an export as CSV"},
}

// longestPrefix is how much of a file notUTF8 needs.
const longestPrefix = 6

// notUTF8 says what a file is that begins like this, if that is no text in UTF-8.
func notUTF8(begin []byte) string {
	for _, e := range encodings {
		if bytes.HasPrefix(begin, []byte(e.prefix)) {
			return fmt.Sprintf("is %s, and must be text in UTF-8: convert it with %s", e.name, e.way)
		}
	}
	return ""
}
