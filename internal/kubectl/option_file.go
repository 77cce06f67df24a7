// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/benchrun-dev/benchrun/internal/engine"
)

// options are what an option file of a server says, as a specification has it.
type options struct {
	settings, variables map[string]any
	// left are what is not taken over, and why, in a line each.
	left   []string
	engine *engine.Engine
	// files are being read, each included by the one before.
	files []string
	// redo is the size of one file of the redo log, where the engine has it like that.
	redo *resource.Quantity
}

// readOptions reads an option file, such as my.cnf, and those that it includes, as a server of that engine reads them: the groups
// of the server, and of an option that stands twice the last one.
func readOptions(file string, e *engine.Engine) (*options, error) {
	if e.Options.Meant == nil {
		return nil, fmt.Errorf("option files are read for engines MariaDB and MySQL, and this is %s", e.Name)
	}
	o := &options{engine: e, settings: map[string]any{}, variables: map[string]any{}}
	if err := o.read(file); err != nil {
		return nil, err
	}
	if files, _ := o.variables["innodb_log_files_in_group"].(string); files != "" && o.redo != nil {
		n, err := strconv.ParseInt(files, 10, 64)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("innodb_log_files_in_group: %q is no number of files", files)
		}
		one := e.Options.RedoLogSize(o.redo.Value(), 1)
		if whole := n * o.redo.Value(); e.Options.RedoLogSize(whole, n).Value == one.Value { // of an engine with several files
			o.settings["redoLogSize"] = resource.NewQuantity(whole, resource.BinarySI).String()
		}
	}
	return o, nil
}

func (o *options) database() map[string]any {
	database := map[string]any{}
	for field, values := range map[string]map[string]any{"settings": o.settings, "variables": o.variables} {
		if len(values) > 0 {
			database[field] = values
		}
	}
	return database
}

// maxOptionFile is the largest option file that is read, in bytes.
const maxOptionFile = 1 << 20

// read a file. Errors say its name and line.
func (o *options) read(file string) error {
	if slices.Contains(o.files, file) {
		return fmt.Errorf("%s includes itself", file)
	}
	opened, err := os.Open(file)
	if err != nil {
		return err
	}
	defer opened.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(opened, maxOptionFile+1))
	if err == nil && len(text) > maxOptionFile {
		err = fmt.Errorf("%s has more than %d bytes", file, maxOptionFile)
	}
	if err != nil {
		return err
	}
	o.files = append(o.files, file)
	defer func() { o.files = o.files[:len(o.files)-1] }()
	group := ""
	for i, line := range strings.Split(string(text), "\n") {
		if group, err = o.line(fmt.Sprintf("%s:%d", file, i+1), group, strings.TrimSpace(line)); err != nil {
			return fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
	}
	return nil
}

// line of a file in a group; it returns the group of the next one.
func (o *options) line(place, group, line string) (string, error) {
	switch {
	case line == "" || strings.ContainsRune("#;", rune(line[0])):
		return group, nil
	case line[0] == '!':
		return group, o.include(line)
	case line[0] == '[':
		name, _, closed := strings.Cut(line[1:], "]")
		if !closed {
			return "", fmt.Errorf("%s: the group has no ]", line)
		}
		if ofVersion.MatchString(name) {
			o.left = append(o.left, fmt.Sprintf("%s: [%s]: only servers of that version read this group", place, name))
		}
		return name, nil
	case group == "":
		return "", fmt.Errorf("%s: the option stands before the first [group]", line)
	case o.reads(group):
		return group, o.option(place, line)
	}
	return group, nil
}

// ofVersion matches the groups that only servers of one version read.
var ofVersion = regexp.MustCompile(`^(mysqld|mariadbd?)-\d`)

// reads says whether servers read that group, of whatever version.
func (o *options) reads(group string) bool {
	return group == "mysqld" || group == "server" || o.engine == engine.MariaDB && (group == "mariadb" || group == "mariadbd")
}

// include what a line names, seen from the folder of its file.
func (o *options) include(line string) error {
	directive, of, _ := strings.Cut(line, " ")
	of = strings.TrimSpace(of)
	if !filepath.IsAbs(of) {
		of = filepath.Join(filepath.Dir(o.files[len(o.files)-1]), of)
	}
	switch directive {
	case "!include":
		return o.read(of)
	case "!includedir":
		if _, err := os.ReadDir(of); err != nil {
			return err
		}
		files, err := filepath.Glob(filepath.Join(of, "*.cnf")) // sorted
		for _, file := range files {
			err = errors.Join(err, o.read(file))
		}
		return err
	}
	return fmt.Errorf("%s is not known; an option file has !include and !includedir", directive)
}

// option of a server: NAME, or NAME=VALUE.
func (o *options) option(place, line string) error {
	name, value, valued := strings.Cut(uncommented(line), "=")
	name, value, _ = o.engine.Options.Meant(strings.TrimSpace(name), strings.TrimSpace(value))
	plain, loose := strings.CutPrefix(name, "loose_")
	if !valued {
		plain, value = flag(plain)
	}
	if name = plain; loose {
		name = "loose_" + plain
	}
	named := o.engine.Options
	if why := o.engine.Unfit(plain); why != "" {
		o.left = append(o.left, fmt.Sprintf("%s: %s: %s", place, plain, why))
		return nil
	}
	var err error
	switch plain {
	case "":
		return fmt.Errorf("%s: an option has a name", line)
	case named.BufferPoolSize(0).Name:
		_, err = o.size("bufferPoolSize", value)
	case named.RedoLogSize(0, 0).Name:
		o.redo, err = o.size("redoLogSize", value)
	case named.FlushLogAtTrxCommit(0).Name:
		o.settings["flushLogAtTrxCommit"], err = strconv.ParseInt(value, 10, 32)
	case named.BinaryLog(true).Name:
		o.settings["binaryLog"] = valued || value == on // a value is the name of the log's files
	default:
		o.variables[name] = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\'`, `'`, `\s`, " ", `\t`, "\t").Replace(value)
	}
	if err != nil {
		return fmt.Errorf("%s: %q is no value: %w", plain, value, err)
	}
	return nil
}

// size of a setting, as servers write it: their units are those of 1024.
func (o *options) size(setting, value string) (*resource.Quantity, error) {
	text := strings.ToUpper(value)
	if text != "" && text[len(text)-1] > '9' {
		text += "i"
	}
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return nil, err
	}
	o.settings[setting] = quantity.String()
	return &quantity, nil
}

// What an option without a value sets its variable to.
const on, off = "ON", "OFF"

// skipping are the options whose names begin with skip_ and that are no others switched off.
var skipping = strings.Fields("skip_name_resolve skip_external_locking skip_networking skip_show_database skip_grant_tables " +
	"skip_replica_start skip_slave_start skip_replication skip_parallel_replication skip_host_cache")

// flag is an option without a value: the variable, and what it is set to.
func flag(name string) (variable, value string) {
	for prefix, value := range map[string]string{"skip_": off, "disable_": off, "enable_": on} {
		if rest, found := strings.CutPrefix(name, prefix); found && !slices.Contains(skipping, name) {
			return rest, value
		}
	}
	return name, on
}

// uncommented is a line without the comment at its end: from a # on that is not between quotation marks.
func uncommented(line string) string {
	quote := rune(0)
	for i, c := range line {
		switch {
		case c == '#' && quote == 0:
			return line[:i]
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		}
	}
	return line
}
