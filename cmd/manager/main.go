// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// The manager is Benchrun's operator.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/debug"

	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
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
	ctrl.Log.Info("Starting the manager", "version", version.Version(), "loader", o.images.Loader)
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	cacheOptions, err := cacheOptions(o.namespaces, o.lanes(), o.hosts())
	if err != nil {
		return err
	}
	config, now := ctrl.GetConfigOrDie(), controllers.NewAPIClock(clock.RealClock{})
	config.Wrap(now.Wrap)
	config.Wrap(controllers.Bounded)
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         cacheOptions,
		Metrics:                       metricsOptions(o),
		HealthProbeBindAddress:        o.healthAddress,
		LeaderElection:                o.leaderElect,
		LeaderElectionNamespace:       o.leaseNamespace,
		LeaderElectionID:              leaseName(o.namespaces),
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
	base := controllers.Base{
		Client: mgr.GetClient(), Live: live, Recorder: mgr.GetEventRecorder("benchrun"), Clock: now, Images: o.images, Metrics: metrics,
		Scope: o.namespaces, LaneNamespace: o.lanes(), HostNamespace: o.hosts(), NameOthers: o.nameOthers,
		ClusterUsers: o.clusterUsers, NoMariaDBOperator: !o.mariaDBs, NetworkPolicies: o.policies,
		Lanes: o.allowedLanes, MaxTurn: o.maxTurn, DefaultTTL: o.defaultTTL, Installation: o.part(live, now),
	}
	runs := &controllers.BenchmarkRunReconciler{
		Base: base, Logs: controllers.PodLogs{Clientset: clientset}, HostTuning: o.hostTuning,
	}
	hosts := &controllers.HostTuningReconciler{
		Client: mgr.GetClient(), Live: live, Clock: now, Images: o.images, Namespace: o.hosts(),
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
