// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/benchrun-dev/benchrun/controllers"
)

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

// part is the installation of this manager, or nil: without an election of leaders, its absence would go unnoticed.
func (o *options) part(live *controllers.Live, now clock.PassiveClock) *controllers.Installation {
	if !o.leaderElect {
		return nil
	}
	return &controllers.Installation{Namespace: o.leaseNamespace, Name: o.installation, Live: live, Clock: now}
}

// leadership is what a manager's readiness depends on.
type leadership struct {
	reader       client.Reader
	lease        client.ObjectKey
	installation string
	elected      <-chan struct{}
	// lastLogged is the error of the last check: probes come every few seconds, and the log has it once.
	lastLogged atomic.Pointer[string]
}

func readiness(o *options, mgr ctrl.Manager) healthz.Checker {
	if !o.leaderElect {
		return healthz.Ping
	}
	l := &leadership{
		reader:       mgr.GetAPIReader(), //nolint:forbidigo // one Lease, by its name
		lease:        client.ObjectKey{Namespace: o.leaseNamespace, Name: leaseName(o.namespaces)},
		installation: o.installation, elected: mgr.Elected(),
	}
	return l.check
}

// check fails if this manager does nothing because of another installation. One that stands by for a manager of its own
// installation is ready: else no rolling update would end. A probe shows no reason, so that the log does.
func (l *leadership) check(request *http.Request) error {
	err := l.notReady(request)
	text := ""
	if err != nil {
		text = err.Error()
	}
	if before := ptr.Deref(l.lastLogged.Swap(&text), ""); err != nil && before != text {
		ctrl.Log.Error(err, "This manager is not ready")
	}
	return err
}

func (l *leadership) notReady(request *http.Request) error {
	select {
	case <-l.elected:
		return nil
	default:
	}
	var lease coordinationv1.Lease
	if err := l.reader.Get(request.Context(), l.lease, &lease); err != nil {
		if apierrors.IsNotFound(err) {
			return nil // nobody leads yet
		}
		return fmt.Errorf("reading Lease %s: %w", l.lease, err)
	}
	holder := lease.Labels[controllers.LabelInstallation]
	if ptr.Deref(lease.Spec.HolderIdentity, "") == "" || holder == "" || holder == l.installation {
		return nil // a holder without a label is one of before there was one
	}
	return fmt.Errorf("installation %q holds Lease %s and carries out the runs that this one, %q, was installed for: "+
		"remove one of them, or have them watch different namespaces", holder, l.lease, l.installation)
}
