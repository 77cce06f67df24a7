// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/telemetry"
)

// metricsOptions of the endpoint. Without a folder, the certificate is one that the manager signs itself.
func metricsOptions(o *options) metricsserver.Options {
	m := metricsserver.Options{BindAddress: o.metricsAddress, SecureServing: o.metricsSecure, CertDir: o.metricsCertDir}
	if o.metricsSecure {
		m.FilterProvider = onlyReaders
		m.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	}
	return m
}

// checkCertificate says why the endpoint would not have the certificate that it is to have: controller-runtime would take one
// that it signs itself instead.
func checkCertificate(folder string) error {
	if folder == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")); err != nil {
		return fmt.Errorf("reading the certificate in --metrics-cert-dir: %w", err)
	}
	return nil
}

func registerMetrics(o *options, mgr ctrl.Manager) (*telemetry.Metrics, error) {
	counted := telemetry.New()
	state := &telemetry.State{
		Read: func(ctx context.Context) ([]v1alpha1.BenchmarkRun, error) {
			return o.Scope.Runs(ctx, mgr.GetCache())
		},
		Leads: mgr.Elected(), Clock: clock.RealClock{}, Log: ctrl.Log.WithName("metrics"),
	}
	if err := metrics.Registry.Register(counted); err != nil {
		return nil, fmt.Errorf("registering the metrics: %w", err)
	}
	if err := metrics.Registry.Register(state); err != nil {
		return nil, fmt.Errorf("registering the metrics of runs: %w", err)
	}
	return counted, nil
}

// readers asks the API server who a client is, and whether he may read. The filter of controller-runtime does the same with the
// library of the API server, which is 10 MB of the program. This one remembers no answers: a scrape is rare.
type readers struct {
	tokens authenticationclient.TokenReviewInterface
	access authorizationclient.SubjectAccessReviewInterface
}

// onlyReaders lets those get the metrics whom the API server knows by their token, and lets get the URL.
func onlyReaders(config *rest.Config, client *http.Client) (metricsserver.Filter, error) {
	authentication, err := authenticationclient.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("connecting for TokenReviews: %w", err)
	}
	authorization, err := authorizationclient.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("connecting for SubjectAccessReviews: %w", err)
	}
	r := readers{authentication.TokenReviews(), authorization.SubjectAccessReviews()}
	return func(log logr.Logger, handler http.Handler) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			status, err := r.answer(request.Context(), request)
			if err != nil {
				log.Error(err, "A client of the metrics cannot be checked")
			}
			if status != http.StatusOK {
				http.Error(w, http.StatusText(status), status)
				return
			}
			handler.ServeHTTP(w, request)
		}), nil
	}, nil
}

// answer is the HTTP status for a request: OK if it is to be served.
func (r readers) answer(ctx context.Context, request *http.Request) (int, error) {
	scheme, token, _ := strings.Cut(request.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "bearer") || token == "" {
		return http.StatusUnauthorized, nil
	}
	review, err := r.tokens.Create(ctx, &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token},
	}, metav1.CreateOptions{})
	switch {
	case err != nil:
		return http.StatusInternalServerError, fmt.Errorf("reviewing a token: %w", err)
	case !review.Status.Authenticated:
		return http.StatusUnauthorized, nil
	}
	access, err := r.access.Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: accessOf(&review.Status.User, request),
	}, metav1.CreateOptions{})
	switch {
	case err != nil:
		return http.StatusInternalServerError, fmt.Errorf("reviewing the access of %s: %w", review.Status.User.Username, err)
	case !access.Status.Allowed:
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}

// accessOf is what a user asks for by a request: the method is the verb.
func accessOf(user *authenticationv1.UserInfo, request *http.Request) authorizationv1.SubjectAccessReviewSpec {
	extra := map[string]authorizationv1.ExtraValue{}
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	return authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: request.URL.Path, Verb: strings.ToLower(request.Method)},
	}
}
