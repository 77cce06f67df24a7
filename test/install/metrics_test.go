//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
	_ "sigs.k8s.io/controller-runtime/pkg/builder" // registers what controllers and the process are measured by
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/telemetry"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// monitored is the chart with everything that watches the manager.
func monitored(t *testing.T, args ...string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := helm(t, slices.Concat(images, []string{
		"--set=metrics.enabled=true", "--set=metrics.alerts.enabled=true", "--set=metrics.dashboard.enabled=true",
		"--set=metrics.serviceMonitor.enabled=true",
	}, args)...)
	must.Do(t, err)
	return objects
}

// By default nothing is served, and nothing is made that needs the kinds of other operators.
func TestEnvtestNoMetricsByDefault(t *testing.T) {
	objects := must.Get(helm(t, images...))(t)
	for _, o := range objects {
		if strings.Contains(o.GetName(), "metrics") || o.GetKind() == "ConfigMap" || strings.Contains(o.GetAPIVersion(), "coreos") {
			t.Errorf("%s %s is rendered", o.GetKind(), o.GetName())
		}
	}
	for _, what := range []string{"serviceMonitor", "alerts", "dashboard"} {
		must.Refused(helm(t, append(slices.Clone(images), "--set=metrics."+what+".enabled=true")...))(t, "need metrics.enabled")
	}
	for _, wrong := range []string{
		"metrics.alert.enabled=true", "metrics.serviceMonitor.interval=often", "metrics.alerts.queueHeadAgeSeconds=1",
		"metrics.readers[0].name=x", "metrics.certificate.secret=x",
	} {
		must.Refused(helm(t, append(slices.Clone(images), "--set="+wrong)...))(t, "schema")
	}
}

// A certificate reaches the manager, and Prometheus verifies it.
func TestEnvtestMetricsCertificate(t *testing.T) {
	for name, tc := range map[string]struct {
		args        []string
		secret      string
		certificate bool
	}{
		"none":         {nil, "", false},
		"a Secret":     {[]string{"--set=metrics.certificate.secretName=mine"}, "mine", false},
		"cert-manager": {[]string{"--set=metrics.certificate.certManager.enabled=true", "--set=metrics.certificate.certManager.issuerRef.name=ca"}, "benchrun-metrics-tls", true},
	} {
		t.Run(name, func(t *testing.T) {
			objects := monitored(t, tc.args...)
			pod := deployment(t, objects).Spec.Template.Spec
			var monitor, certificate unstructured.Unstructured
			find(t, objects, "ServiceMonitor", "-metrics", &monitor.Object)
			endpoints, _, _ := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
			got, _, _ := unstructured.NestedMap(endpoints[0].(map[string]any), "tlsConfig")
			want := map[string]any{"insecureSkipVerify": true}
			if tc.secret != "" {
				want = map[string]any{
					"serverName": "benchrun-metrics." + namespace + ".svc",
					"ca":         map[string]any{"secret": map[string]any{"name": tc.secret, "key": "ca.crt"}},
				}
			}
			must.Same(t, "Prometheus' TLS", want, got)
			has := slices.Contains(pod.Containers[0].Args, "--metrics-cert-dir=/etc/benchrun/metrics")
			if has != (tc.secret != "") || has != (len(pod.Volumes) == 1) || has != (len(pod.Containers[0].VolumeMounts) == 1) {
				t.Errorf("arguments %v, volumes %v", pod.Containers[0].Args, pod.Volumes)
			}
			if has && pod.Volumes[0].Secret.SecretName != tc.secret {
				t.Errorf("the volume is of %s", pod.Volumes[0].Secret.SecretName)
			}
			if !tc.certificate {
				return
			}
			find(t, objects, "Certificate", "-metrics", &certificate.Object)
			spec := certificate.Object["spec"].(map[string]any)
			if names := spec["dnsNames"].([]any); spec["secretName"] != tc.secret || !slices.Contains(names, want["serverName"]) {
				t.Errorf("certificate: %v", spec)
			}
		})
	}
	_, err := helm(t, append(slices.Clone(images), "--set=metrics.enabled=true", "--set=metrics.certificate.certManager.enabled=true")...)
	if err == nil || !strings.Contains(err.Error(), "issuerRef.name is not set") {
		t.Errorf("without an issuer: %v", err)
	}
}

// The Service that the ServiceMonitor selects leads to the manager; who reads the metrics may do so.
func TestEnvtestMetricsReaders(t *testing.T) {
	objects := monitored(t, "--set=metrics.readers[0].namespace=monitoring", "--set=metrics.readers[0].name=prometheus")
	var service corev1.Service
	var monitor unstructured.Unstructured
	find(t, objects, "Service", "-metrics", &service)
	find(t, objects, "ServiceMonitor", "-metrics", &monitor.Object)
	selector, _, _ := unstructured.NestedStringMap(monitor.Object, "spec", "selector", "matchLabels")
	d := deployment(t, objects)
	for label, value := range selector {
		must.Same(t, "label of the Service by which the ServiceMonitor selects it, "+label, value, service.Labels[label])
	}
	for label, value := range service.Spec.Selector {
		must.Same(t, "label of the Pods by which the Service selects them, "+label, value, d.Spec.Template.Labels[label])
	}
	var role rbacv1.ClusterRole
	var binding rbacv1.ClusterRoleBinding
	find(t, objects, "ClusterRole", "metrics-reader", &role)
	find(t, objects, "ClusterRoleBinding", "metrics-reader", &binding)
	want := []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}
	must.Same(t, "rules", want, role.Rules)
	subject := binding.Subjects[0]
	if binding.RoleRef.Name != role.Name || subject.Namespace != "monitoring" || subject.Name != "prometheus" {
		t.Errorf("binding: %+v", binding)
	}
}

// selector is what hack/tools/promql finds in an expression.
type selector struct {
	Metric string
	Labels map[string]string
}

// selectors of expressions, by Prometheus' own parser.
func selectors(t *testing.T, expressions []string) []selector {
	t.Helper()
	in := must.Get(json.Marshal(expressions))(t)
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), "go", "run", ".")
	command.Dir = filepath.Join(root, "hack", "tools", "promql")
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(in), &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var list []selector
	must.Do(t, json.Unmarshal(stdout.Bytes(), &list))
	return list
}

// expressionsIn the PrometheusRule and in the dashboard.
func expressionsIn(t *testing.T, objects []*unstructured.Unstructured) (alerts, panels []string) {
	t.Helper()
	var rule struct {
		Spec struct {
			Groups []struct {
				Rules []struct {
					Expr string `json:"expr"`
				} `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}
	var dashboard corev1.ConfigMap
	var content struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	find(t, objects, "PrometheusRule", "benchrun", &rule)
	find(t, objects, "ConfigMap", "-dashboard", &dashboard)
	must.Same(t, "label by which Grafana finds the dashboard", "1", dashboard.Labels["grafana_dashboard"])
	must.Do(t, json.Unmarshal([]byte(dashboard.Data["benchrun.json"]), &content))
	for _, g := range rule.Spec.Groups {
		for _, r := range g.Rules {
			alerts = append(alerts, r.Expr)
		}
	}
	for _, p := range content.Panels {
		for _, target := range p.Targets {
			panels = append(panels, target.Expr)
		}
	}
	return alerts, panels
}

// served are the series that a manager with one run serves: the values of each label, by metric.
func served(t *testing.T) map[string]map[string][]string {
	t.Helper()
	leads := make(chan struct{})
	close(leads)
	m := telemetry.New()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m, &telemetry.State{
		Read: func(context.Context) ([]v1alpha1.BenchmarkRun, error) {
			return []v1alpha1.BenchmarkRun{*testutil.MakeRun("run", "ns").Obj()}, nil
		},
		Leads: leads, Clock: clock.RealClock{}, Log: logr.Discard(),
	})
	// A controller has this from its start on, and none has started here.
	series := map[string]map[string][]string{"controller_runtime_reconcile_errors_total": {"controller": {"benchmarkrun"}}}
	for _, g := range []prometheus.Gatherer{registry, metrics.Registry} {
		families := must.Get(g.Gather())(t)
		for _, f := range families {
			labels := map[string][]string{}
			for _, s := range f.GetMetric() {
				for _, l := range s.GetLabel() {
					labels[l.GetName()] = append(labels[l.GetName()], l.GetValue())
				}
			}
			series[f.GetName()] = labels
			if len(f.GetMetric()) > 0 && f.GetMetric()[0].GetHistogram() != nil {
				for _, suffix := range []string{"_bucket", "_sum", "_count"} {
					series[f.GetName()+suffix] = labels
				}
			}
		}
	}
	return series
}

// Alerts and dashboard ask for metrics that exist, with labels and values that exist.
func TestEnvtestExpressions(t *testing.T) {
	alerts, panels := expressionsIn(t, monitored(t, "--set=metrics.alerts.queueHeadAgeSeconds=3600"))
	if len(alerts) < 8 || len(panels) < 13 {
		t.Fatalf("%d alerts, %d panels", len(alerts), len(panels))
	}
	if !strings.HasSuffix(alerts[1], "> 3600") {
		t.Errorf("the alert about the queue is %s", alerts[1])
	}
	ours := selectors(t, alerts)
	for _, s := range ours {
		if s.Labels["namespace"] != namespace || s.Labels["job"] != "benchrun-metrics" {
			t.Errorf("%s is that of any installation: %v", s.Metric, s.Labels)
		}
		delete(s.Labels, "namespace")
	}
	series := served(t)
	for _, s := range append(ours, selectors(t, panels)...) {
		labels, found := series[s.Metric]
		if !found {
			t.Errorf("there is no metric %s", s.Metric)
			continue
		}
		delete(s.Labels, "job")
		for label, values := range s.Labels {
			for value := range strings.SplitSeq(values, "|") {
				if !slices.Contains(labels[label], value) {
					t.Errorf("%s never has %s=%s", s.Metric, label, value)
				}
			}
		}
	}
}

// What clusters of others ask a chart for.
func TestEnvtestManagersPlace(t *testing.T) {
	objects, err := helm(t, append(slices.Clone(images), "--set=priorityClassName=high", "--set=podDisruptionBudget.enabled=true",
		"--set=extraEnv[0].name=HTTPS_PROXY,extraEnv[0].value=http://proxy:3128", "--set=commonLabels.team=databases",
		"--set=topologySpreadConstraints[0].maxSkew=1,topologySpreadConstraints[0].topologyKey=zone", "--set=fullnameOverride=measure")...)
	must.Do(t, err)
	for _, object := range objects {
		if object.GetKind() != "CustomResourceDefinition" && object.GetLabels()["team"] != "databases" {
			t.Errorf("%s %s has no common label: %v", object.GetKind(), object.GetName(), object.GetLabels())
		}
	}
	manager, budget := deployment(t, objects), new(policyv1.PodDisruptionBudget)
	find(t, objects, "PodDisruptionBudget", "manager", budget)
	pod, container := manager.Spec.Template.Spec, manager.Spec.Template.Spec.Containers[0]
	if pod.PriorityClassName != "high" || len(pod.TopologySpreadConstraints) != 1 || pod.TopologySpreadConstraints[0].TopologyKey != "zone" {
		t.Errorf("%+v", pod)
	}
	if !slices.Contains(container.Env, corev1.EnvVar{Name: "HTTPS_PROXY", Value: "http://proxy:3128"}) ||
		!slices.ContainsFunc(container.Env, func(e corev1.EnvVar) bool { return e.Name == "GOMEMLIMIT" }) {
		t.Errorf("environment: %+v", container.Env)
	}
	if manager.Name != "measure-manager" || budget.Name != "measure-manager" || budget.Spec.MinAvailable.IntValue() != 1 {
		t.Errorf("%s and %+v", manager.Name, budget)
	}
	for key, value := range budget.Spec.Selector.MatchLabels {
		must.Same(t, "label of the Pods that the budget is about, "+key, value, manager.Spec.Template.Labels[key])
	}
}

// A value that is misspelled, or of another type, is refused.
func TestEnvtestValuesAreChecked(t *testing.T) {
	for value, says := range map[string]string{
		"podDisruptionBudget.enable=true": "enable", "extraEnv[0].value=x": "name", "commonLabels.team.a=b": "team",
		"priorityClass=high": "priorityClass",
	} {
		must.Refused(helm(t, append(slices.Clone(images), "--set="+value)...))(t, says)
	}
}
