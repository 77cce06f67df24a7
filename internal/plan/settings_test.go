// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

func TestSettings(t *testing.T) {
	off := engine.Setting{Name: "log_bin", Value: "OFF", Line: "skip_log_bin"}
	cases := map[string]struct {
		db   v1alpha1.DatabaseSpec
		want []engine.Setting
	}{
		"nothing said":                       {v1alpha1.DatabaseSpec{}, []engine.Setting{off}},
		"nothing said of an external server": {v1alpha1.DatabaseSpec{Provisioner: v1alpha1.ProvisionerExternal}, nil},
		"said of an external server": {
			v1alpha1.DatabaseSpec{
				Provisioner: v1alpha1.ProvisionerExternal, Settings: v1alpha1.ServerSettings{BinaryLog: ptr.To(false)},
			},
			[]engine.Setting{off},
		},
		"binary log off": {v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{BinaryLog: ptr.To(false)}}, []engine.Setting{off}},
		"binary log on": {
			v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{BinaryLog: ptr.To(true)}},
			[]engine.Setting{{Name: "log_bin", Value: "ON", Line: "log_bin = binlog"}},
		},
		"all of them, sorted by name": {
			v1alpha1.DatabaseSpec{
				Settings: v1alpha1.ServerSettings{
					BufferPoolSize: ptr.To(resource.MustParse("1Gi")), LogFileSize: ptr.To(resource.MustParse("96M")),
					FlushLogAtTrxCommit: ptr.To[int32](0), BinaryLog: ptr.To(false),
				},
				Variables: map[string]v1alpha1.VariableValue{
					"sync_binlog": "0", "autocommit": "ON", "loose_innodb_future": "1", "sql_mode": "",
				},
			},
			[]engine.Setting{
				{Name: "autocommit", Value: "ON", Line: "autocommit = ON"},
				{Name: "innodb_buffer_pool_size", Value: "1073741824", Line: "innodb_buffer_pool_size = 1073741824"},
				{Name: "innodb_flush_log_at_trx_commit", Value: "0", Line: "innodb_flush_log_at_trx_commit = 0"},
				{Name: "innodb_future", Value: "1", Loose: true, Line: "loose_innodb_future = 1"},
				{Name: "innodb_log_file_size", Value: "96000000", Line: "innodb_log_file_size = 96000000"},
				off,
				{Name: "sql_mode", Line: "sql_mode = "},
				{Name: "sync_binlog", Value: "0", Line: "sync_binlog = 0"},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, plan.Settings(&engine.MariaDB, &tc.db)); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

// What the API has by name is each engine's own variable.
func TestSettingsOfMySQL(t *testing.T) {
	db := v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{
		BufferPoolSize: ptr.To(resource.MustParse("1Gi")), LogFileSize: ptr.To(resource.MustParse("96Mi")),
		FlushLogAtTrxCommit: ptr.To[int32](2),
	}}
	want := []engine.Setting{
		{Name: "innodb_buffer_pool_size", Value: "1073741824", Line: "innodb_buffer_pool_size = 1073741824"},
		{Name: "innodb_flush_log_at_trx_commit", Value: "2", Line: "innodb_flush_log_at_trx_commit = 2"},
		{Name: "innodb_redo_log_capacity", Value: "100663296", Line: "innodb_redo_log_capacity = 100663296"},
		{Name: "log_bin", Value: "OFF", Line: "skip_log_bin"},
	}
	if diff := cmp.Diff(want, plan.Settings(&engine.MySQL, &db)); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	db.Settings = v1alpha1.ServerSettings{BinaryLog: ptr.To(true)}
	if got := plan.Settings(&engine.MySQL, &db)[0].Line; got != "log_bin = binlog" {
		t.Errorf("the binary log is switched on by %q", got)
	}
}

// The value that is read back is the one that was asked for; only its line is quoted.
func TestSettingsQuoting(t *testing.T) {
	cases := map[string]string{
		"":                 ``,
		"STRICT,NO_ZERO":   `STRICT,NO_ZERO`,
		"a b":              `a b`,
		"a#b":              `"a#b"`,
		"a;b":              `"a;b"`,
		`a\b`:              `"a\\b"`,
		`\n`:               `"\\n"`,
		"it's":             `"it's"`,
		`say "a"`:          `"say \"a\""`,
		`\"`:               `"\\\""`,
		" a":               `" a"`,
		"a ":               `"a "`,
		"\ta":              "\"\ta\"",
		"ft_boolean + -><": `ft_boolean + -><`,
	}
	for value, want := range cases {
		t.Run(value, func(t *testing.T) {
			db := v1alpha1.DatabaseSpec{Variables: map[string]v1alpha1.VariableValue{"loose_x": v1alpha1.VariableValue(value)}}
			got := plan.Settings(&engine.MariaDB, &db)[1]
			if diff := cmp.Diff(engine.Setting{Name: "x", Value: value, Loose: true, Line: "loose_x = " + want}, got); diff != "" {
				t.Errorf("setting (-want +got):\n%s", diff)
			}
		})
	}
}
