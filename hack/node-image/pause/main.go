// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command pause is what the system's image runs where no command is given. Without arguments it holds a Pod's namespaces: it
// sleeps until it is told to end, and reaps what is left to it when the Pod's containers share their process namespace. With
// arguments it is CoreDNS, for which kubeadm gives nothing else.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if len(os.Args) > 1 {
		err := syscall.Exec("/usr/bin/coredns", append([]string{"coredns"}, os.Args[1:]...), os.Environ())
		fmt.Fprintln(os.Stderr, "starting coredns:", err)
		os.Exit(1)
	}

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
