//go:build faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// sleeper is what a Job of another owner runs, if it is ever started.
func sleeper(args ...string) corev1.PodSpec {
	return corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](1000),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: "sleeper", Image: "mariadb:11.8", Command: []string{"sleep", "600"}, Args: args,
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
	}
}

var _ = Describe("somebody else", func() {
	It("who has 200 large Jobs with a label of ours does not stop the manager", Serial, func(ctx SpecContext) {
		large := strings.Repeat("x", 900_000)
		for i := range 200 {
			job := &batchv1.Job{
				ObjectMeta: metav1.ObjectMeta{
					Name: fmt.Sprintf("large-%d", i), Namespace: namespace, Labels: map[string]string{v1alpha1.LabelComponent: "x"},
				},
				Spec: batchv1.JobSpec{Suspend: ptr.To(true), Template: corev1.PodTemplateSpec{Spec: sleeper(large)}},
			}
			Expect(cluster.Create(ctx, job)).To(Succeed())
		}
		// A manager that starts reads all of them.
		out, err := commandWith(ctx, "", "rollout", "restart", "-n", managerKey.Namespace, "deployment/"+managerKey.Name)
		Expect(err).NotTo(HaveOccurred(), out)
		managerRuns(ctx)
		apply(ctx, long("small", ""))
		complete(ctx, "small")
		var pods corev1.PodList
		Expect(cluster.List(ctx, &pods, client.InNamespace(managerKey.Namespace),
			client.MatchingLabels{"app.kubernetes.io/component": "manager"})).To(Succeed())
		for _, pod := range pods.Items {
			for _, s := range pod.Status.ContainerStatuses {
				Expect(s.RestartCount).To(BeZero(), "restarts of the manager: %+v", s.LastTerminationState)
			}
		}
	}, SpecTimeout(runTime+time.Minute))
})
