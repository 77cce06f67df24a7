// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Invalid is the failure of a run whose specification cannot be carried out; nil without an error.
func Invalid(err error) *Failure { return failureOf(v1alpha1.ReasonInvalidSpecification, err) }

// InvalidVariant is the failure of a comparison with a variant that cannot be measured; nil without an error.
func InvalidVariant(err error) *Failure { return failureOf(v1alpha1.ReasonVariantInvalid, err) }

func failureOf(reason string, err error) *Failure {
	if err == nil {
		return nil
	}
	return &Failure{Reason: reason, Message: err.Error()}
}
