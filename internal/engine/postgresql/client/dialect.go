// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
)

// Dialect of PostgreSQL makes the workload's tables in a schema of one database. A session is that of a schema by the name of its
// program.
var Dialect = client.Dialect{
	Errors: client.Errors{
		Code: func(err error) (string, bool) {
			server, answered := errors.AsType[*pgconn.PgError](err)
			if !answered {
				return "", false
			}
			return server.Code, true
		},
		Codes: client.Codes{
			Starting:        []string{"57P03"},          // cannot_connect_now
			TooManySessions: []string{"53300"},          // too_many_connections
			DuplicateKey:    []string{"23505"},          // unique_violation
			NoSuchTable:     []string{"42P01", "3F000"}, // undefined_table, invalid_schema_name
		},
		// The driver has no value for it.
		NoTLS: func(err error) bool {
			return err != nil && strings.Contains(err.Error(), "server refused TLS connection")
		},
	},
	Locks: client.Locks{
		Take: "SELECT pg_try_advisory_lock(hashtextextended(?, 0))",
		Holder: "(SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND database =" +
			" (SELECT oid FROM pg_database WHERE datname = current_database())" +
			" AND (classid::bigint << 32 | objid::bigint) = hashtextextended(?, 0))",
	},
	Sessions: client.Sessions{
		Own: "pg_backend_pid()",
		Others: "SELECT pid FROM pg_stat_activity WHERE application_name = 'benchrun-loader ' || ? AND usename = current_user" +
			" AND datname = current_database() AND pid <> pg_backend_pid()",
		Busy: "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'benchrun-loader ' || ?" +
			" AND datname = current_database() AND state NOT LIKE 'idle%' AND COALESCE(wait_event, '') <> 'ClientWrite'" +
			" AND pid <> pg_backend_pid()",
		End:     func(session int64) string { return fmt.Sprintf("SELECT pg_terminate_backend(%d)", session) },
		MayIdle: "SET idle_session_timeout = 0",
	},
	Clock: client.Clock{
		After: func(d time.Duration) string {
			return fmt.Sprintf("clock_timestamp() + INTERVAL '%d microseconds'", d.Microseconds())
		},
		MicrosUntil: func(column string) string {
			return "(EXTRACT(EPOCH FROM " + column + " - clock_timestamp()) * 1000000)::bigint"
		},
	},
	Schemas: client.Schemas{
		Exists: "SELECT COUNT(*) FROM pg_namespace WHERE nspname = ?",
		Create: "CREATE SCHEMA %s", CreateMissing: "CREATE SCHEMA IF NOT EXISTS %s", Drop: "DROP SCHEMA IF EXISTS %s CASCADE",
		// Sequences of columns, partitions, and the types of rows and of arrays go with their tables.
		Objects: "SELECT CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE'" +
			" WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace" +
			" WHERE nspname = ? AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f')" +
			" AND NOT relispartition AND NOT (relkind = 'S' AND EXISTS" +
			" (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND deptype IN ('a', 'i')))" +
			" UNION ALL SELECT CASE prokind WHEN 'p' THEN 'PROCEDURE' WHEN 'a' THEN 'AGGREGATE' ELSE 'FUNCTION' END," +
			" proname || '(' || pg_get_function_identity_arguments(p.oid) || ')'" +
			" FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace WHERE nspname = ?" +
			" UNION ALL SELECT CASE typtype WHEN 'd' THEN 'DOMAIN' ELSE 'TYPE' END, typname" +
			" FROM pg_type t JOIN pg_namespace n ON n.oid = typnamespace WHERE nspname = ? AND typtype IN ('e', 'd', 'r')",
		ObjectsParameters: 3,
		DropAll:           dropAll,
	},
	Tables: client.Tables{
		Attempts: `(
		run_uid VARCHAR(64) NOT NULL,
		trial INT NOT NULL,
		attempt INT NOT NULL,
		pod_index INT NOT NULL,
		pod_uid VARCHAR(64) NOT NULL,
		connection_id BIGINT NOT NULL,
		making BOOLEAN NOT NULL DEFAULT FALSE,
		arrived INT NOT NULL DEFAULT 0,
		released INT NOT NULL DEFAULT 0,
		release_at TIMESTAMPTZ,
		part BYTEA,
		PRIMARY KEY (run_uid, trial, attempt, pod_index)
	)`,
		Objects:   "(kind TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (kind, name))",
		Datasets:  "(digest CHAR(64) NOT NULL PRIMARY KEY)",
		InsertNew: "%s ON CONFLICT DO NOTHING",
	},
	Server: client.Server{
		Status: []client.StatusQuery{
			{Query: "SELECT 'uptime', EXTRACT(EPOCH FROM clock_timestamp() - pg_postmaster_start_time())::bigint::text" +
				" UNION ALL SELECT 'wal_insert_lsn', pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text" +
				" UNION ALL " + countersOf["lock_waits"] +
				" UNION ALL SELECT view, (to_regclass(view) IS NOT NULL)::text" +
				" FROM (VALUES ('pg_stat_io'), ('pg_stat_checkpointer'), ('pg_stat_statements')) v(view)" +
				" UNION ALL SELECT key, value FROM pg_stat_wal s, jsonb_each_text(to_jsonb(s))" +
				" UNION ALL SELECT 'bgwriter_' || key, value FROM pg_stat_bgwriter s, jsonb_each_text(to_jsonb(s))" +
				" UNION ALL SELECT 'pages_written', SUM(value::bigint)::text FROM pg_stat_bgwriter s, jsonb_each_text(to_jsonb(s))" +
				" WHERE key IN ('buffers_checkpoint', 'buffers_clean', 'buffers_backend')" + // until 16, where all three are there
				" UNION ALL SELECT 'database_' || key, value FROM pg_stat_database s, jsonb_each_text(to_jsonb(s))" +
				" WHERE datname = current_database()"},
			{Needs: "pg_stat_statements", Query: countersOf["statements"]},
			{Needs: "pg_stat_io", Query: "SELECT 'io_' || object || '_' || key, SUM(value::numeric)::bigint::text" +
				" FROM pg_stat_io s, jsonb_each_text(to_jsonb(s)) WHERE key IN ('reads', 'writes', 'writebacks', 'extends', 'hits'," +
				" 'evictions', 'reuses', 'fsyncs', 'read_bytes', 'write_bytes', 'extend_bytes') AND value IS NOT NULL GROUP BY object, key"},
			{Needs: "pg_stat_checkpointer", Query: "SELECT 'checkpointer_' || key, value" +
				" FROM pg_stat_checkpointer s, jsonb_each_text(to_jsonb(s)) UNION ALL SELECT 'pages_written', (buffers_written" +
				" + (SELECT buffers_clean FROM pg_stat_bgwriter) + (SELECT COALESCE(SUM(writes), 0) FROM pg_stat_io" +
				" WHERE object = 'relation' AND backend_type NOT IN ('checkpointer', 'background writer')))::text FROM pg_stat_checkpointer"},
		},
		StatusLike: func(pattern string) string { return countersOf[pattern] },
		// The commands of transactions are counted or not, as the protocol has it: they are not.
		CountStatements: "CREATE EXTENSION IF NOT EXISTS pg_stat_statements;" +
			" ALTER DATABASE postgres SET pg_stat_statements.track_utility = off",
		Variables:        variables,
		SessionVariables: variables,
		Encryption: "SELECT 'version', version FROM pg_stat_ssl WHERE pid = pg_backend_pid()" +
			" UNION ALL SELECT 'cipher', cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
		EncryptionVersion: "version", EncryptionCipher: "cipher",
		MaxConnections: "SELECT current_setting('max_connections')::int",
		TableBytes: []string{
			"SELECT COALESCE(SUM(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace" +
				" WHERE nspname = ? AND relkind IN ('r', 'm')",
		},
	},
	QuotedName: quotedName,
}

// countersOf are the queries for single counters.
var countersOf = map[string]string{
	"statements": "SELECT 'statements', SUM(calls)::bigint::text FROM pg_stat_statements",
	"lock_waits": "SELECT 'lock_waits', COUNT(*)::text FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
}

// variables with their units.
const variables = "SELECT name, current_setting(name, true) FROM pg_settings"

func quotedName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// dropAll names all objects of a kind in one statement, because they may refer to each other, and kinds that others are made of
// last. What somebody else has made of them is an error.
func dropAll(inSchema func(string) string, objects []client.Object) (statements []string) {
	for _, kind := range []string{
		"MATERIALIZED VIEW", "VIEW", "FOREIGN TABLE", "TABLE", "SEQUENCE", "AGGREGATE", "PROCEDURE", "FUNCTION", "DOMAIN", "TYPE",
	} {
		var names []string
		for _, o := range objects {
			if o.Kind == kind {
				name, arguments, _ := strings.Cut(o.Name, "(")
				if arguments != "" {
					arguments = "(" + arguments
				}
				names = append(names, inSchema(name)+arguments)
			}
		}
		if len(names) > 0 {
			statements = append(statements, "DROP "+kind+" IF EXISTS "+strings.Join(names, ", "))
		}
	}
	return statements
}
