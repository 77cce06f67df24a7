// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// The manager is Benchrun's operator.
package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"

	"go.uber.org/zap/zapcore"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/controllers"
	"github.com/benchrun-dev/benchrun/internal/version"
)

func main() {
	o := new(options)
	o.bind(flag.CommandLine)
	// Every step that is tried again logs its error; where in controller-runtime that is done says nothing.
	zapOptions := zap.Options{StacktraceLevel: zapcore.PanicLevel}
	zapOptions.BindFlags(flag.CommandLine)
	flag.Parse()
	if o.version {
		fmt.Println("manager", version.Version())
		return
	}
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&zapOptions)))
	// GOMEMLIMIT is the container's limit (none by default). The rest is for the pages of the program, and for bursts.
	debug.SetMemoryLimit(debug.SetMemoryLimit(-1) / 16 * 5)
	debug.SetGCPercent(25) // most of the memory is the cache, which stays: a quarter as much again is room enough
	if err := run(ctrl.SetupSignalHandler(), o); err != nil {
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o *options) error {
	if err := o.validate(); err != nil {
		return err
	}
	ctrl.Log.Info("Starting the manager", "version", version.Version(), "loader", o.Images.Loader)
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	config, now := ctrl.GetConfigOrDie(), &controllers.APIClock{PassiveClock: clock.RealClock{}}
	config.Wrap(now.Wrap)
	config.Wrap(controllers.Bounded)
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         cacheOptions(&o.Settings),
		Metrics:                       metricsOptions(o),
		HealthProbeBindAddress:        o.healthAddress,
		LeaderElection:                o.leaderElect,
		LeaderElectionNamespace:       o.leaseNamespace,
		LeaderElectionID:              leaseName(o.Scope),
		LeaderElectionLabels:          map[string]string{controllers.LabelInstallation: o.installation},
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return fmt.Errorf("making the manager: %w", err)
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client for logs: %w", err)
	}
	metrics, err := registerMetrics(o, mgr)
	if err != nil {
		return err
	}
	live := &controllers.Live{Reader: mgr.GetAPIReader()} //nolint:forbidigo // Live bounds what it reads
	var installation *controllers.Installation
	if o.leaderElect { // otherwise its absence would go unnoticed
		installation = &controllers.Installation{Namespace: o.leaseNamespace, Name: o.installation, Live: live, Clock: now}
	}
	runs := &controllers.RunReconciler{
		Client: mgr.GetClient(), Live: live, Recorder: mgr.GetEventRecorder("benchrun"), Clock: now, Metrics: metrics,
		Logs: controllers.PodLogs{Clientset: clientset}, Installation: installation, Settings: o.Settings,
	}
	hosts := &controllers.HostTuningReconciler{
		Client: mgr.GetClient(), Live: live, Clock: now, Images: o.Images, Namespace: o.HostNamespace,
	}
	for _, c := range []interface{ SetupWithManager(ctrl.Manager) error }{runs, hosts} {
		if err := c.SetupWithManager(mgr); err != nil {
			return fmt.Errorf("setting up a controller: %w", err)
		}
	}
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return fmt.Errorf("setting up the health check: %w", err)
	}
	if err := mgr.AddReadyzCheck("leadership", readiness(o, mgr)); err != nil {
		return fmt.Errorf("setting up the readiness check: %w", err)
	}
	return mgr.Start(ctx)
}

// leaseName is the Lease of the managers that work in these namespaces: one of several that would do the same work may do it, and
// those that work elsewhere do not wait for each other.
func leaseName(namespaces controllers.Scope) string {
	const all = "manager.benchrun.dev"
	switch len(namespaces) {
	case 0:
		return all
	case 1:
		return namespaces[0] + "." + all
	}
	sum := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(namespaces)), ",")))
	return fmt.Sprintf("namespaces-%x.%s", sum[:8], all)
}

// readiness fails if this manager does nothing because of another installation. One that stands by for a manager of its own
// installation is ready: else no rolling update would end. A probe shows no reason, so that the log does: once, because probes
// come every few seconds.
func readiness(o *options, mgr ctrl.Manager) healthz.Checker {
	if !o.leaderElect {
		return healthz.Ping
	}
	var lastLogged atomic.Pointer[string]
	return func(request *http.Request) error {
		err, text := o.notReady(request.Context(), mgr), ""
		if err != nil {
			text = err.Error()
		}
		if before := ptr.Deref(lastLogged.Swap(&text), ""); err != nil && before != text {
			ctrl.Log.Error(err, "This manager is not ready")
		}
		return err
	}
}

func (o *options) notReady(ctx context.Context, mgr ctrl.Manager) error {
	select {
	case <-mgr.Elected():
		return nil
	default:
	}
	var lease coordinationv1.Lease
	key := client.ObjectKey{Namespace: o.leaseNamespace, Name: leaseName(o.Scope)}
	err := mgr.GetAPIReader().Get(ctx, key, &lease) //nolint:forbidigo // one Lease, by its name
	switch {
	case apierrors.IsNotFound(err):
		return nil // nobody leads yet
	case err != nil:
		return fmt.Errorf("reading Lease %s: %w", key, err)
	}
	holder := lease.Labels[controllers.LabelInstallation]
	if ptr.Deref(lease.Spec.HolderIdentity, "") == "" || holder == "" || holder == o.installation {
		return nil // a holder without a label is one of before there was one
	}
	return fmt.Errorf("installation %q holds Lease %s and carries out the runs that this one, %q, was installed for: "+
		"remove one of them, or have them watch different namespaces", holder, key, o.installation)
}
