//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"encoding/json"
	"os"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// clientSideApply is how large an object may be: kubectl apply keeps a copy in an annotation.
const clientSideApply = 256 << 10

// mostOfCRD leaves some of that to spare; test/docs has the same bound.
const mostOfCRD = 240_000

// TestEnvtestBudget: the schemas of both kinds have room to spare. A comparison holds a run's specification as a template, and
// its database and workload once more in a list of variants: the API server multiplies the cost of each rule by the length of the
// list.
func TestEnvtestBudget(t *testing.T) {
	for _, kind := range []string{"benchmarkruns", "benchmarkcomparisons"} {
		c := crd(t, kind)
		encoded, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("CRD budget: %s has %d of %d bytes", c.Name, len(encoded), clientSideApply)
		if len(encoded) > mostOfCRD {
			t.Errorf("%s has %d bytes, of at most %d: kubectl apply takes %d", c.Name, len(encoded), mostOfCRD, clientSideApply)
		}
	}
	fits := 0
	for n := int64(16); n <= 1<<20; n *= 2 {
		comparison := crd(t, "benchmarkcomparisons")
		*comparison.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["variants"].MaxItems = n
		if err := accepted(t, comparison); err != nil {
			t.Logf("CRD budget: the rules do not fit into a comparison of %d variants: %.300v", n, err)
			break
		}
		fits = int(n)
	}
	t.Logf("CRD budget: the rules fit into a comparison of %d variants", fits)
	if fits < 32 {
		t.Errorf("the rules fit into a comparison of %d variants: it has up to 16, and there is no room to spare", fits)
	}
}

// crd is that of a kind.
func crd(t *testing.T, kind string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile("../../config/crd/bases/benchrun.dev_" + kind + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := new(apiextensionsv1.CustomResourceDefinition)
	if err := yaml.UnmarshalStrict(text, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// accepted is what the API server says of a CRD under another name: it has this one already.
func accepted(t *testing.T, c *apiextensionsv1.CustomResourceDefinition) error {
	t.Helper()
	object := asObject(t, c)
	object.SetName("others.benchrun.dev")
	names := map[string]any{"plural": "others", "singular": "other", "kind": "Other", "listKind": "OtherList"}
	if err := unstructured.SetNestedField(object.Object, names, "spec", "names"); err != nil {
		t.Fatal(err)
	}
	return dryRun(t, object)
}

func asObject(t *testing.T, c *apiextensionsv1.CustomResourceDefinition) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetAPIVersion(apiextensionsv1.SchemeGroupVersion.String())
	object.SetKind("CustomResourceDefinition")
	unstructured.RemoveNestedField(object.Object, "status")
	unstructured.RemoveNestedField(object.Object, "metadata", "creationTimestamp")
	return object
}
