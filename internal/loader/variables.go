// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// StateAndIdentity names the server variables that say what a server has done so far, or which server it is, instead of
// how it is set. They are left out of the digest of settings and of every comparison. A name that ends in * stands for
// all that begin so.
var StateAndIdentity = []string{
	// What it has done: positions, counters, the last of something.
	"gtid_*", "last_gtid", "last_insert_id", "insert_id", "identity", "timestamp", "rand_seed1", "rand_seed2",
	"pseudo_thread_id", "pseudo_slave_mode", "error_count", "warning_count", "in_transaction", "statement_id",
	"innodb_buffer_pool_load_now", "innodb_buffer_pool_load_abort", "innodb_buffer_pool_dump_now",
	"innodb_buffer_pool_load_incremental", "wsrep_start_position", "wsrep_cluster_address",
	// Who it is.
	"hostname", "server_id", "server_uid", "server_uuid", "report_*", "wsrep_node_*", "wsrep_cluster_name",
	// Where it listens.
	"port", "extra_port", "admin_port", "admin_address", "mysqlx_port", "mysqlx_socket", "mysqlx_bind_address", "socket",
	"bind_address", "proxy_protocol_networks", "feedback_*",
	// Where its files are.
	"basedir", "datadir", "tmpdir", "slave_load_tmpdir", "replica_load_tmpdir", "pid_file", "plugin_dir",
	"character_sets_dir", "lc_messages_dir", "secure_file_priv", "log_error", "general_log_file", "slow_query_log_file",
	"log_bin_basename", "log_bin_index", "relay_log", "relay_log_basename", "relay_log_index", "relay_log_info_file",
	"innodb_data_home_dir", "innodb_directories", "innodb_doublewrite_dir", "innodb_log_group_home_dir",
	"innodb_temp_tablespaces_dir", "innodb_tmpdir", "innodb_undo_directory", "innodb_buffer_pool_filename",
	"aria_log_dir_path", "wsrep_data_home_dir",
	// Its keys.
	"ssl_*", "admin_ssl_*", "mysqlx_ssl_*", "caching_sha2_password_private_key_path",
	"caching_sha2_password_public_key_path", "sha256_password_private_key_path", "sha256_password_public_key_path",
}

var stateNames, statePrefixes = func() (names map[string]bool, prefixes []string) {
	names = map[string]bool{}
	for _, pattern := range StateAndIdentity {
		if prefix, isPrefix := strings.CutSuffix(pattern, "*"); isPrefix {
			prefixes = append(prefixes, prefix)
		} else {
			names[pattern] = true
		}
	}
	return names, prefixes
}()

// stateOrIdentity says whether StateAndIdentity has a variable.
func stateOrIdentity(name string) bool {
	return stateNames[name] || slices.ContainsFunc(statePrefixes, func(prefix string) bool {
		return strings.HasPrefix(name, prefix)
	})
}

// settingsDigest is the hexadecimal SHA-256 of "name=value" and a line break for each variable but StateAndIdentity,
// sorted by name: equal for servers that are set alike.
func settingsDigest(variables map[string]string) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if !stateOrIdentity(name) {
			h.Write([]byte(name + "=" + variables[name] + "\n"))
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// changedVariables names what differs between two readings, with both values, sorted.
func changedVariables(before, after map[string]string) []string {
	names := maps.Clone(before)
	maps.Copy(names, after)
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, had := before[name]
		is, has := after[name]
		if (was != is || had != has) && !stateOrIdentity(name) {
			changed = append(changed, fmt.Sprintf("%s was %q and is %q", name, was, is))
		}
	}
	return changed
}
