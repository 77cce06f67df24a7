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
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const (
	// clientSideApply is how large an object may be: kubectl apply keeps a copy in an annotation.
	clientSideApply = 256 << 10
	// suiteVariants is how many variants of a run a suite must be able to list.
	suiteVariants = 16
)

// TestEnvtestBudget: the schema of a run has room to spare. A second kind is going to hold a run's specification as a template
// and its database and workload once more in a list of variants: the API server multiplies the cost of each rule by the length
// of the list. Both must fit.
func TestEnvtestBudget(t *testing.T) {
	run := crd(t)
	suite := suiteOf(run, suiteVariants)
	for _, c := range []*apiextensionsv1.CustomResourceDefinition{run, suite} {
		encoded, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("CRD budget: %s has %d of %d bytes", c.Name, len(encoded), clientSideApply)
		if len(encoded) > clientSideApply*8/10 {
			t.Errorf("%s has %d bytes: kubectl apply takes %d", c.Name, len(encoded), clientSideApply)
		}
	}
	if err := dryRun(t, asObject(t, suite)); err != nil {
		t.Errorf("a suite of %d variants: %v", suiteVariants, err)
	}
	for n := suiteVariants; ; n *= 2 {
		if err := dryRun(t, asObject(t, suiteOf(run, int64(n)))); err != nil || n > 1<<20 {
			t.Logf("CRD budget: the rules fit into a suite of %d variants, not of %d", n/2, n)
			break
		}
	}
}

// crd is the run's own.
func crd(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile("../../config/crd/bases/benchrun.dev_benchmarkruns.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := new(apiextensionsv1.CustomResourceDefinition)
	if err := yaml.UnmarshalStrict(text, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// suiteOf is a kind with a template and a list of so many variants of a run.
func suiteOf(run *apiextensionsv1.CustomResourceDefinition, variants int64) *apiextensionsv1.CustomResourceDefinition {
	suite := run.DeepCopy()
	suite.Name = "benchmarksuites.benchrun.dev"
	suite.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
		Plural: "benchmarksuites", Singular: "benchmarksuite", Kind: "BenchmarkSuite", ListKind: "BenchmarkSuiteList",
	}
	schema := suite.Spec.Versions[0].Schema.OpenAPIV3Schema
	template := schema.Properties["spec"]
	object := func(properties map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "object", Properties: properties}
	}
	variant := object(map[string]apiextensionsv1.JSONSchemaProps{
		"name":     {Type: "string", MaxLength: ptr.To[int64](40)},
		"database": template.Properties["database"], "workload": template.Properties["workload"],
	})
	schema.Properties["spec"] = object(map[string]apiextensionsv1.JSONSchemaProps{
		"template": object(map[string]apiextensionsv1.JSONSchemaProps{"spec": template}),
		"variants": {
			Type: "array", MaxItems: &variants, Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &variant},
		},
	})
	return suite
}

func asObject(t *testing.T, c *apiextensionsv1.CustomResourceDefinition) client.Object {
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
