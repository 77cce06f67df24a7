// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Invalid is the failure of a run whose specification cannot be carried out.
func Invalid(err error) *Failure {
	return &Failure{Reason: v1alpha1.ReasonInvalidSpecification, Message: err.Error()}
}

// InvalidVariant is the failure of a comparison with a variant that cannot be measured.
func InvalidVariant(err error) *Failure {
	return &Failure{Reason: v1alpha1.ReasonVariantInvalid, Message: err.Error()}
}
