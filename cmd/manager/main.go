// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// The manager is Benchrun's operator.
package main

import (
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/controllers"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// options are the manager's flags.
type options struct {
	metricsAddress string
	metricsSecure  bool
	healthAddress  string
	leaderElect    bool
	loaderImage    string
	sysbenchImage  string
	namespace      string
}

func main() {
	var o options
	flag.StringVar(&o.metricsAddress, "metrics-bind-address", "0", "Address of the metrics endpoint, for example :8443; 0 is none.")
	flag.BoolVar(&o.metricsSecure, "metrics-secure", true, "Serve metrics by HTTPS, to authorised clients only.")
	flag.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "Address of the health probes.")
	flag.BoolVar(&o.leaderElect, "leader-elect", false, "Let only one of several managers work at a time.")
	flag.StringVar(&o.loaderImage, "loader-image", "", "Image of the loader; required.")
	flag.StringVar(&o.sysbenchImage, "sysbench-image", "", "Image of the loader that has sysbench too; required.")
	flag.StringVar(&o.namespace, "namespace", "", "Only namespace to work in; empty is all.")
	zapOptions := zap.Options{}
	zapOptions.BindFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&zapOptions)))
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	if o.loaderImage == "" {
		return errors.New("--loader-image is required: the image of the loader that belongs to this manager")
	}
	if o.sysbenchImage == "" {
		return errors.New("--sysbench-image is required: the image of the same loader that has sysbench too")
	}
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	cacheOptions, err := cacheOptions(o.namespace)
	if err != nil {
		return err
	}
	config := ctrl.GetConfigOrDie()
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         cacheOptions,
		Metrics:                       metricsOptions(o),
		HealthProbeBindAddress:        o.healthAddress,
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              "manager.benchrun.dev",
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return fmt.Errorf("making the manager: %w", err)
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client for logs: %w", err)
	}
	reconciler := &controllers.BenchmarkRunReconciler{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Logs: controllers.PodLogs{Clientset: clientset},
		Recorder: mgr.GetEventRecorder("benchrun"), Clock: clock.RealClock{},
		Images: podutil.Images{Loader: o.loaderImage, Sysbench: o.sysbenchImage},
	}
	if err := reconciler.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("setting up the controller: %w", err)
	}
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return fmt.Errorf("setting up the health check: %w", err)
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		return fmt.Errorf("setting up the readiness check: %w", err)
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}

func metricsOptions(o options) metricsserver.Options {
	m := metricsserver.Options{BindAddress: o.metricsAddress, SecureServing: o.metricsSecure}
	if o.metricsSecure {
		m.FilterProvider = filters.WithAuthenticationAndAuthorization
		m.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	}
	return m
}

// cacheOptions keep only what belongs to runs, and of ConfigMaps, which are watched by their metadata alone, only what decisions
// need: anybody may put the label of a run on a ConfigMap, with as many annotations as fit.
func cacheOptions(namespace string) (cache.Options, error) {
	ofRun, err := labels.NewRequirement(v1alpha1.LabelRun, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, fmt.Errorf("making the cache's selector: %w", err)
	}
	selector := labels.NewSelector().Add(*ofRun)
	strip := cache.TransformStripManagedFields()
	o := cache.Options{
		DefaultTransform: strip,
		ByObject: map[client.Object]cache.ByObject{
			&batchv1.Job{}: {Label: selector}, &appsv1.StatefulSet{}: {Label: selector}, &corev1.Pod{}: {Label: selector},
			&corev1.Service{}: {Label: selector}, &corev1.PersistentVolumeClaim{}: {Label: selector},
			&policyv1.PodDisruptionBudget{}: {Label: selector},
			&corev1.ConfigMap{}: {Label: selector, Transform: func(object any) (any, error) {
				if meta, ok := object.(*metav1.PartialObjectMetadata); ok {
					meta.Annotations = nil
				}
				return strip(object)
			}},
		},
	}
	if namespace != "" {
		o.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	return o, nil
}
