// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command kubernetes is every Kubernetes program in one static binary: the
// name it is called by (a link), or else its first argument, says which one
// it is. Linking the components once instead of eight times is what makes a
// node image affordable on a small machine.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // the "json" log format
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client-go's metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // the build_info metric
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubeadm "k8s.io/kubernetes/cmd/kubeadm/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// newCommand makes the command of a component; etcd and kubeadm are not here, they run themselves.
func newCommand(name string) *cobra.Command {
	switch name {
	case "kube-apiserver":
		return apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		return controllermanager.NewControllerManagerCommand()
	case "kube-proxy":
		return proxy.NewProxyCommand()
	case "kube-scheduler":
		return scheduler.NewSchedulerCommand()
	case "kubectl":
		return kubectl.NewDefaultKubectlCommand()
	case "kubelet":
		// It installs the signal handler itself, which may be done only once per process.
		return kubelet.NewKubeletCommand(context.Background())
	default:
		return nil
	}
}

func main() {
	name := filepath.Base(os.Args[0])
	if name == "kubernetes" && len(os.Args) > 1 {
		os.Args = os.Args[1:]
		name = os.Args[0]
	}

	switch name {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kubeadm":
		if err := kubeadm.Run(); err != nil {
			os.Exit(1) // kubeadm has printed it
		}
	default:
		command := newCommand(name)
		if command == nil {
			fmt.Fprintf(os.Stderr, "%q is no Kubernetes program\n", name)
			os.Exit(2)
		}
		os.Exit(cli.Run(command))
	}
}
