// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command pause holds a Pod's namespaces: it sleeps until it is told to end, and reaps what is left
// to it when the Pod's containers share their process namespace.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)

	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
}
