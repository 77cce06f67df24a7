// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

const (
	effective = result.SettingEffective
	adjusted  = result.SettingAdjusted
	refused   = result.SettingRefused
	ignored   = result.SettingIgnored
)

// mariaDB is that engine with what a server of version 11.8 says about some variables.
var mariaDB = describe(engine.MariaDB, map[string]base.Rounding{
	"innodb_buffer_pool_size": {To: 1 << 20}, "key_buffer_size": {To: 4 << 10}, "max_allowed_packet": {To: 1 << 10},
	"net_buffer_length": {To: 1 << 10},
}, map[string][]string{
	"binlog_format": {"MIXED", "STATEMENT", "ROW"}, "delay_key_write": {"OFF", "ON", "ALL"},
	"innodb_flush_method": {"fsync", "O_DSYNC", "littlesync", "nosync", "O_DIRECT", "O_DIRECT_NO_FSYNC"},
	"tx_isolation":        {"READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"},
})

// What the engine knows holds where the server says less, and neither changes the engine.
func TestDescribe(t *testing.T) {
	v := &mariaDB.Variables
	if len(v.Rounded["innodb_buffer_pool_size"].By) == 0 || v.Rounded["net_buffer_length"].To != 1024 ||
		len(v.Enums["delay_key_write"]) != 3 {
		t.Errorf("%+v, %+v", v.Rounded, v.Enums)
	}
	if _, changed := engine.MariaDB.Variables.Rounded["net_buffer_length"]; changed || len(engine.MariaDB.Variables.Enums) > 0 {
		t.Error("the engine itself was changed")
	}
}

func TestCompareValues(t *testing.T) {
	for _, tc := range []struct {
		name, requested, effective string
		want                       result.SettingOutcome
	}{
		// Sizes.
		{"innodb_buffer_pool_size", "134217728", "134217728", effective},
		{"innodb_buffer_pool_size", "128M", "134217728", effective},
		{"innodb_buffer_pool_size", "128m", "134217728", effective},
		{"innodb_buffer_pool_size", "128Mi", "134217728", effective},
		{"innodb_buffer_pool_size", "131072K", "134217728", effective},
		{"innodb_buffer_pool_size", "131072Ki", "134217728", effective},
		{"innodb_buffer_pool_size", "2G", "2147483648", effective},
		{"innodb_buffer_pool_size", "1T", "1099511627776", effective},
		{"innodb_buffer_pool_size", "1Pi", "1125899906842624", effective},
		{"innodb_buffer_pool_size", "1E", "1152921504606846976", effective},
		{"innodb_buffer_pool_size", "0.5G", "536870912", effective},
		{"innodb_buffer_pool_size", "128M", "128M", effective},
		{"innodb_buffer_pool_size", "128M", "256M", refused},
		{"innodb_buffer_pool_size", "128MB", "134217728", refused},
		{"innodb_buffer_pool_size", "128M", "128", refused},
		// Rounding, as servers do it, and what is more than that.
		{"max_allowed_packet", "1000001", "1000000", adjusted},
		{"max_allowed_packet", "1000001", "999424", adjusted},
		{"innodb_buffer_pool_size", "134217000", "134217728", adjusted},
		{"innodb_buffer_pool_size", "130M", "134217728", refused},
		{"net_buffer_length", "17407", "16384", adjusted},
		{"net_buffer_length", "17408", "16384", refused},
		{"net_buffer_length", "1126", "1024", adjusted},
		{"net_buffer_length", "1138", "1024", refused},
		{"key_buffer", "134217729", "134217728", adjusted},
		{"long_query_time", "0.1234567", "0.123457", adjusted},
		{"long_query_time", "10.1", "10.000000", refused},
		// What is simply another value, however near.
		{"max_connections", "152", "151", refused},
		{"innodb_io_capacity", "2000", "1999", refused},
		{"innodb_log_file_size", "100M", "96M", refused},
		{"max_connections", "0", "1", refused},
		{"max_connections", "1", "0", refused},
		{"max_connections", "10", "-10", refused},
		{"thread_pool_size", "-1", "-1", effective},
		{"thread_pool_size", "-100", "-99", refused},
		// Other numbers.
		{"max_connections", "1e3", "1000", effective},
		{"max_connections", "1E+3", "1000", effective},
		{"max_connections", "0x3e8", "1000", effective},
		{"max_connections", "0X3E8", "1000", effective},
		{"max_connections", "1000.0", "1000", effective},
		{"max_connections", "+1000", "1000", effective},
		{"max_connections", "0100", "100", effective},
		{"innodb_max_dirty_pages_pct", "90", "90.000000", effective},
		{"innodb_max_dirty_pages_pct", ".5", "0.500000", effective},
		{"long_query_time", "10", "10.000000", effective},
		{"max_statement_time", "0", "0.000000", effective},
		{"big", "18446744073709551615", "18446744073709551615", effective},
		{"big", "18446744073709551615", "18446744073709551614", refused},
		{"big", "1e999999999", "1", refused},
		{"big", "1/2", "0.5", refused},
		{"big", "", "0", refused},
		// Switches.
		{"autocommit", "1", "ON", effective},
		{"autocommit", "on", "ON", effective},
		{"autocommit", "TRUE", "ON", effective},
		{"autocommit", "yes", "ON", effective},
		{"autocommit", "0", "OFF", effective},
		{"autocommit", "off", "OFF", effective},
		{"autocommit", "False", "OFF", effective},
		{"autocommit", "NO", "OFF", effective},
		{"autocommit", "0", "ON", refused},
		{"autocommit", "ON", "OFF", refused},
		{"autocommit", "2", "ON", refused},
		{"innodb_flush_log_at_trx_commit", "ON", "1", effective},
		{"innodb_flush_log_at_trx_commit", "1", "2", refused},
		{"innodb_flush_log_at_trx_commit", "2", "1", refused},
		{"have_ssl", "YES", "DISABLED", refused},
		// Enums.
		{"binlog_format", "row", "ROW", effective},
		{"binlog_format", "2", "ROW", effective},
		{"binlog_format", "1", "ROW", refused},
		{"binlog_format", "mixed", "ROW", refused},
		{"innodb_flush_method", "o_direct", "O_DIRECT", effective},
		{"innodb_flush_method", "4", "O_DIRECT", effective},
		{"innodb_flush_method", "O_DIRECT", "fsync", refused},
		{"innodb_flush_method", "99", "O_DIRECT", refused},
		{"tx_isolation", "1", "READ-COMMITTED", effective},
		{"transaction_isolation", "1", "READ-COMMITTED", effective},
		{"delay_key_write", "2", "ALL", effective},
		{"unknown_enum", "2", "ALL", refused},
		{"default_storage_engine", "innodb", "InnoDB", effective},
		// Sets.
		{"sql_mode", "STRICT_TRANS_TABLES,NO_ZERO_DATE", "NO_ZERO_DATE,STRICT_TRANS_TABLES", effective},
		{"sql_mode", "strict_trans_tables, no_zero_date", "NO_ZERO_DATE,STRICT_TRANS_TABLES", effective},
		{"sql_mode", "STRICT_TRANS_TABLES", "NO_ZERO_DATE,STRICT_TRANS_TABLES", refused},
		{"sql_mode", "STRICT_TRANS_TABLES,NO_ZERO_DATE", "STRICT_TRANS_TABLES", refused},
		{"sql_mode", "", "STRICT_TRANS_TABLES", refused},
		{"sql_mode", "", "", effective},
		{"sql_mode", "TRADITIONAL", "STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,TRADITIONAL", effective},
		{"optimizer_switch", "mrr=on", "index_merge=on,mrr=on,mrr_cost_based=off", effective},
		{"optimizer_switch", "mrr_cost_based=off,MRR=on", "index_merge=on,mrr=on,mrr_cost_based=off", effective},
		{"optimizer_switch", "default,mrr=on", "index_merge=on,mrr=on", effective},
		{"optimizer_switch", "mrr=on", "index_merge=on,mrr=off", refused},
		{"optimizer_switch", "nonsense=on", "index_merge=on,mrr=on", refused},
		{"log_output", "TABLE,FILE", "FILE,TABLE", effective},
		{"tls_version", "TLSv1.2,TLSv1.3", "TLSv1.3,TLSv1.2", effective},
		// Paths and texts.
		{"tmpdir", "/var/tmp", "/var/tmp", effective},
		{"tmpdir", "/var/tmp", "/var/TMP", refused},
		{"tmpdir", "/var/tmp", "/var/tmp/", refused},
		{"tmpdir", "/a,/b", "/b,/a", refused},
		{"init_connect", "SET NAMES utf8mb4", "SET NAMES utf8mb4", effective},
		{"character_set_server", "UTF8MB4", "utf8mb4", effective},
		{"collation_server", "utf8mb4_bin", "utf8mb4_general_ci", refused},
		{"time_zone", "+00:00", "+00:00", effective},
		{"time_zone", "+00:00", "SYSTEM", refused},
	} {
		if got := compareValues(mariaDB, nil, tc.name, tc.requested, tc.effective); got != tc.want {
			t.Errorf("%s: %q asked for, %q found: %s, want %s", tc.name, tc.requested, tc.effective, got, tc.want)
		}
	}
}

func TestCompareSettings(t *testing.T) {
	variables := map[string]string{
		"log_bin": "OFF", "skip_name_resolve": "ON", "innodb_flush_log_at_trx_commit": "1", "tx_isolation": "READ-COMMITTED",
		"innodb_doublewrite": "ON", "init_connect": "", "default_storage_engine": "InnoDB", "performance_schema": "ON",
		"time_zone": "SYSTEM",
	}
	for _, tc := range []struct {
		setting   result.Setting
		effective string
		want      result.SettingOutcome
	}{
		{result.Setting{Name: "skip_log_bin"}, "OFF", effective},
		{result.Setting{Name: "skip-log-bin"}, "OFF", effective},
		{result.Setting{Name: "skip_log_bin", Value: "1"}, "OFF", effective},
		{result.Setting{Name: "skip_log_bin", Value: "OFF"}, "OFF", refused},
		{result.Setting{Name: "skip_performance_schema"}, "ON", refused},
		{result.Setting{Name: "skip_innodb_doublewrite"}, "ON", refused},
		{result.Setting{Name: "skip_name_resolve"}, "ON", effective},
		{result.Setting{Name: "skip_name_resolve", Value: "OFF"}, "ON", refused},
		{result.Setting{Name: "innodb_doublewrite"}, "ON", effective},
		{result.Setting{Name: "init_connect"}, "", effective},
		{result.Setting{Name: "INNODB-Flush-Log-At-Trx-Commit", Value: "1"}, "1", effective},
		{result.Setting{Name: "loose_innodb_flush_log_at_trx_commit", Value: "1"}, "1", effective},
		{result.Setting{Name: "innodb_flush_log_at_trx_commit", Value: "2", Loose: true}, "1", refused},
		{result.Setting{Name: "transaction_isolation", Value: "read-committed"}, "READ-COMMITTED", effective},
		{result.Setting{Name: "transaction_isolation", Value: "1"}, "READ-COMMITTED", effective},
		{result.Setting{Name: "default_time_zone", Value: "system"}, "SYSTEM", effective},
		{result.Setting{Name: "rocksdb_block_size", Value: "8K", Loose: true}, "", ignored},
		{result.Setting{Name: "loose_rocksdb_block_size", Value: "8K"}, "", ignored},
		{result.Setting{Name: "loose-rocksdb-block-size", Value: "8K"}, "", ignored},
		{result.Setting{Name: "skip_rocksdb", Loose: true}, "", ignored},
		{result.Setting{Name: "rocksdb_block_size", Value: "8K"}, "", refused},
		{result.Setting{Name: "skip_rocksdb"}, "", refused},
	} {
		got := CompareSettings(mariaDB, []result.Setting{tc.setting}, variables, new(Taken))
		want := []result.AppliedSetting{{
			Name: tc.setting.Name, Requested: tc.setting.Value, Effective: tc.effective, Outcome: tc.want,
		}}
		must.Same(t, fmt.Sprintf("%+v", tc.setting), want, got)
	}
}

// Older servers round the buffer pool up to a multiple of the chunks that they have chosen for it, in all instances together.
// Newer ones have neither variable, or only that of the chunks.
func TestRoundedByOtherVariables(t *testing.T) {
	for name, tc := range map[string]struct {
		effective, chunk, instances string
		want                        map[string]result.SettingOutcome
	}{
		"one instance": {"134217728", "8388608", "1", map[string]result.SettingOutcome{
			"128M": effective, "121M": adjusted, "120M": refused, "136M": refused,
		}},
		"without instances": {"134217728", "8388608", "", map[string]result.SettingOutcome{"121M": adjusted, "120M": refused}},
		"eight instances": {"3221225472", "134217728", "8", map[string]result.SettingOutcome{
			"3G": effective, "2900M": adjusted, "2560M": refused, // 20% off is another pool
		}},
		"without either": {"134217728", "", "", map[string]result.SettingOutcome{"128M": effective, "121M": refused}},
	} {
		t.Run(name, func(t *testing.T) {
			variables := map[string]string{"innodb_buffer_pool_size": tc.effective}
			for variable, value := range map[string]string{
				"innodb_buffer_pool_chunk_size": tc.chunk, "innodb_buffer_pool_instances": tc.instances,
			} {
				if value != "" {
					variables[variable] = value
				}
			}
			for value, want := range tc.want {
				applied := CompareSettings(engine.MariaDB, []result.Setting{{Name: "innodb_buffer_pool_size", Value: value}}, variables, new(Taken))
				must.Same(t, value, want, applied[0].Outcome)
			}
		})
	}
}

func TestRefusedSettingsNamesEachOne(t *testing.T) {
	variables := map[string]string{"sync_binlog": "0", "autocommit": "ON", "max_connections": "151"}
	requested := []result.Setting{
		{Name: "autocommit", Value: "1"},
		{Name: "innodb_bufer_pool_size", Value: "1G"},
		{Name: "max_connections", Value: "152"},
		{Name: "sync_binlog", Value: "1"},
	}
	applied := CompareSettings(engine.MariaDB, requested, variables, new(Taken))
	err := RefusedSettings(engine.MariaDB, requested, applied, variables)
	const want = `innodb_bufer_pool_size=1G was requested, but the server has no such variable; ` +
		`max_connections=152 was requested, but the server has "151"; ` +
		`sync_binlog=1 was requested, but the server has "0"`
	must.Same(t, "error", want, must.Text(err))
	must.Same(t, "reason", result.CauseSettingNotEffective, failure.Describe(t.Context(), err).Reason)
	must.Do(t, RefusedSettings(engine.MariaDB, requested[:1], applied[:1], variables))
}

func TestAdjustments(t *testing.T) {
	got := adjustmentTexts([]result.AppliedSetting{
		{Name: "a", Requested: "1000", Effective: "1010", Outcome: adjusted},
		{Name: "b", Requested: "1000", Effective: "1011", Outcome: adjusted},
		{Name: "c", Requested: "1000", Effective: "1", Outcome: refused},
		{Name: "d", Requested: "100M", Effective: "110100480", Outcome: adjusted},
	})
	want := []string{
		"the server rounded b=1000 to 1011, which is 1.1% off", "the server rounded d=100M to 110100480, which is 5.0% off",
	}
	must.Same(t, "warnings", want, got)
}

func TestSettingsDigestLeavesOutStateAndIdentity(t *testing.T) {
	one := map[string]string{"sync_binlog": "1", "gtid_current_pos": "0-1-5", "hostname": "a", "pid_file": "/a", "report_host": "x"}
	other := map[string]string{"sync_binlog": "1", "gtid_current_pos": "0-1-9", "hostname": "b", "ssl_key": "/k"}
	must.Same(t, "two servers that are set alike have two digests", SettingsDigest(engine.MariaDB, other), SettingsDigest(engine.MariaDB, one))
	if changed := ChangedVariables(engine.MariaDB, one, other); changed != nil {
		t.Errorf("changed: %v", changed)
	}
	other["sync_binlog"] = "0"
	other["extra"] = "1"
	if SettingsDigest(engine.MariaDB, one) == SettingsDigest(engine.MariaDB, other) {
		t.Error("two servers that are set otherwise have one digest")
	}
	want := []string{`extra was "" and is now "1"`, `sync_binlog was "1" and is now "0"`}
	must.Same(t, "changed", want, ChangedVariables(engine.MariaDB, one, other))
}

func adjustmentTexts(applied []result.AppliedSetting) []string {
	return finding.Texts(Adjustments(applied))
}
