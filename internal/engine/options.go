// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Options are how the option file is written.
type Options struct {
	// Head comes before the settings.
	Head string
	// Quote is a value as the file has it.
	Quote func(value string) string
	// Meant is how a specification has a line of an option file, and what was wrong with it; nil if nothing can be.
	Meant func(name, value string) (meant, set string, wrong []string)
	// Reserved are options that are the operator's.
	Reserved []string
	// One for each of the settings that the API has by name; nil if the engine has none like that.
	BufferPoolSize      func(bytes int64) Setting
	RedoLogSize         func(bytes, files int64) Setting // files is 0 if nothing says how many
	FlushLogAtTrxCommit func(mode int32) Setting
	BinaryLog           func(on bool) Setting
	SynchronousCommit   func(mode string) Setting
}

// Setting is a requested server setting.
type Setting struct {
	// Name of the server variable under which it is read back, without loose_.
	Name string
	// Value to compare with.
	Value string
	// Loose settings may be unknown to the server.
	Loose bool
	// Line is how it stands in the option file.
	Line string
}

// Assignment is a setting whose option has the name of its variable.
func Assignment(name, value string) Setting {
	return Setting{Name: name, Value: value, Line: name + " = " + value}
}

// Variable is the setting for a server variable of the specification; a name that begins with loose_ may be unknown to the
// server.
func (o *Options) Variable(key, value string) Setting {
	name, loose := strings.CutPrefix(key, "loose_")
	return Setting{Name: name, Value: value, Loose: loose, Line: key + " = " + o.Quote(value)}
}

// File is the option file with these settings.
func (o *Options) File(settings []Setting) string {
	var b strings.Builder
	b.WriteString("# Made by Benchrun from spec.database of the run.\n" + o.Head)
	for _, s := range settings {
		b.WriteString(s.Line + "\n")
	}
	return b.String()
}

// quote protects a value with characters that option files treat as their own: '#' begins a comment, blanks at the ends
// are cut off, a backslash escapes.
func quote(value string) string {
	if !strings.ContainsAny(value, `#;\'"`) && value == strings.TrimSpace(value) {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// What all engines have in common: each is of the family of MySQL, with InnoDB.
var (
	durability = Durability{
		Commit: []Durable{{"innodb_flush_log_at_trx_commit", "1"}}, BinaryLog: Durable{"sync_binlog", "1"},
	}
	// reserved are the operator's, besides those that are state or identity.
	reserved      = []string{"user", "skip_networking", "skip_grant_tables"}
	systemSchemas = []string{"mysql", "sys", "information_schema", "performance_schema"}
	dirtyPages    = Gauge{
		Counter: "Innodb_buffer_pool_pages_dirty", Description: "dirty pages", HundredthOf: "Innodb_buffer_pool_pages_total",
	}
	pending = []string{
		"Innodb_data_pending_fsyncs", "Innodb_data_pending_reads", "Innodb_data_pending_writes",
		"Innodb_os_log_pending_fsyncs", "Innodb_os_log_pending_writes",
	}
)

func bufferPoolSize(bytes int64) Setting {
	return Assignment("innodb_buffer_pool_size", strconv.FormatInt(bytes, 10))
}

func flushLogAtTrxCommit(mode int32) Setting {
	return Assignment("innodb_flush_log_at_trx_commit", strconv.Itoa(int(mode)))
}

// binaryLog is said by one of two options: log_bin takes a file's name, so that "log_bin = OFF" would switch the log on, with
// files named "OFF".
func binaryLog(on bool) Setting {
	if on {
		return Setting{Name: "log_bin", Value: "ON", Line: "log_bin = binlog"}
	}
	return Setting{Name: "log_bin", Value: "OFF", Line: "skip_log_bin"}
}

// Named are the variables behind the settings that the API has by name, by these; one that the engine does not have is missing.
func (o *Options) Named() map[string]string {
	named := map[string]string{}
	add := func(setting string, has bool, variable func() Setting) {
		if has {
			named[setting] = variable().Name
		}
	}
	add("bufferPoolSize", o.BufferPoolSize != nil, func() Setting { return o.BufferPoolSize(0) })
	add("redoLogSize", o.RedoLogSize != nil, func() Setting { return o.RedoLogSize(0, 0) })
	add("flushLogAtTrxCommit", o.FlushLogAtTrxCommit != nil, func() Setting { return o.FlushLogAtTrxCommit(0) })
	add("binaryLog", o.BinaryLog != nil, func() Setting { return o.BinaryLog(false) })
	add("synchronousCommit", o.SynchronousCommit != nil, func() Setting { return o.SynchronousCommit("") })
	return named
}

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

// Durability names the variables that decide whether a commit is on disk when the server confirms it.
type Durability struct {
	// Commit is all that makes a commit durable in the redo log, which is the server's default, and BinaryLog what makes it durable
	// in the binary log.
	Commit    []Durable
	BinaryLog Durable
}

// Durable is a variable, and its value with which commits are durable, or several with commas between them.
type Durable struct{ Variable, Value string }

// CommitLoss is the variable because of which a server may lose confirmed commits, with its value; ok is false if it does not.
// A variable that the server does not have loses nothing.
func (e *Engine) CommitLoss(variables map[string]string) (lossy Durable, ok bool) {
	for _, d := range e.Durability.Commit {
		if lossy, ok = d.missed(variables); ok {
			return lossy, ok
		}
	}
	return Durable{}, false
}

// BinaryLogLoss is the variable because of which the binary log of a server may lose confirmed commits, with its value; ok is
// false if it does not, or is off.
func (e *Engine) BinaryLogLoss(variables map[string]string) (lossy Durable, ok bool) {
	if e.Options.BinaryLog == nil {
		return Durable{}, false
	}
	if on := e.Options.BinaryLog(true); variables[on.Name] != on.Value {
		return Durable{}, false
	}
	return e.Durability.BinaryLog.missed(variables)
}

func (d Durable) missed(variables map[string]string) (Durable, bool) {
	value, known := variables[d.Variable]
	return Durable{d.Variable, value}, known && !slices.Contains(strings.Split(d.Value, ","), value)
}

// Miswritten is what is wrong with a variable of a specification; empty if nothing is.
func (e *Engine) Miswritten(name, value string) string {
	if slices.Contains(e.Options.Reserved, name) {
		return "it is reserved for the operator"
	}
	if e.Options.Meant == nil {
		if plain, loose := strings.CutPrefix(name, "loose_"); loose {
			return "write " + plain + ": servers of engine " + e.Name + " know no option that they may not know"
		}
		return ""
	}
	_, _, wrong := e.Options.Meant(name, value)
	return strings.Join(wrong, "; ")
}

// Meant is how a specification has a line of an option file, and what was wrong with each of the two as they were written: names
// in lower case and with underscores; values without a comment and quotation marks, and sizes as whole numbers with the suffixes
// that servers know.
func Meant(name, value string) (meant, set string, wrong []string) {
	meant = strings.ReplaceAll(strings.ToLower(strings.TrimLeft(strings.Trim(name, `'"`+" "), "-")), "-", "_")
	if meant != name {
		wrong = append(wrong, "write "+meant+": a name is in lower case and with underscores")
	}
	set, why := meantValue(value)
	if set != value {
		wrong = append(wrong, fmt.Sprintf("write %q in place of %q: %s", set, value, why))
	}
	return meant, set, wrong
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
