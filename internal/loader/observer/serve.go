// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package observer sees what a server cannot say of itself: what its process uses, how its CPU limit holds it back, and what
// its node is like. One side of it runs beside the server, in a container that shares the Pod's processes, and waits for
// requests; the other side is the loader's. Between two requests it does nothing.
//
// Both sides know the run's password. What proves a request is derived from it, so that the password does not travel.
package observer

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/loader/probe"
	"github.com/benchrun-dev/benchrun/internal/loader/sleep"
	"github.com/benchrun-dev/benchrun/internal/result"
)

const (
	answerAtMost = 5 * time.Second
	// headerAtMost bounds how long a request's header may take: until then it is unknown who asks.
	headerAtMost = 2 * time.Second
)

// Observer answers requests about the server beside which it runs.
type Observer struct {
	// Port to listen on.
	Port int
	// Processes are the names that the server's process may have.
	Processes []string
	// Several says that the server is several processes, of which the first starts the others.
	Several bool
	// Data is the server's data directory, which the probe writes to. Nothing is left there.
	Data string
	// Copy is the folder for a copy of the data; empty if none is to be made.
	Copy string
	// PasswordFile holds the run's password.
	PasswordFile string
	// Proc is where the proc file system is.
	Proc string
	// HeaderAtMost is how long a connection may take for the header of a request; 0 is 2 s.
	HeaderAtMost time.Duration

	// probing is held during a probe: two at once would measure each other.
	probing sync.Mutex
	// copying is held while the data are copied.
	copying sync.Mutex
}

// Run answers until ctx is done. Nothing that fails ends it, because the Pod is not ready without this container, and the
// server must not depend on it: it says so and tries again.
func (o *Observer) Run(ctx context.Context) error {
	server := &http.Server{
		Handler: o.handler(), MaxHeaderBytes: 4 << 10,
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, guestKey{}, c) },
		ReadHeaderTimeout: cmp.Or(o.HeaderAtMost, headerAtMost), ReadTimeout: answerAtMost,
		WriteTimeout: 2 * answerAtMost, IdleTimeout: answerAtMost,
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if o.Copy != "" {
		o.goOn()
	}
	for ctx.Err() == nil {
		if err := o.listen(ctx, server); ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "listening:", err)
			_ = sleep.For(ctx, time.Second)
		}
	}
	return nil
}

func (o *Observer) listen(ctx context.Context, server *http.Server) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("", strconv.Itoa(o.Port)))
	if err != nil {
		return err
	}
	return server.Serve(&door{Listener: listener})
}

func (o *Observer) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		// Who asked has gone if this fails.
		_ = json.NewEncoder(w).Encode(o.observe(r.Context(), r.URL.Query().Has(probeParameter)))
	})
	if o.Copy != "" {
		mux.HandleFunc("POST "+CopyPath, o.serveCopy)
	}
	return o.authorized(mux)
}

func (o *Observer) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		password, err := client.ReadCredential(o.PasswordFile)
		switch {
		case err != nil:
			fmt.Fprintln(os.Stderr, "reading the password:", err)
			http.Error(w, "the password cannot be read", http.StatusInternalServerError)
		case subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte(bearer+token(password))) != 1:
			http.Error(w, "not authorized", http.StatusUnauthorized)
		default:
			if g, is := r.Context().Value(guestKey{}).(*guest); is {
				g.door.known(g)
			}
			next.ServeHTTP(w, r)
		}
	})
}

func (o *Observer) observe(ctx context.Context, withProbe bool) *result.Observation {
	answer := &result.Observation{Version: result.ObservationVersion}
	if withProbe {
		o.probing.Lock()
		p := probe.Node(ctx, o.Data)
		o.probing.Unlock()
		answer.Probe = &p
	}
	if facts, err := read(o.Proc, o.Processes, o.Several); err != nil {
		fmt.Fprintln(os.Stderr, "reading the server's process:", err)
	} else {
		facts.DataBytes = sizeOf(o.Data)
		facts.DeviceReads, facts.DeviceWrites = device(o.Proc, "/sys", o.Data)
		answer.Process = facts
	}
	return answer
}

// maxStrangers is how many connections there are whose requests have not proved to know the password, and maxStrangersOfHost how
// many of one host. Anybody in the cluster may connect to the observer, which costs memory before anything was read.
const maxStrangers, maxStrangersOfHost = 128, 16

// door accepts every connection, and closes another one for it when there are too many: the oldest of the host that has the
// most. A client that knows the password says so at once, and is exempt from that.
type door struct {
	net.Listener
	mu sync.Mutex
	// strangers in the order in which they came.
	strangers []*guest
}

type guest struct {
	net.Conn
	door *door
	host string
}

func (d *door) Accept() (net.Conn, error) {
	c, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil {
		host = c.RemoteAddr().String()
	}
	g := &guest{c, d, host}
	if out := d.admit(g); out != nil {
		_ = out.Close()
	}
	return g, nil
}

func (d *door) admit(g *guest) *guest {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.strangers = append(d.strangers, g)
	hosts, crowd := map[string]int{}, g.host
	for _, s := range d.strangers {
		if hosts[s.host]++; hosts[s.host] > hosts[crowd] {
			crowd = s.host
		}
	}
	if len(d.strangers) <= maxStrangers && hosts[g.host] <= maxStrangersOfHost {
		return nil
	}
	i := slices.IndexFunc(d.strangers, func(s *guest) bool { return s.host == crowd })
	return d.strangers[i]
}

// known says that a guest is no stranger any more, or gone.
func (d *door) known(g *guest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.strangers = slices.DeleteFunc(d.strangers, func(s *guest) bool { return s == g })
}

func (g *guest) Close() error {
	g.door.known(g)
	return g.Conn.Close()
}

type guestKey struct{}

const (
	// Path of the observation.
	Path = "/v1/observation"
	// probeParameter asks for a probe of the node too.
	probeParameter = "probe"
	// label is what the token is made of, besides the password. It has the version of the method.
	label = "benchrun observer v1"
	// bearer precedes the token in the header of a request.
	bearer = "Bearer "
)

// token is what a request must carry. It does not tell the password.
func token(password string) string {
	mac := hmac.New(sha256.New, []byte(password))
	mac.Write([]byte(label))
	return hex.EncodeToString(mac.Sum(nil))
}
