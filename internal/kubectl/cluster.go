// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// cluster is the one that the usual flags and the kubeconfig name. Nothing is read before a command needs it.
type cluster struct {
	flags *genericclioptions.ConfigFlags
}

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	utilruntime.Must(v1alpha1.AddToScheme(s))
	return s
}

// errNoCluster is for a kubeconfig that names no cluster. kubectl's own libraries would try localhost:8080 then.
var errNoCluster = errors.New("no cluster is configured: set KUBECONFIG, or use --kubeconfig or --server")

// config says how to reach the cluster, and which namespace commands are about.
func (c *cluster) config() (*rest.Config, string, error) {
	loader := c.flags.ToRawKubeConfigLoader()
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if _, err := rest.InClusterConfig(); err != nil && len(raw.Clusters) == 0 && ptr.Deref(c.flags.APIServer, "") == "" {
		return nil, "", errNoCluster
	}
	namespace, _, err := loader.Namespace()
	config, err2 := c.flags.ToRESTConfig()
	if err := cmp.Or(err, err2); err != nil {
		return nil, "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return config, namespace, nil
}

// connect returns a client, and the namespace that commands are about.
func (c *cluster) connect() (client.Client, string, error) {
	config, namespace, err := c.config()
	if err != nil {
		return nil, "", err
	}
	cl, err := client.New(config, client.Options{Scheme: scheme()})
	if err != nil {
		return nil, "", fmt.Errorf("connecting to the cluster: %w", err)
	}
	return cl, namespace, nil
}

// logs are those of the Pods of the cluster.
func (c *cluster) logs() (logs, error) {
	config, _, err := c.config()
	if err != nil {
		return nil, err
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return func(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error) {
		return clientset.CoreV1().Pods(namespace).GetLogs(pod, options).Stream(ctx)
	}, nil
}

// explained is an error in one line that says what to do, if the error is one that users meet.
func explained(err error) string {
	words := err.Error()
	switch {
	case clientcmd.IsEmptyConfig(err):
		words = errNoCluster.Error()
	case clientcmd.IsContextNotFound(err):
		words += ": `kubectl config get-contexts` lists those that exist"
	case apimeta.IsNoMatchError(err):
		words = "Benchrun is not installed in this cluster: its kinds are unknown to the API server. " +
			"The README shows how to install it"
	case apierrors.IsForbidden(err):
		words += ". " + permission(err)
	case apierrors.IsUnauthorized(err):
		words = "the cluster does not accept your credentials: log in again, or choose another --context"
	case unreachable(err) != nil:
		words = fmt.Sprintf("the cluster does not answer: %v", unreachable(err))
	}
	return strings.Join(strings.Fields(words), " ")
}

func permission(err error) string {
	status, _ := errors.AsType[*apierrors.StatusError](err)
	if status != nil && status.ErrStatus.Details != nil && status.ErrStatus.Details.Group == "" {
		return "Ask for the role view in this namespace, or benchrun-benchmarkrun-editor to create runs, too"
	}
	return "Ask for the role benchrun-benchmarkrun-editor, or benchrun-benchmarkrun-viewer to read runs only"
}

// unreachable is why no API server has answered, or nil.
func unreachable(err error) error {
	if request, failed := errors.AsType[*url.Error](err); failed {
		return request.Err
	}
	return nil
}

// passes says whether an error may be over in a moment: the API server is busy or restarts.
func passes(err error) bool {
	return apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err)
}
