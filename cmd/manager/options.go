// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/controllers"
	"github.com/benchrun-dev/benchrun/internal/engine"
)

type options struct {
	controllers.Settings
	version        bool
	metricsAddress string
	metricsSecure  bool
	metricsCertDir string
	healthAddress  string
	leaderElect    bool
	leaseNamespace string
	installation   string
}

func (o *options) bind(flags *flag.FlagSet) {
	flags.BoolVar(&o.version, "version", false, "Print the version and exit.")
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", "0", "Address of the metrics endpoint, for example :8443; 0 is none.")
	flags.BoolVar(&o.metricsSecure, "metrics-secure", true, "Serve metrics over HTTPS, to authorized clients only.")
	flags.StringVar(&o.metricsCertDir, "metrics-cert-dir", "",
		"Folder with the certificate of the metrics endpoint, tls.crt and tls.key; both are read again when they change. "+
			"Empty: the manager signs one itself when it starts, which no client can verify.")
	flags.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "Address of the health probes.")
	flags.BoolVar(&o.leaderElect, "leader-elect", false,
		"Let only one of the managers work that have the same --namespaces and --lease-namespace.")
	flags.StringVar(&o.leaseNamespace, "lease-namespace", "", "Namespace of the Lease of --leader-elect, with which it is required.")
	flags.StringVar(&o.LaneNamespace, "lane-namespace", "",
		"Namespace of the Leases of lanes: runs of all managers that have the same wait for each other. Empty is --lease-namespace.")
	flags.Func("lanes", "Names of the only lanes that runs may ask for, separated by commas; empty is all.", listed(&o.Lanes))
	flags.StringVar(&o.installation, "installation", "benchrun",
		"Name of the installation, a label's value. A manager that waits for one of another installation is not ready.")
	flags.Func("namespaces", "Names of the only namespaces to work in, separated by commas; empty is all.",
		listed((*[]string)(&o.Scope)))
	flags.Func("host-tuning-namespaces", "Names of the namespaces, separated by commas, whose runs may change kernel settings of "+
		"their database's node, by privileged Pods in the manager's own namespace; empty is none.", listed(&o.HostTuning))
	flags.BoolVar(&o.NameOthers, "name-other-namespaces", false,
		"Name Pods and runs of other namespaces in the status and the results of runs, for everybody who can read these.")
	flags.BoolVar(&o.ClusterUsers, "cluster-users", false,
		"Let the cluster say as which users the Pods of runs work, as OpenShift does. Otherwise they ask for those of their images.")
	flags.BoolVar(&o.MariaDBOperator, "mariadb-operator", true,
		"Let runs have their database from the MariaDB operator, for which the manager needs rights on its kind MariaDB.")
	flags.BoolVar(&o.NetworkPolicies, "network-policies", false,
		"Make a NetworkPolicy with each database, by which only Pods of its run may connect to it. The manager needs "+
			"rights on that kind.")
	flags.DurationVar(&o.MaxTurn, "max-turn", 0,
		"For how long a run may have its lane, for example 24h; then it ends, and the next begins. 0: no bound.")
	flags.DurationVar(&o.DefaultTTL, "default-ttl", 30*24*time.Hour,
		"After how long a finished run is deleted that sets no spec.ttlSecondsAfterFinished. 0 keeps it.")
	flags.StringVar(&o.Images.Loader, "loader-image", "", "Image of the loader; required.")
	flags.StringVar(&o.Images.Sysbench, "sysbench-image", "",
		"Image of the loader that also has sysbench. Empty: runs of Sysbench are refused.")
	o.Images.Databases = map[string]string{}
	flags.Func("database-image", "ENGINE=IMAGE, for example MariaDB=mariadb:11.8: the image of the engine's runs that name none. "+
		"Repeat it for other engines. That of PostgreSQL also has pgbench.", o.databaseImage)
	flags.StringVar(&o.Images.Registry, "image-registry", "",
		"What the names of images that name no registry are completed with, for example registry.example.com/mirror.")
	flags.Func("image-pull-secrets",
		"Names of Secrets, separated by commas, for the Pods of runs. They must exist in each run's namespace.",
		listed(&o.Images.PullSecrets))
}

// listed sets a list to names that commas separate.
func listed(list *[]string) func(string) error {
	return func(names string) error {
		*list = strings.FieldsFunc(names, func(c rune) bool { return c == ',' })
		return nil
	}
}

func (o *options) databaseImage(said string) error {
	name, image, _ := strings.Cut(said, "=")
	e, err := engine.ByName(name)
	if err == nil {
		o.Images.Databases[e.Name] = image
	}
	return err
}

// validate says what is wrong with the options, and completes them.
func (o *options) validate() error {
	// What tunes nodes is in the manager's own namespace.
	o.HostNamespace, o.LaneNamespace = cmp.Or(o.leaseNamespace, o.LaneNamespace), cmp.Or(o.LaneNamespace, o.leaseNamespace)
	switch {
	case o.Images.Loader == "":
		return errors.New("--loader-image is not set: Benchrun publishes no images, so name the loader that you have built")
	case o.leaderElect && o.leaseNamespace == "":
		return errors.New("--leader-elect needs --lease-namespace: the manager's own namespace")
	case o.installation == "" || len(validation.IsValidLabelValue(o.installation)) > 0:
		return fmt.Errorf("--installation is %q, and must be the value of a label: 1 to 63 letters, digits, '-', '_' and '.'",
			o.installation)
	case o.metricsCertDir != "" && !o.metricsSecure:
		return errors.New("--metrics-cert-dir needs --metrics-secure: a certificate is of no use without HTTPS")
	case o.LaneNamespace == "":
		return errors.New("--lane-namespace is not set, and neither is --lease-namespace: name the manager's own namespace")
	}
	return cmp.Or(
		checkSeconds("--max-turn", o.MaxTurn, "for no bound"),
		checkSeconds("--default-ttl", o.DefaultTTL, "to keep finished runs"),
		checkCertificate(o.metricsCertDir),
	)
}

// checkSeconds says what is wrong with a duration, whose 0 is for something else.
func checkSeconds(name string, value time.Duration, zero string) error {
	if value < 0 || value%time.Second != 0 {
		return fmt.Errorf("%s is %s, and must be whole seconds, or 0 %s", name, value, zero)
	}
	return nil
}

// cacheOptions keep only what belongs to runs, the Leases of lanes and of tuned nodes in their namespaces, and of all these only
// what is read: anybody may put a label of Benchrun on his objects, and fill them.
func cacheOptions(s *controllers.Settings) cache.Options {
	selector, err := labels.Parse(v1alpha1.LabelComponent) // every object has it
	utilruntime.Must(err)
	o := cache.Options{
		DefaultTransform: controllers.Cached,
		NewInformer:      newInformer,
		ByObject: map[client.Object]cache.ByObject{
			&batchv1.Job{}: {Label: selector}, &appsv1.StatefulSet{}: {Label: selector}, &corev1.Pod{}: {Label: selector},
			&corev1.Service{}: {Label: selector}, &corev1.PersistentVolumeClaim{}: {Label: selector},
			&policyv1.PodDisruptionBudget{}: {Label: selector}, &corev1.ConfigMap{}: {Label: selector},
			&coordinationv1.Lease{}: {
				// Those of leader election have no such label.
				Label:      labels.SelectorFromSet(labels.Set{"app.kubernetes.io/managed-by": "benchrun"}),
				Namespaces: map[string]cache.Config{s.LaneNamespace: {}, s.HostNamespace: {}},
			},
		},
	}
	if len(s.Scope) > 0 {
		o.DefaultNamespaces = map[string]cache.Config{}
		for _, namespace := range s.Scope {
			o.DefaultNamespaces[namespace] = cache.Config{}
		}
	}
	return o
}

// newInformer makes informers whose lists are read in pages, one at a time. They keep of each page only what the cache keeps, and
// ask for the present state: from a state that may be older, the API server answers with everything at once.
func newInformer(
	lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers,
) toolscache.SharedIndexInformer {
	source := toolscache.ToListerWatcherWithContext(lw)
	inPages := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		listing.Lock()
		defer listing.Unlock()
		page, err := source.ListWithContext(ctx, o)
		if err != nil {
			return nil, err
		}
		return page, apimeta.EachListItem(page, func(object runtime.Object) error {
			_, err := controllers.Cached(object)
			return err
		})
	})
	inPages.PageSize, inPages.FullListIfExpired = controllers.PageSize, false
	return toolscache.NewSharedIndexInformer(&pages{toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.ResourceVersion, o.ResourceVersionMatch, o.Continue, o.Limit = "", "", "", 0
			list, _, err := inPages.ListWithAlloc(ctx, o)
			return list, err
		},
		WatchFuncWithContext: source.WatchWithContext,
	}}, example, resync, indexers)
}

// pages are read instead of a stream of what exists: those of all kinds come at the same time, each with buffers as large as the
// largest object, which stay.
type pages struct{ toolscache.ListWatch }

// IsWatchListSemanticsUnSupported tells the reflector to list.
func (*pages) IsWatchListSemanticsUnSupported() bool { return true }

// listing is held while a page is read: one at a time, of all kinds.
var listing sync.Mutex
