// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltext

import (
	"slices"
	"strconv"
	"strings"
)

// condition is that of a comment which servers execute: /*!50001 … */ is for those that are at least 5.0.1, /*M!100100 … */ for
// MariaDB at least 10.1.0. Without a version it is for all.
type condition struct {
	mariaDB bool
	version int
}

const (
	// noServer is a version that mariadb-dump writes so that no server executes the comment.
	noServer = 999999
	// mostVersions are more than dumps have in one statement.
	mostVersions = 32
	// MariaDB leaves comments without an M to MySQL from this version up to that one.
	fromMySQL, toMySQL = 50700, 99999
)

// conditionOf is the condition of the comment that a text begins with, and the length of what stands before its content; nil if
// no server executes it.
func conditionOf(text string) (*condition, int) {
	when, head := &condition{}, len("/*!")
	switch {
	case strings.HasPrefix(text, "/*M!"):
		when.mariaDB, head = true, len("/*M!")
	case !strings.HasPrefix(text, "/*!"):
		return nil, 0
	}
	if n := min(digits(text[head:]), 6); n >= 5 {
		when.version, _ = strconv.Atoi(text[head : head+n]) // it has six digits at most
		head += n
	}
	return when, head
}

func (c *condition) never() bool { return c.version == noServer }

// holds says whether a server of a version executes the comment.
func (c *condition) holds(mariaDB bool, version int) bool {
	switch {
	case c == nil:
		return true
	case c.version > version:
		return false
	case mariaDB:
		return c.mariaDB || c.version < fromMySQL || c.version > toMySQL
	}
	return !c.mariaDB
}

// readings are the tokens that different servers read of a statement: of each engine, for each version that makes a difference.
// There are none if these are too many.
func (s *Statement) readings() [][]Token {
	versions := []int{0}
	conditional := false
	for i := range s.tokens {
		if when := s.tokens[i].when; when != nil {
			conditional = true
			versions = append(versions, when.version)
		}
	}
	if !conditional {
		return [][]Token{s.tokens}
	}
	slices.Sort(versions)
	versions = slices.Compact(versions)
	if len(versions) > mostVersions {
		return nil
	}
	var all [][]Token
	for _, mariaDB := range []bool{true, false} {
		for _, version := range versions {
			var read []Token
			for _, t := range s.tokens {
				if t.when.holds(mariaDB, version) {
					read = append(read, t)
				}
			}
			all = append(all, read)
		}
	}
	return all
}
