// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/alternate"
)

const (
	// maxPlayers bounds a session.
	maxPlayers = 64
	// turnAtMost is how long a player may have its turn: a slice is seconds, and what is under way at its end has to finish.
	turnAtMost = 10 * time.Minute
	// sayAtMost bounds how long a line to a player that does not read may take.
	sayAtMost = 10 * time.Second
)

// Referee gives turns to the players of sessions.
type Referee struct {
	// TurnAtMost is how long a player may have its turn; 0 is the default. A session in which one takes longer is over.
	TurnAtMost time.Duration

	mu sync.Mutex
	// waiting are the sessions for which players are missing, by their number.
	waiting map[int]*session
}

// session is a set of players that take turns.
type session struct {
	seed    int64
	atMost  time.Duration
	players []*player // by place; nil is missing
	// heard is what players say; closed is closed when the referee stops listening.
	heard  chan word
	closed chan struct{}
}

// player is a connection.
type player struct {
	conn net.Conn
	over bool
}

// word is a line of a player, or its end.
type word struct {
	of   *player
	line string
	lost bool
}

// asked is what a request says.
type asked struct {
	session, place, players int
	seed                    int64
}

// ServeHTTP opens the connection of a player. Who may ask is the caller's to find out.
func (r *Referee) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	a, err := parse(request.URL.Query())
	if err == nil && request.Header.Get("Upgrade") != protocol {
		err = errors.New("another protocol is expected")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	// The deadlines are those of other requests.
	if conn.SetDeadline(time.Time{}) != nil || switched(conn) != nil {
		_ = conn.Close()
		return
	}
	p := &player{conn: conn}
	s := r.join(a, p)
	go func() {
		s.listen(p, buffered.Reader)
		if !r.left(a, s, p) {
			s.pass(word{of: p, lost: true})
		}
	}()
}

func switched(conn net.Conn) error {
	_, err := fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", protocol)
	return err
}

func parse(q url.Values) (a asked, err error) {
	number := func(name string, most int) int {
		n, wrong := strconv.Atoi(q.Get(name))
		if wrong != nil || n < 0 || n > most {
			err = errors.Join(err, fmt.Errorf("%s is %q but must be 0 to %d", name, q.Get(name), most))
		}
		return n
	}
	a = asked{session: number("session", 1<<30), players: number("players", maxPlayers)}
	a.place = number("place", a.players-1)
	a.seed, _ = strconv.ParseInt(q.Get("seed"), 10, 64)
	return a, err
}

// listen reads what a player says until the connection is lost.
func (s *session) listen(p *player, r io.Reader) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		s.pass(word{of: p, line: lines.Text()})
	}
}

// pass a word on to the goroutine that gives the turns.
func (s *session) pass(w word) {
	select {
	case s.heard <- w:
	case <-s.closed:
	}
}

// left frees the place of a player that is gone. It is false if the session has begun, which must know.
func (r *Referee) left(a asked, s *session, p *player) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case s.players[a.place] != p:
		return true // somebody else has it by now
	case r.waiting[a.session] != s:
		return false
	}
	s.players[a.place] = nil
	return true
}

// join adds a player to its session, which begins when all are there. One that comes again takes its own place.
func (r *Referee) join(a asked, p *player) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.waiting[a.session]
	if s == nil || len(s.players) != a.players || s.seed != a.seed {
		if s != nil {
			s.close()
		}
		s = &session{
			seed: a.seed, atMost: cmp.Or(r.TurnAtMost, turnAtMost), players: make([]*player, a.players),
			heard: make(chan word), closed: make(chan struct{}),
		}
		if r.waiting == nil {
			r.waiting = map[int]*session{}
		}
		r.waiting[a.session] = s
	}
	if before := s.players[a.place]; before != nil {
		_ = before.conn.Close() // left finds its place taken
	}
	s.players[a.place] = p
	if !slices.Contains(s.players, nil) {
		delete(r.waiting, a.session)
		go s.play()
	}
	return s
}

// play gives turns until all are over, or a connection is lost.
func (s *session) play() {
	defer s.close()
	for block, playing := 1, true; playing; block++ {
		playing = false
		for _, place := range alternate.Order(s.seed, block, len(s.players)) {
			p := s.players[place]
			if p.over {
				continue
			}
			if playing = true; !s.turn(p, block) {
				return
			}
		}
	}
	for _, p := range s.players {
		if p.say(lineEnd) != nil {
			return
		}
	}
	// Each closes its connection when it has read that.
	for left := len(s.players); left > 0; {
		if w, heard := s.hear(); !heard {
			return
		} else if w.lost {
			left--
		}
	}
}

// turn is one player's. It says false if a player's connection is lost, or says what it should not.
func (s *session) turn(p *player, block int) bool {
	if p.say(fmt.Sprintf("%s %d", lineGo, block)) != nil {
		return false
	}
	w, heard := s.hear()
	p.over = w.line == lineOver
	return heard && w.of == p && (p.over || w.line == lineDone)
}

// hear is what a player says next, if one says something in time.
func (s *session) hear() (word, bool) {
	late := time.NewTimer(s.atMost)
	defer late.Stop()
	select {
	case w := <-s.heard:
		return w, true
	case <-late.C:
		return word{}, false
	}
}

func (p *player) say(line string) error {
	if err := p.conn.SetWriteDeadline(time.Now().Add(sayAtMost)); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.conn, line)
	return err
}

func (s *session) close() {
	close(s.closed)
	for _, p := range s.players {
		if p != nil {
			_ = p.conn.Close()
		}
	}
}
