// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package postgresql is PostgreSQL, from 15 on.
package postgresql

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/engine/base"
)

// Engine is PostgreSQL.
var Engine = base.Engine{
	Name: "PostgreSQL",
	SQL:  base.PostgreSQL,
	Image: base.Image{
		Default:  "postgres:17",
		Names:    []string{"postgres"},
		Port:     5432,
		PortName: "postgresql",
		User:     999,
		DataPath: "/var/lib/postgresql/data", ConfigPath: "/etc/postgresql", RunPath: "/var/run/postgresql", Socket: ".s.PGSQL.5432",
		Memory:    512 << 20,
		Processes: []string{"postgres"},
		Superuser: "postgres", RootPasswordFile: "POSTGRES_PASSWORD_FILE",
		// A volume is a folder that initdb does not take, because it is not its own.
		Env: []string{"PGDATA=" + postgresData}, Args: []string{"postgres", "-c", "config_file=/etc/postgresql/benchrun.cnf"},
		SharedMemory: "/dev/shm",
		// What is wrong with a configuration is said before the error that ends the server.
		Error: regexp.MustCompile(`(?:FATAL|PANIC):  (.+)|LOG:  ((?:unrecognized configuration parameter|invalid value for parameter|` +
			`parameter "|syntax error in file|.+ is outside the valid range for parameter).*)`),
	},
	Options: base.Options{
		Head:  "include = '" + postgresData + "/postgresql.conf'\n",
		Quote: func(value string) string { return "'" + strings.ReplaceAll(value, "'", "''") + "'" },
		BufferPoolSize: func(bytes int64) base.Setting {
			return base.Assignment("shared_buffers", fmt.Sprintf("%dkB", bytes>>10))
		},
		RedoLogSize: func(bytes, _ int64) base.Setting {
			return base.Assignment("max_wal_size", fmt.Sprintf("%dMB", bytes>>20))
		},
		SynchronousCommit: func(mode string) base.Setting { return base.Assignment("synchronous_commit", mode) },
		Reserved: []string{
			"include", "include_dir", "include_if_exists", "data_directory", "config_file", "hba_file", "ident_file", "external_pid_file",
			"listen_addresses", "port", "unix_socket_directories",
		},
	},
	Variables: base.Variables{
		Version: "server_version",
		Matches: func(version string) bool { return version != "" && !strings.Contains(version, "MariaDB") },
		StateAndIdentity: []string{
			"data_directory", "config_file", "hba_file", "ident_file", "external_pid_file", "listen_addresses", "port", "unix_socket_*",
			"bonjour*", "cluster_name", "ssl_*", "in_hot_standby", "application_name", "search_path", "client_encoding", "transaction_*",
			"log_directory", "log_filename", "log_destination", "stats_temp_directory", "syslog_*", "event_source", "primary_slot_name",
			"pg_stat_statements.track_utility",
		},
		Hidden:       []string{"primary_conninfo", "archive_command", "restore_command", "ssl_passphrase_command"},
		Quantity:     quantity,
		Descriptions: "SELECT LOWER(name), 1, COALESCE(ARRAY_TO_STRING(enumvals, ','), ''), COALESCE(unit, '') FROM pg_settings",
	},
	Counters: base.Counters{
		Uptime: "uptime", Statements: "statements",
		StatementsBy: base.Setting{Name: "shared_preload_libraries", Value: "pg_stat_statements"},
		Fsyncs: []base.Fsyncs{
			{Counter: "wal_sync", Metric: "redoFsyncsPerTransaction"},
			{Counter: "io_wal_fsyncs", Metric: "redoFsyncsPerTransaction"}, // from 18 on
		},
		LockWaits:    "lock_waits",
		PagesWritten: "pages_written",
		RedoWritten:  "wal_insert_lsn",
		Debt: []base.Gauge{
			{
				Counter: "wal_since_checkpoint", Description: "bytes of WAL since the last checkpoint", Goal: 1 << 20,
				Query: "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::bigint FROM pg_control_checkpoint()",
			},
			{
				Counter: "autovacuum_workers", Description: "autovacuum workers",
				Query: "SELECT COUNT(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'",
			},
		},
		WriteBack: "CHECKPOINT",
	},
	Durability: base.Durability{
		Commit: []base.Durable{
			{Variable: "fsync", Value: "on"}, {Variable: "synchronous_commit", Value: "on,local,remote_write,remote_apply"},
		},
	},
	Databases:     true,
	SystemSchemas: []string{"information_schema", "pg_catalog", "pg_toast", "public"},
	// admin_shutdown, crash_shutdown, database_dropped and idle_session_timeout.
	ConnectionEnded: []string{"57P01", "57P02", "57P04", "57P05"},
	// serialization_failure, deadlock_detected and lock_not_available.
	TryAgain: []string{"40001", "40P01", "55P03"},
}

// postgresData is below DataPath.
const postgresData = "/var/lib/postgresql/data/pgdata"

var number = regexp.MustCompile(`^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*([A-Za-z]*)$`)

// units of bytes and of microseconds.
var units = map[string]*big.Rat{
	"B": big.NewRat(1, 1), "kB": big.NewRat(1<<10, 1), "MB": big.NewRat(1<<20, 1), "GB": big.NewRat(1<<30, 1),
	"TB": big.NewRat(1<<40, 1),
	"us": big.NewRat(1, 1), "ms": big.NewRat(1e3, 1), "s": big.NewRat(1e6, 1), "min": big.NewRat(60e6, 1),
	"h": big.NewRat(3600e6, 1), "d": big.NewRat(24*3600e6, 1),
}

// quantity reads a number with a unit as PostgreSQL does; without one it is of the given unit, which may be several of one, as
// in 8kB. It is in bytes, or in microseconds.
func quantity(text, unit string) (*big.Rat, bool) {
	parts := number.FindStringSubmatch(text)
	if parts == nil || len(text) > 64 {
		return nil, false
	}
	n, ok := new(big.Rat).SetString(parts[1])
	if !ok {
		return nil, false
	}
	if parts[2] != "" {
		unit = "1" + parts[2]
	}
	name := strings.TrimLeft(unit, "0123456789")
	one, known := units[name]
	if !known {
		return nil, false
	}
	if each, ok := new(big.Rat).SetString(strings.TrimSuffix(unit, name)); ok {
		n.Mul(n, each)
	}
	return n.Mul(n, one), true
}
