// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mysql is MySQL Server, from 8.4 on.
package mysql

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/engine/innodb"
	"github.com/benchrun-dev/benchrun/internal/engine/mariadb"
)

// Engine is MySQL Server.
var Engine = engine()

func engine() base.Engine {
	e := innodb.Engine()
	e.Name = "MySQL"
	i := &e.Image
	i.Default, i.Names = "mysql:8.4", []string{"mysql", "percona"}
	i.Memory = 1 << 30 // an idle server takes 360 MiB beside its buffer pool, most of it for performance_schema
	i.RootPasswordFile, i.RootHost = "MYSQL_ROOT_PASSWORD_FILE", "MYSQL_ROOT_HOST"
	i.Error = regexp.MustCompile(`\[ERROR\] \[MY-\d+\] \[\w+\] (.+)`) // its number and the part of the server stand before the text
	// A server logs binarily without a line, too.
	e.Options.Head = "[mysqld]\n"
	e.Options.RedoLogSize = func(bytes, _ int64) base.Setting {
		return base.Assignment("innodb_redo_log_capacity", strconv.FormatInt(bytes, 10)) // those of MariaDB exist, and are ignored
	}
	v := &e.Variables
	v.Matches = func(version string) bool { return !strings.Contains(version, mariadb.Name) }
	v.StateAndIdentity = append(v.StateAndIdentity, state...)
	v.Synonyms = map[string]string{"default_time_zone": "time_zone"}
	v.UnknownOptions = "SELECT data FROM performance_schema.error_log" +
		" WHERE prio = 'System' OR error_code IN ('MY-000067', 'MY-000068')"
	v.Enums, v.Rounded = enums, rounded
	v.Combinations = map[string][]string{"sql_mode": {"ANSI", "TRADITIONAL"}}
	c := &e.Counters
	c.Fsyncs = []base.Fsyncs{{Counter: "Innodb_os_log_fsyncs", Metric: "redoFsyncsPerTransaction"}}
	c.Debt = append(c.Debt, base.Gauge{
		// No counter has it. The length of the history, trx_rseg_history_len, stays in the thousands on an idle server that has
		// purged all: it counts what is not truncated yet.
		Counter: "Innodb_purge_lag", Description: "transactions in the purge history", Goal: 100,
		Query: "SHOW ENGINE INNODB STATUS", Read: purgeLag,
	}, base.Gauge{
		Counter: "Innodb_redo_log_logical_size", Description: "bytes of redo log since the last checkpoint", Goal: 1 << 20,
	})
	// innodb_log_checkpoint_now exists in debug builds only, so that there is no WriteBack. A server that is left alone writes its
	// dirty pages back by itself, at innodb_io_capacity pages per second.
	e.ConnectionEnded = []string{"1053", "4031"} // ER_SERVER_SHUTDOWN, also of a killed one, and ER_CLIENT_INTERACTION_TIMEOUT
	e.TryAgain = []string{"1205", "1213"}        // ER_LOCK_WAIT_TIMEOUT and ER_LOCK_DEADLOCK
	return e
}

// enums are the values of variables that may also be set by number.
var enums = map[string][]string{
	"binlog_checksum":                 {"NONE", "CRC32"},
	"binlog_format":                   {"MIXED", "STATEMENT", "ROW"},
	"binlog_row_image":                {"MINIMAL", "NOBLOB", "FULL"},
	"binlog_row_metadata":             {"MINIMAL", "FULL"},
	"completion_type":                 {"NO_CHAIN", "CHAIN", "RELEASE"},
	"concurrent_insert":               {"NEVER", "AUTO", "ALWAYS"},
	"delay_key_write":                 {"OFF", "ON", "ALL"},
	"gtid_mode":                       {"OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON"},
	"innodb_change_buffering":         {"none", "inserts", "deletes", "changes", "purges", "all"},
	"innodb_default_row_format":       {"redundant", "compact", "dynamic"},
	"innodb_doublewrite":              {"OFF", "ON", "DETECT_ONLY", "DETECT_AND_RECOVER"},
	"innodb_flush_method":             {"fsync", "O_DSYNC", "littlesync", "nosync", "O_DIRECT", "O_DIRECT_NO_FSYNC"},
	"innodb_stats_method":             {"nulls_equal", "nulls_unequal", "nulls_ignored"},
	"internal_tmp_mem_storage_engine": {"MEMORY", "TempTable"},
	"log_timestamps":                  {"UTC", "SYSTEM"},
	"myisam_stats_method":             {"nulls_unequal", "nulls_equal", "nulls_ignored"},
	"transaction_isolation":           {"READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"},
}

var purgeDone = regexp.MustCompile(`Trx id counter (\d+)\nPurge done for trx's n:o < (\d+)`)

// purgeLag is how many transactions have begun since the first that is not purged, by InnoDB's report; empty if it does not say
// so.
func purgeLag(report string) string {
	found := purgeDone.FindStringSubmatch(report)
	if found == nil {
		return ""
	}
	next, err := strconv.ParseInt(found[1], 10, 64)
	purged, also := strconv.ParseInt(found[2], 10, 64)
	if err != nil || also != nil {
		return ""
	}
	return strconv.FormatInt(next-purged, 10)
}

// rounded is what the manual calls the block size of a variable, where that is more than 1.
var rounded = map[string]base.Rounding{
	"binlog_cache_size":             {To: 4 << 10},
	"binlog_row_event_max_size":     {To: 256},
	"binlog_stmt_cache_size":        {To: 4 << 10},
	"innodb_buffer_pool_chunk_size": {To: 1 << 20},
	// Up to a multiple of the chunks of all instances.
	"innodb_buffer_pool_size":       {To: 1 << 20, By: []string{"innodb_buffer_pool_chunk_size", "innodb_buffer_pool_instances"}},
	"innodb_fsync_threshold":        {To: 8 << 10},
	"innodb_log_buffer_size":        {To: 1 << 10},
	"innodb_log_write_ahead_size":   {To: 512},
	"innodb_redo_log_capacity":      {To: 1 << 20},
	"join_buffer_size":              {To: 128},
	"key_buffer_size":               {To: 4 << 10},
	"key_cache_age_threshold":       {To: 100},
	"key_cache_block_size":          {To: 512},
	"max_allowed_packet":            {To: 1 << 10},
	"max_binlog_cache_size":         {To: 4 << 10},
	"max_binlog_size":               {To: 4 << 10},
	"max_binlog_stmt_cache_size":    {To: 4 << 10},
	"max_heap_table_size":           {To: 1 << 10},
	"max_relay_log_size":            {To: 4 << 10},
	"myisam_block_size":             {To: 1 << 10},
	"myisam_max_sort_file_size":     {To: 1 << 20},
	"net_buffer_length":             {To: 1 << 10},
	"query_alloc_block_size":        {To: 1 << 10},
	"query_prealloc_size":           {To: 1 << 10},
	"range_alloc_block_size":        {To: 1 << 10},
	"read_buffer_size":              {To: 4 << 10},
	"replica_checkpoint_group":      {To: 8},
	"replica_max_allowed_packet":    {To: 1 << 10},
	"replica_pending_jobs_size_max": {To: 1 << 10},
	"rpl_read_size":                 {To: 4 << 10},
	"select_into_buffer_size":       {To: 4 << 10},
	"set_operations_buffer_size":    {To: 1 << 10},
	"thread_stack":                  {To: 1 << 10},
	"transaction_alloc_block_size":  {To: 1 << 10},
	"transaction_prealloc_size":     {To: 1 << 10},
}

// state is what MySQL has besides.
var state = []string{
	"gtid_executed", "gtid_next", "gtid_owned", "gtid_purged", "innodb_redo_log_archive_dirs",
	"ssl_ca", "ssl_capath", "ssl_cert", "ssl_crl", "ssl_crlpath", "ssl_key",
}
