// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

// mariaDBRounded is what the server itself says in information_schema.system_variables (numeric_block_size), where that is more
// than 1; where versions from 10.6 to 11.8 differ, the largest.
var mariaDBRounded = map[string]Rounding{
	"aria_block_size":               {To: 1 << 10},
	"aria_log_file_size":            {To: 8 << 10},
	"aria_max_sort_file_size":       {To: 1 << 20},
	"aria_pagecache_age_threshold":  {To: 100},
	"binlog_cache_size":             {To: 4 << 10},
	"binlog_file_cache_size":        {To: 4 << 10},
	"binlog_row_event_max_size":     {To: 256},
	"binlog_stmt_cache_size":        {To: 4 << 10},
	"innodb_buffer_pool_chunk_size": {To: 1 << 20},
	// Up to a multiple of the chunks, which older versions choose.
	"innodb_buffer_pool_size":          {To: 1 << 20, By: []string{"innodb_buffer_pool_chunk_size"}},
	"innodb_buffer_pool_size_auto_min": {To: 8 << 20},
	"innodb_buffer_pool_size_max":      {To: 8 << 20},
	"innodb_log_buffer_size":           {To: 4 << 10},
	"innodb_log_file_size":             {To: 64 << 10},
	"join_buffer_size":                 {To: 128},
	"join_buffer_space_limit":          {To: 2 << 10},
	"key_buffer_size":                  {To: 4 << 10},
	"key_cache_age_threshold":          {To: 100},
	"key_cache_block_size":             {To: 512},
	"log_tc_size":                      {To: 4 << 10},
	"max_allowed_packet":               {To: 1 << 10},
	"max_binlog_cache_size":            {To: 4 << 10},
	"max_binlog_size":                  {To: 4 << 10},
	"max_binlog_stmt_cache_size":       {To: 4 << 10},
	"max_heap_table_size":              {To: 1 << 10},
	"max_relay_log_size":               {To: 4 << 10},
	"max_tmp_session_space_usage":      {To: 64 << 10},
	"max_tmp_total_space_usage":        {To: 64 << 10},
	"myisam_block_size":                {To: 1 << 10},
	"myisam_max_sort_file_size":        {To: 1 << 20},
	"net_buffer_length":                {To: 1 << 10},
	"query_alloc_block_size":           {To: 1 << 10},
	"query_cache_min_res_unit":         {To: 8},
	"query_cache_size":                 {To: 1 << 10},
	"query_prealloc_size":              {To: 1 << 10},
	"range_alloc_block_size":           {To: 1 << 10},
	"read_buffer_size":                 {To: 4 << 10},
	"slave_max_allowed_packet":         {To: 1 << 10},
	"thread_stack":                     {To: 1 << 10},
	"tmp_memory_table_size":            {To: 16 << 10},
	"tmp_table_size":                   {To: 16 << 10},
	"transaction_alloc_block_size":     {To: 1 << 10},
	"transaction_prealloc_size":        {To: 1 << 10},
}
