// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import "strings"

// mariaDBUnreadable are the options of `mariadbd --verbose --help` that are no variables: the same in 10.11 and 11.8.
var mariaDBUnreadable = strings.Fields("" +
	"ansi character_set_client_handshake console debug_abort_slave_event_count debug_disconnect_slave_event_count " +
	"debug_exit_info debug_gdb debug_max_binlog_dump_events debug_no_sync debug_sporadic_binlog_dump_fail " +
	"des_key_file external_locking flashback gdb init_rpl_role innodb_status_file language log_basename " +
	"log_ddl_recovery log_isam log_short_format log_tc master_info_file master_retry_count memlock " +
	"old_style_user_limits performance_schema_instrument plugin_load plugin_load_add port_open_timeout " +
	"replicate_same_server_id safe_mode safe_user_create show_slave_auth_info silent_startup skip_host_cache " +
	"skip_slave_start ssl stack_trace symbolic_links sysdate_is_now tc_heuristic_recover temp_pool wsrep_new_cluster " +
	"performance_schema_consumer_*")
