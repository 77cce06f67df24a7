// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
)

// Dialect of MariaDB and MySQL.
var Dialect = client.Dialect{
	Errors: client.Errors{
		Code: func(err error) (string, bool) {
			server, answered := errors.AsType[*mysql.MySQLError](err)
			if !answered {
				return "", false
			}
			return strconv.Itoa(int(server.Number)), true
		},
		Codes: client.Codes{
			Starting:        []string{"1053"},         // ER_SERVER_SHUTDOWN
			TooManySessions: []string{"1040", "1203"}, // ER_CON_COUNT_ERROR, ER_TOO_MANY_USER_CONNECTIONS
			DuplicateKey:    []string{"1062"},         // ER_DUP_ENTRY
			NoSuchTable:     []string{"1049", "1146"}, // ER_BAD_DB_ERROR, ER_NO_SUCH_TABLE
			NoSuchSession:   []string{"1094"},         // ER_NO_SUCH_THREAD
		},
		NoTLS: func(err error) bool { return errors.Is(err, mysql.ErrNoTLS) },
		Lost:  mysql.ErrInvalidConn,
	},
	Locks: client.Locks{Take: "SELECT GET_LOCK(?, 0)", Holder: "IS_USED_LOCK(?)"},
	Sessions: client.Sessions{
		Own: "CONNECTION_ID()",
		Others: "SELECT id FROM information_schema.processlist" +
			" WHERE db = ? AND user = SUBSTRING_INDEX(USER(), '@', 1) AND id <> CONNECTION_ID()",
		Busy: "SELECT COUNT(*) FROM information_schema.processlist WHERE db = ? AND command <> 'Sleep'" +
			" AND id <> CONNECTION_ID() AND COALESCE(state, '') NOT IN ('Writing to net', 'Sending to client')",
		End:     func(session int64) string { return fmt.Sprintf("KILL %d", session) },
		MayIdle: "SET SESSION wait_timeout = 2592000",
	},
	Clock: client.Clock{
		After: func(d time.Duration) string {
			return fmt.Sprintf("UTC_TIMESTAMP(6) + INTERVAL %d MICROSECOND", d.Microseconds())
		},
		MicrosUntil: func(column string) string { return "TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), " + column + ")" },
	},
	Schemas: client.Schemas{
		Exists: "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?",
		Create: "CREATE DATABASE %s", CreateMissing: "CREATE DATABASE IF NOT EXISTS %s", Drop: "DROP DATABASE IF EXISTS %s",
		Objects: "SELECT IF(table_type IN ('VIEW', 'SEQUENCE'), table_type, 'TABLE'), table_name" +
			" FROM information_schema.tables WHERE table_schema = ? AND table_type <> 'TEMPORARY'" +
			" UNION ALL SELECT routine_type, routine_name FROM information_schema.routines" +
			" WHERE routine_schema = ? AND routine_type <> 'PACKAGE BODY'" +
			" UNION ALL SELECT 'EVENT', event_name FROM information_schema.events WHERE event_schema = ?",
		ObjectsParameters: 3,
		DropAll: func(inSchema func(string) string, objects []client.Object) []string {
			statements := []string{"SET foreign_key_checks = 0"}
			for _, o := range objects {
				statements = append(statements, "DROP "+o.Kind+" IF EXISTS "+inSchema(o.Name))
			}
			return append(statements, "SET foreign_key_checks = DEFAULT")
		},
	},
	Tables: client.Tables{
		Attempts: `(
		run_uid VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
		trial INT NOT NULL,
		attempt INT NOT NULL,
		pod_index INT NOT NULL,
		pod_uid VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
		connection_id BIGINT NOT NULL,
		making BOOLEAN NOT NULL DEFAULT FALSE,
		arrived INT NOT NULL DEFAULT 0,
		released INT NOT NULL DEFAULT 0,
		release_at DATETIME(6),
		part LONGBLOB,
		PRIMARY KEY (run_uid, trial, attempt, pod_index)
	) ENGINE=InnoDB`,
		Objects: `(
		kind VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
		name VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
		PRIMARY KEY (kind, name)
	) ENGINE=InnoDB`,
		Datasets: `(
		digest CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY
	) ENGINE=InnoDB`,
		InsertNew: "IGNORE %s",
	},
	Server: client.Server{
		Status: []client.StatusQuery{{Query: "SHOW GLOBAL STATUS"}}, Variables: "SHOW GLOBAL VARIABLES",
		StatusLike:       func(pattern string) string { return "SHOW GLOBAL STATUS LIKE '" + pattern + "'" },
		SessionVariables: "SHOW SESSION VARIABLES",
		Encryption:       `SHOW SESSION STATUS LIKE 'Ssl\_%'`, EncryptionVersion: "Ssl_version", EncryptionCipher: "Ssl_cipher",
		MaxConnections: "SELECT @@max_connections",
		TableBytes: []string{
			"SELECT COALESCE(SUM(file_size), 0) FROM information_schema.innodb_sys_tablespaces WHERE SUBSTRING_INDEX(name, '/', 1) = ?",
			"SELECT COALESCE(SUM(file_size), 0) FROM information_schema.innodb_tablespaces WHERE SUBSTRING_INDEX(name, '/', 1) = ?",
		},
	},
	QuotedName: func(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" },
}
