// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package innodb holds what MariaDB and MySQL have in common.
package innodb

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/engine/base"
)

// Engine is what both engines have; each adds its own.
func Engine() base.Engine {
	return base.Engine{
		SQL: base.MySQL,
		Image: base.Image{
			Port:     3306,
			PortName: "mysql",
			User:     999,
			DataPath: "/var/lib/mysql", ConfigPath: "/etc/mysql/conf.d", RunPath: "/run/mysqld", Socket: "mysqld.sock",
			Processes:   []string{"mysqld"},
			Certificate: true,
			Superuser:   "root",
			ErrorEnd:    "Aborting",
		},
		Options: base.Options{
			Quote: quote,
			Meant: meant,
			// Besides those that are state or identity.
			Reserved: []string{"user", "skip_networking", "skip_grant_tables"},
			BufferPoolSize: func(bytes int64) base.Setting {
				return base.Assignment("innodb_buffer_pool_size", strconv.FormatInt(bytes, 10))
			},
			FlushLogAtTrxCommit: func(mode int32) base.Setting {
				return base.Assignment("innodb_flush_log_at_trx_commit", strconv.Itoa(int(mode)))
			},
			BinaryLog: binaryLog,
		},
		Variables: base.Variables{
			Version: "version", VersionComment: "version_comment",
			StateAndIdentity: slices.Clip(state),
			Hidden:           []string{"report_password"},
		},
		Counters: base.Counters{
			Uptime: "Uptime", Statements: "Questions",
			LockWaits:    "Innodb_row_lock_current_waits",
			PagesWritten: "Innodb_buffer_pool_pages_flushed",
			PoolData:     "Innodb_buffer_pool_bytes_data", RedoWritten: "Innodb_os_log_written",
			RestPattern: "Innodb%",
			Debt: []base.Gauge{{
				Counter: "Innodb_buffer_pool_pages_dirty", Description: "dirty pages", HundredthOf: "Innodb_buffer_pool_pages_total",
			}},
			Pending: []string{
				"Innodb_data_pending_fsyncs", "Innodb_data_pending_reads", "Innodb_data_pending_writes",
				"Innodb_os_log_pending_fsyncs", "Innodb_os_log_pending_writes",
			},
		},
		Durability: base.Durability{
			Commit:    []base.Durable{{Variable: "innodb_flush_log_at_trx_commit", Value: "1"}},
			BinaryLog: base.Durable{Variable: "sync_binlog", Value: "1"},
		},
		SystemSchemas: []string{"mysql", "sys", "information_schema", "performance_schema"},
	}
}

// binaryLog is said by one of two options: log_bin takes a file's name, so that "log_bin = OFF" would switch the log on, with
// files named "OFF".
func binaryLog(on bool) base.Setting {
	if on {
		return base.Setting{Name: "log_bin", Value: "ON", Line: "log_bin = binlog"}
	}
	return base.Setting{Name: "log_bin", Value: "OFF", Line: "skip_log_bin"}
}

// state of both families: what a server has done, who it is, where it listens, where its files are, and its keys.
var state = []string{
	"last_insert_id", "insert_id", "identity", "timestamp", "rand_seed1", "rand_seed2", "pseudo_thread_id", "error_count",
	"warning_count", "statement_id", "innodb_buffer_pool_load_now", "innodb_buffer_pool_load_abort", "innodb_buffer_pool_dump_now",
	"hostname", "server_id", "server_uuid", "report_*",
	"port", "admin_port", "admin_address", "mysqlx_port", "mysqlx_socket", "mysqlx_bind_address", "socket", "bind_address",
	"basedir", "datadir", "tmpdir", "slave_load_tmpdir", "replica_load_tmpdir", "pid_file", "plugin_dir", "character_sets_dir",
	"lc_messages_dir", "secure_file_priv", "log_error", "general_log_file", "slow_query_log_file", "log_bin_basename",
	"log_bin_index", "relay_log", "relay_log_basename", "relay_log_index", "innodb_data_home_dir", "innodb_directories",
	"innodb_doublewrite_dir", "innodb_log_group_home_dir", "innodb_temp_tablespaces_dir", "innodb_tmpdir", "innodb_undo_directory",
	"innodb_buffer_pool_filename", "admin_ssl_*", "mysqlx_ssl_*", "caching_sha2_password_private_key_path",
	"caching_sha2_password_public_key_path", "sha256_password_private_key_path", "sha256_password_public_key_path",
}

// quote protects a value with characters that option files treat as their own: '#' begins a comment, blanks at the ends
// are cut off, a backslash escapes.
func quote(value string) string {
	if !strings.ContainsAny(value, `#;\'"`) && value == strings.TrimSpace(value) {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// meant is how a specification has a line of an option file, and what was wrong with each of the two as they were written: names
// in lower case and with underscores; values without a comment and quotation marks, and sizes as whole numbers with the suffixes
// that servers know.
func meant(name, value string) (right, set string, wrong []string) {
	right = strings.ReplaceAll(strings.ToLower(strings.TrimLeft(strings.Trim(name, `'"`+" "), "-")), "-", "_")
	if right != name {
		wrong = append(wrong, "write "+right+": a name is in lower case and with underscores")
	}
	set, why := meantValue(value)
	if set != value {
		wrong = append(wrong, fmt.Sprintf("write %q in place of %q: %s", set, value, why))
	}
	return right, set, wrong
}

var (
	commented = regexp.MustCompile(`^(\S+)\s+[#;]`)
	quoted    = regexp.MustCompile(`^(?:'([^']*)'|"([^"]*)")$`)
	sized     = regexp.MustCompile(`^(?i)(\d+)(\.\d+)?\s*([KMGTPE])(i?B)?$`)
)

// meantValue is a value as a server takes it, and why not as written.
func meantValue(value string) (set, why string) {
	set = value
	if found := commented.FindStringSubmatch(set); found != nil && !quoted.MatchString(set) {
		set, why = found[1], "what follows is no comment, but part of the value"
	}
	if found := quoted.FindStringSubmatch(set); found != nil {
		set, why = found[1]+found[2], "the quotation marks would be part of the value"
	}
	if found := sized.FindStringSubmatch(set); found != nil && found[2]+found[4] != "" && !strings.EqualFold(found[4], "i") {
		set, why = size(found[1]+found[2], strings.ToUpper(found[3])), "a size is a whole number, with K, M, G, T, P or E"
	}
	return set, why
}

// suffixes of sizes, each 1024 times the one before.
const suffixes = "KMGTPE"

// size is a number of units as a whole number of the largest unit that gives one.
func size(number, suffix string) string {
	n, _ := new(big.Rat).SetString(number)
	unit := strings.Index(suffixes, suffix)
	for ; !n.IsInt() && unit >= 0; unit-- {
		n.Mul(n, big.NewRat(1024, 1))
	}
	whole := new(big.Int).Quo(n.Num(), n.Denom()) // a part of a byte is none
	if unit < 0 {
		return whole.String()
	}
	return whole.String() + suffixes[unit:unit+1]
}
