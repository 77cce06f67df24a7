// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import "github.com/benchrun-dev/benchrun/api/v1alpha1"

// MariaDBOperatorRefused is why a run that wants its database from the MariaDB operator cannot have it, or nil. It is allowed
// unless the administrator has taken the manager's rights on that operator's kind away.
func MariaDBOperatorRefused(run *v1alpha1.BenchmarkRun, allowed bool) *Failure {
	if run.Spec.Database.Provisioner != v1alpha1.ProvisionerMariaDBOperator || allowed {
		return nil
	}
	return &Failure{Reason: v1alpha1.ReasonMariaDBOperatorMissing, Message: "this installation does not use the MariaDB operator: " +
		"use provisioner StatefulSet, or have an administrator set mariadbOperator.enabled: true in the Helm chart (the operator's " +
		"flag --mariadb-operator)"}
}
