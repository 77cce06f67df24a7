// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltext

import (
	"slices"
	"strings"
)

// unreplicated are variables of a session that hide its statements from the server's replicas, or change how they get there.
var unreplicated = []string{
	"SQL_LOG_BIN", "SKIP_REPLICATION", "WSREP_ON", "SERVER_ID", "GTID_NEXT", "GTID_DOMAIN_ID", "GTID_SEQ_NO", "BINLOG_FORMAT",
}

// bookkeeping says whether a statement is one with which mysqldump carries the state of replication over to another server: it is
// about all of that server, says nothing of the tables, and is not sent.
func (s *Statement) bookkeeping() bool {
	t := s.tokens
	several := func(t Token) bool { return t.is(",") || t.is(";") }
	if len(t) < 5 || !t[0].is("SET") || !t[2].is(".") || slices.ContainsFunc(t, several) {
		return false
	}
	return strings.EqualFold(t[1].Text, "@@GLOBAL") && t[3].is("GTID_PURGED") ||
		strings.EqualFold(t[1].Text, "@@SESSION") && t[3].is("SQL_LOG_BIN")
}

// set checks that SET assigns to nothing but variables of the session.
func (c *checker) set() {
	depth, begins := 0, true
	for ; c.at < len(c.tokens); c.at++ {
		t := c.token(c.at)
		if begins {
			c.target()
			begins = false
			continue
		}
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is(",") && depth == 0:
			begins = true
		}
	}
}

// noVariables are what SET takes that are no variables.
var noVariables = []string{"PASSWORD", "ROLE", "DEFAULT", "RESOURCE", "STATEMENT"}

// target checks what the next token assigns to.
func (c *checker) target() {
	t := c.token(c.at)
	scope, name := strings.ToUpper(strings.TrimPrefix(t.Text, "@@")), t
	system := t.Kind == Variable && strings.HasPrefix(t.Text, "@@")
	switch {
	case system && c.token(c.at+1).is("."):
		name = c.token(c.at + 2)
	case t.Kind == Word && (c.token(c.at+1).named() || c.token(c.at+1).Kind == Variable):
		name = c.token(c.at + 1) // SESSION sort_buffer_size
	}
	switch {
	case t.isOneOf(noVariables):
		c.refuseStatement("SET " + scope)
	case scope == "GLOBAL" || scope == "PERSIST" || scope == "PERSIST_ONLY":
		c.refuseStatement("SET GLOBAL")
	case slices.Contains(unreplicated, strings.ToUpper(strings.TrimPrefix(name.Text, "@@"))):
		c.refuse(t, "SET %s is not allowed: replicas of the server would not get what follows as they should",
			strings.ToLower(strings.TrimPrefix(name.Text, "@@")))
	case strings.HasSuffix(strings.ToUpper(name.Text), "STORAGE_ENGINE"):
		c.assignedEngine()
	}
}

// assignedEngine checks the storage engine that is assigned next: by its name, since only that says which it is.
func (c *checker) assignedEngine() {
	for i := c.at; i < len(c.tokens) && !c.token(i).is(","); i++ {
		if !c.token(i).is("=") {
			continue
		}
		t := c.token(i + 1)
		if !t.named() && t.Kind != Text {
			c.refuse(t, "a storage engine is set by its name")
			return
		}
		c.checkEngine(t)
		return
	}
}
