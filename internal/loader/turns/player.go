// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/alternate"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// ErrLost is the error of a player whose session has ended before all had measured.
var ErrLost = errors.New("the loader of another variant ended before all variants were measured")

// Player is one side of a session.
type Player struct {
	conn  io.ReadWriteCloser
	lines *bufio.Scanner
	seed  int64
	mean  time.Duration
	// block of the turn that it has, or had last.
	block int
	// joined is when all players were there, and facts what there was since.
	joined time.Time
	facts  result.TurnFacts
}

// Join takes a place in the session with that number, at the referee that the base URL names, and waits for the first turn: until
// all players are there. authorize makes the request one that the referee accepts. The player must be closed.
func Join(
	ctx context.Context, base string, authorize func(*http.Request), session int, t *result.Turns,
) (*Player, error) {
	query := url.Values{}
	for name, value := range map[string]int64{
		"session": int64(session), "place": int64(t.Place), "players": int64(t.Variants), "seed": t.Seed,
	} {
		query.Set(name, strconv.FormatInt(value, 10))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+Path+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("joining the other variants: %w", err)
	}
	request.Header.Set("Connection", "Upgrade")
	request.Header.Set("Upgrade", protocol)
	authorize(request)
	answer, err := new(http.Transport).RoundTrip(request)
	if err != nil {
		return nil, fmt.Errorf("joining the other variants: %w", err)
	}
	conn, ok := answer.Body.(io.ReadWriteCloser)
	if answer.StatusCode != http.StatusSwitchingProtocols || !ok {
		_ = answer.Body.Close()
		return nil, fmt.Errorf("joining the other variants: the observer answers: %s", answer.Status)
	}
	p := &Player{
		conn: conn, lines: bufio.NewScanner(conn), seed: t.Seed, mean: time.Duration(t.SliceMilliseconds) * time.Millisecond,
	}
	if err := p.Wait(ctx); err != nil {
		p.Close()
		return nil, err
	}
	p.joined = time.Now()
	return p, nil
}

// Wait for a turn.
func (p *Player) Wait(ctx context.Context) error {
	line, err := p.read(ctx)
	if err != nil {
		return err
	}
	block, found := strings.CutPrefix(line, lineGo+" ")
	if p.block, err = strconv.Atoi(block); !found || err != nil {
		return fmt.Errorf("waiting for a turn: %q is not expected", line)
	}
	return nil
}

// Pass gives the turn back.
func (p *Player) Pass(context.Context) error { return p.say(lineDone) }

// Over gives the last turn back, and waits until all others have done so too. After an error, something was disturbed.
func (p *Player) Over(ctx context.Context) error {
	p.facts.Micros = time.Since(p.joined).Microseconds()
	if err := p.say(lineOver); err != nil {
		return err
	}
	line, err := p.read(ctx)
	if err == nil && line != lineEnd {
		err = fmt.Errorf("waiting for the end: %q is not expected", line)
	}
	return err
}

// Close gives the place up. If not all are over, the others end too.
func (p *Player) Close() { _ = p.conn.Close() }

// Facts are what there was of turns.
func (p *Player) Facts() result.TurnFacts { return p.facts }

// Alternate is alternate.InTurns of this player.
func (p *Player) Alternate(ctx context.Context, clock alternate.Clock, finished <-chan struct{}) error {
	length := func() time.Duration { return alternate.Length(p.seed, p.block, p.mean) }
	return alternate.InTurns(ctx, p, &p.facts, length, clock, finished)
}

// read the next line. Cancelling ctx closes the connection.
func (p *Player) read(ctx context.Context) (string, error) {
	stop := context.AfterFunc(ctx, p.Close)
	defer stop()
	switch {
	case p.lines.Scan():
		return p.lines.Text(), nil
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	}
	return "", ErrLost
}

func (p *Player) say(line string) error {
	if _, err := fmt.Fprintln(p.conn, line); err != nil {
		return ErrLost
	}
	return nil
}
