// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"errors"
	"fmt"
	"net"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// cluster is the one that the usual flags and the kubeconfig name. Nothing is read before a command needs it.
type cluster struct {
	flags *genericclioptions.ConfigFlags
}

// scheme has the kinds that the plugin reads and writes.
func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	utilruntime.Must(v1alpha1.AddToScheme(s))
	return s
}

// connect returns a client, and the namespace that commands are about.
func (c *cluster) connect() (client.WithWatch, string, error) {
	namespace, _, err := c.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config, err := c.flags.ToRESTConfig()
	if err != nil {
		return nil, "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	cl, err := client.NewWithWatch(config, client.Options{Scheme: scheme()})
	if err != nil {
		return nil, "", fmt.Errorf("connecting to the cluster: %w", err)
	}
	return cl, namespace, nil
}

// explained is an error in one line that says what to do, if the error is one that users meet.
func explained(err error) string {
	connection := new(url.Error)
	network := new(net.OpError)
	switch {
	case clientcmd.IsEmptyConfig(err):
		return "no cluster is configured: set KUBECONFIG, or use --kubeconfig"
	case apimeta.IsNoMatchError(err):
		return "Benchrun is not installed in this cluster: its kinds are unknown to the API server. Install it with Helm (see the README)"
	case apierrors.IsForbidden(err):
		return err.Error() + ". Ask for the role benchrun-editor, or benchrun-viewer to read only"
	case errors.As(err, &connection) && errors.As(err, &network):
		return fmt.Sprintf("the cluster does not answer: %v", connection.Err)
	}
	return err.Error()
}
