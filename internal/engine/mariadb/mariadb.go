// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mariadb is MariaDB Server.
package mariadb

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/engine/innodb"
)

// Name is in the version of each MariaDB server, too.
const Name = "MariaDB"

// Engine is MariaDB Server.
var Engine = engine()

func engine() base.Engine {
	e := innodb.Engine()
	e.Name = Name
	i := &e.Image
	i.Default, i.Names = "mariadb:11.8", []string{"mariadb"}
	i.Memory = 512 << 20
	i.Processes = append(i.Processes, "mariadbd")
	i.RootPasswordFile, i.RootHost = "MARIADB_ROOT_PASSWORD_FILE", "MARIADB_ROOT_HOST"
	i.Error = regexp.MustCompile(`\[ERROR\] ([^\s[].*)`)
	e.Options.Head, e.Options.RedoLogSize = "[mariadbd]\n", redoLogSize
	v := &e.Variables
	v.Matches = func(version string) bool { return strings.Contains(version, Name) }
	v.StateAndIdentity = append(v.StateAndIdentity, state...)
	v.Unreadable = unreadable
	v.Hidden = append(v.Hidden, "wsrep_sst_auth")
	v.Synonyms = synonyms
	v.Descriptions = "SELECT LOWER(variable_name), IF(numeric_block_size > 1, numeric_block_size, 1)," +
		" IF(variable_type = 'ENUM', COALESCE(enum_value_list, ''), ''), '' FROM information_schema.system_variables" +
		" WHERE numeric_block_size > 1 OR variable_type = 'ENUM'"
	v.Rounded = map[string]base.Rounding{
		// Up to a multiple of the chunks of all instances, which versions before 10.5 have: servers say that it is a multiple of 1 MiB.
		"innodb_buffer_pool_size": {To: 1 << 20, By: []string{"innodb_buffer_pool_chunk_size", "innodb_buffer_pool_instances"}},
	}
	v.Combinations = map[string][]string{
		"sql_mode": {"ANSI", "DB2", "MAXDB", "MSSQL", "ORACLE", "POSTGRESQL", "TRADITIONAL"},
	}
	c := &e.Counters
	// From 10.8 on there is only the second one, which counts the other files of InnoDB too and is therefore another metric.
	c.Fsyncs = []base.Fsyncs{
		{Counter: "Innodb_os_log_fsyncs", Metric: "redoFsyncsPerTransaction"},
		{Counter: "Innodb_data_fsyncs", Metric: "innodbFsyncsPerTransaction"},
	}
	c.Debt = append(c.Debt, base.Gauge{
		Counter: "Innodb_history_list_length", Description: "transactions in the purge history", Goal: 100,
		Query: "SELECT count FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'",
	}, base.Gauge{Counter: "Innodb_checkpoint_age", Description: "bytes of redo log since the last checkpoint", Goal: 1 << 20})
	// Without it a server with the default innodb_max_dirty_pages_pct_lwm=0 keeps its dirty pages for as long as it is left alone.
	// The variable reads OFF again at once.
	c.WriteBack = "SET GLOBAL innodb_log_checkpoint_now=ON"
	e.ConnectionEnded = []string{"1053", "1927"}  // ER_SERVER_SHUTDOWN and ER_CONNECTION_KILLED
	e.TryAgain = []string{"1020", "1205", "1213"} // ER_CHECKREAD, a row that has changed since the snapshot; see package mysql
	return e
}

func redoLogSize(bytes, files int64) base.Setting {
	s := base.Assignment("innodb_log_file_size", strconv.FormatInt(bytes/max(1, files), 10))
	if files == 0 { // before 10.5, servers make two unless they are told otherwise
		s.Line += "\nloose_innodb_log_files_in_group = 1"
	}
	return s
}

var synonyms = map[string]string{
	"transaction_isolation": "tx_isolation",
	"tx_isolation":          "transaction_isolation",
	"transaction_read_only": "tx_read_only",
	"tx_read_only":          "transaction_read_only",
	"default_time_zone":     "time_zone",
	"storage_engine":        "default_storage_engine",
	"key_buffer":            "key_buffer_size",
	"table_cache":           "table_open_cache",
	"character_set":         "character_set_server",
	"collation":             "collation_server",
}

// state is what MariaDB has besides.
var state = []string{
	"gtid_*", "last_gtid", "pseudo_slave_mode", "in_transaction", "innodb_buffer_pool_load_incremental", "wsrep_start_position",
	"wsrep_cluster_address", "server_uid", "wsrep_node_*", "wsrep_cluster_name", "extra_port", "proxy_protocol_networks",
	"feedback_*", "log_slow_query_file", // slow_query_log_file, from 10.11 on
	"relay_log_info_file", "aria_log_dir_path", "wsrep_data_home_dir", "ssl_*",
}

// unreadable are the options of `mariadbd --verbose --help` that are no variables: the same in 10.11 and 11.8.
var unreadable = strings.Fields("" +
	"ansi character_set_client_handshake console debug_abort_slave_event_count debug_disconnect_slave_event_count " +
	"debug_exit_info debug_gdb debug_max_binlog_dump_events debug_no_sync debug_sporadic_binlog_dump_fail " +
	"des_key_file external_locking flashback gdb init_rpl_role innodb_status_file language log_basename " +
	"log_ddl_recovery log_isam log_short_format log_tc master_info_file master_retry_count memlock " +
	"old_style_user_limits performance_schema_instrument plugin_load plugin_load_add port_open_timeout " +
	"replicate_same_server_id safe_mode safe_user_create show_slave_auth_info silent_startup skip_host_cache " +
	"skip_slave_start ssl stack_trace symbolic_links sysdate_is_now tc_heuristic_recover temp_pool wsrep_new_cluster " +
	"performance_schema_consumer_*")
