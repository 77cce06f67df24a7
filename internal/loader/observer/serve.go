// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/loader/probe"
	"github.com/benchrun-dev/benchrun/internal/loader/turns"
	"github.com/benchrun-dev/benchrun/internal/result"
)

const (
	// answerAtMost bounds a request, the probe included.
	answerAtMost = 5 * time.Second
	// headerAtMost bounds how long a request's header may take: until then nobody knows who asks.
	headerAtMost = 2 * time.Second
	// maxHeader bounds what is read of a request.
	maxHeader = 4 << 10
	// sysFolder is where the sys file system is.
	sysFolder = "/sys"
	// listenAgain is when a port that is taken is tried again.
	listenAgain = time.Second
)

// Observer answers requests about the server beside which it runs.
type Observer struct {
	// Port to listen on.
	Port int
	// Processes are the names that the server's process may have.
	Processes []string
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
		Handler: o.handler(), MaxHeaderBytes: maxHeader, ConnContext: withGuest,
		ReadHeaderTimeout: cmp.Or(o.HeaderAtMost, headerAtMost), ReadTimeout: answerAtMost,
		WriteTimeout: 2 * answerAtMost, IdleTimeout: answerAtMost,
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if o.Copy != "" {
		o.goOn()
	}
	for {
		err := o.listen(ctx, server)
		if ctx.Err() != nil {
			return nil
		}
		fmt.Fprintln(os.Stderr, "listening:", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(listenAgain):
		}
	}
}

func (o *Observer) listen(ctx context.Context, server *http.Server) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("", strconv.Itoa(o.Port)))
	if err != nil {
		return err
	}
	return server.Serve(&door{Listener: listener})
}

// handler answers GET of the observation, and of turns, and POST of the copy, to who knows the password.
func (o *Observer) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		// Who asked has gone if this fails.
		_ = json.NewEncoder(w).Encode(o.observe(r.Context(), r.URL.Query().Has(probeParameter)))
	})
	mux.Handle("GET "+turns.Path, &turns.Referee{})
	if o.Copy != "" {
		mux.HandleFunc("POST "+CopyPath, o.serveCopy)
	}
	return o.authorized(mux)
}

// authorized is a handler for who knows the password.
func (o *Observer) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		password, err := conn.ReadCredential(o.PasswordFile)
		switch {
		case err != nil:
			fmt.Fprintln(os.Stderr, "reading the password:", err)
			http.Error(w, "the password cannot be read", http.StatusInternalServerError)
		case subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte(bearer+token(password))) != 1:
			http.Error(w, "not authorized", http.StatusUnauthorized)
		default:
			trust(r.Context())
			next.ServeHTTP(w, r)
		}
	})
}

// observe reads the process after the probe, so that the moment is as close as can be to what follows.
func (o *Observer) observe(ctx context.Context, withProbe bool) *result.Observation {
	answer := &result.Observation{Version: result.ObservationVersion}
	if withProbe {
		o.probing.Lock()
		p := probe.Node(ctx, o.Data)
		o.probing.Unlock()
		answer.Probe = &p
	}
	facts, err := read(o.Proc, o.Processes)
	if err != nil {
		fmt.Fprintln(os.Stderr, "reading the server's process:", err)
	}
	if facts != nil {
		facts.DataBytes = sizeOf(o.Data)
		facts.DeviceReads, facts.DeviceWrites = device(o.Proc, sysFolder, o.Data)
	}
	answer.Process = facts
	return answer
}
