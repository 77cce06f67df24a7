// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/benchrun-dev/benchrun/api/v1alpha1"

// ObserverPort is where the observer in a database's Pod answers.
const ObserverPort = 9706

// HasObserver says whether an observer runs beside the server: in the Pods that Benchrun itself makes, unless it is not
// wanted.
func HasObserver(db *v1alpha1.DatabaseSpec) bool {
	own := db.Provisioner == v1alpha1.ProvisionerStatefulSet || db.Provisioner == ""
	return own && db.Observer != v1alpha1.ObserverDisabled
}
