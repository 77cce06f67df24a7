// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package innodb

import (
	"strings"
	"testing"
)

func TestMeant(t *testing.T) {
	for _, tc := range []struct{ name, value, meant, set, says string }{
		{"innodb_buffer_pool_size", "48M", "innodb_buffer_pool_size", "48M", ""},
		{"innodb-buffer-pool-size", "48M", "innodb_buffer_pool_size", "48M", "write innodb_buffer_pool_size: a name is"},
		{"--Max_Connections", "300", "max_connections", "300", "write max_connections"},
		{`"sort_buffer_size"`, "1", "sort_buffer_size", "1", "write sort_buffer_size"},
		{"x", "48MB", "x", "48M", `write "48M" in place of "48MB": a size is a whole number`},
		{"x", "48 mib", "x", "48M", `write "48M"`},
		{"x", "1.5M", "x", "1536K", `write "1536K" in place of "1.5M"`},
		{"x", "1.5GB", "x", "1536M", `write "1536M"`},
		{"x", "0.3K", "x", "307", `write "307"`},
		{"x", "2M # per thread", "x", "2M", `write "2M" in place of "2M # per thread": what follows is no comment`},
		{"x", "48MB ; half", "x", "48M", `write "48M"`},
		{"x", "'O_DIRECT'", "x", "O_DIRECT", `write "O_DIRECT" in place of "'O_DIRECT'": the quotation marks`},
		{"x", `""`, "x", "", `write "" in place of`},
		{"x", `"SET a; # b"`, "x", "SET a; # b", "the quotation marks"},
		{"x", `"a" # b`, "x", "a", "the quotation marks"},
		// What servers take, or what only they can judge.
		{"x", "", "x", "", ""},
		{"x", "1e3", "x", "1e3", ""},
		{"x", "0.25", "x", "0.25", ""},
		{"x", "128Mi", "x", "128Mi", ""},
		{"init_connect", `SET @a = "#1; it's"`, "init_connect", `SET @a = "#1; it's"`, ""},
		{"x", "a'b'", "x", "a'b'", ""},
		{"x", "'a' 'b'", "x", "'a' 'b'", ""},
		{"loose_x", "stage/%=ON", "loose_x", "stage/%=ON", ""},
	} {
		meant, set, wrong := meant(tc.name, tc.value)
		said := strings.Join(wrong, "; ")
		if meant != tc.meant || set != tc.set || !strings.Contains(said, tc.says) || (tc.says == "") != (said == "") {
			t.Errorf("%s=%s: %s=%s: %s", tc.name, tc.value, meant, set, said)
		}
	}
}
