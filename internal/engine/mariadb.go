// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// MariaDB is MariaDB Server.
var MariaDB = Engine{
	Name: "MariaDB",
	Image: Image{
		Default:  "mariadb:11.8",
		Names:    []string{"mariadb"},
		Port:     3306,
		PortName: "mysql",
		User:     999,
		DataPath: "/var/lib/mysql", ConfigPath: "/etc/mysql/conf.d", RunPath: "/run/mysqld", Socket: "mysqld.sock",
		Memory:           512 << 20,
		Processes:        []string{"mariadbd", "mysqld"},
		Certificate:      true,
		Superuser:        "root",
		RootPasswordFile: "MARIADB_ROOT_PASSWORD_FILE", RootHost: "MARIADB_ROOT_HOST",
		Error: regexp.MustCompile(`\[ERROR\] ([^\s[].*)`), ErrorEnd: "Aborting",
	},
	Options: Options{
		Head:           "[mariadbd]\n",
		Quote:          quote,
		Meant:          Meant,
		Reserved:       reserved,
		BufferPoolSize: bufferPoolSize,
		RedoLogSize: func(bytes, files int64) Setting {
			s := Assignment("innodb_log_file_size", strconv.FormatInt(bytes/max(1, files), 10))
			if files == 0 { // before 10.5, servers make two unless they are told otherwise
				s.Line += "\nloose_innodb_log_files_in_group = 1"
			}
			return s
		},
		FlushLogAtTrxCommit: flushLogAtTrxCommit,
		BinaryLog:           binaryLog,
	},
	Variables: Variables{
		Version: "version", VersionComment: "version_comment",
		Matches:          func(version string) bool { return strings.Contains(version, mariaDBName) },
		StateAndIdentity: slices.Concat(state, mariaDBState),
		Unreadable:       mariaDBUnreadable,
		Hidden:           []string{"report_password", "wsrep_sst_auth"},
		Synonyms: map[string]string{
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
		},
		Descriptions: "SELECT LOWER(variable_name), IF(numeric_block_size > 1, numeric_block_size, 1)," +
			" IF(variable_type = 'ENUM', COALESCE(enum_value_list, ''), ''), '' FROM information_schema.system_variables" +
			" WHERE numeric_block_size > 1 OR variable_type = 'ENUM'",
		Rounded: map[string]Rounding{
			// Up to a multiple of the chunks of all instances, which versions before 10.5 have: servers say that it is a multiple of
			// 1 MiB.
			"innodb_buffer_pool_size": {To: 1 << 20, By: []string{"innodb_buffer_pool_chunk_size", "innodb_buffer_pool_instances"}},
		},
		Combinations: map[string][]string{
			"sql_mode": {"ANSI", "DB2", "MAXDB", "MSSQL", "ORACLE", "POSTGRESQL", "TRADITIONAL"},
		},
	},
	Counters: Counters{
		Uptime: "Uptime", Statements: "Questions",
		// From 10.8 on there is only the second one, which counts the other files of InnoDB too and is therefore another metric.
		Fsyncs: []Fsyncs{
			{Counter: "Innodb_os_log_fsyncs", Metric: "redoFsyncsPerTransaction"},
			{Counter: "Innodb_data_fsyncs", Metric: "innodbFsyncsPerTransaction"},
		},
		LockWaits:    "Innodb_row_lock_current_waits",
		PagesWritten: "Innodb_buffer_pool_pages_flushed",
		PoolData:     "Innodb_buffer_pool_bytes_data", RedoWritten: "Innodb_os_log_written",
		RestPattern: "Innodb%",
		Debt: []Gauge{
			dirtyPages,
			{
				Counter: "Innodb_history_list_length", Description: "transactions in the purge history", Goal: 100,
				Query: "SELECT count FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'",
			},
			{Counter: "Innodb_checkpoint_age", Description: "bytes of redo log since the last checkpoint", Goal: 1 << 20},
		},
		Pending: pending,
		// Without it a server with the default innodb_max_dirty_pages_pct_lwm=0 keeps its dirty pages for as long as it is left
		// alone. The variable reads OFF again at once.
		WriteBack: "SET GLOBAL innodb_log_checkpoint_now=ON",
	},
	Durability:    durability,
	SystemSchemas: systemSchemas,
	// ER_SERVER_SHUTDOWN and ER_CONNECTION_KILLED.
	ConnectionEnded: []string{"1053", "1927"},
	// ER_CHECKREAD, a row that has changed since the transaction's snapshot; ER_LOCK_WAIT_TIMEOUT; and ER_LOCK_DEADLOCK.
	TryAgain: []string{"1020", "1205", "1213"},
}

// mariaDBName is in the version of each MariaDB server.
const mariaDBName = "MariaDB"

var isolationLevels = []string{"READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"}

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

// mariaDBState is what MariaDB has besides.
var mariaDBState = []string{
	"gtid_*", "last_gtid", "pseudo_slave_mode", "in_transaction", "innodb_buffer_pool_load_incremental", "wsrep_start_position",
	"wsrep_cluster_address", "server_uid", "wsrep_node_*", "wsrep_cluster_name", "extra_port", "proxy_protocol_networks",
	"feedback_*", "log_slow_query_file", // slow_query_log_file, from 10.11 on
	"relay_log_info_file", "aria_log_dir_path", "wsrep_data_home_dir", "ssl_*",
}
