//go:build faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// podNetwork has the addresses of all Pods.
const podNetwork = "10.244.0.0/16"

// enforce has the nodes drop, for the rest of the spec, what the NetworkPolicies of its namespace do not allow between Pods: the
// network of the nodes that hack/ builds enforces none. A Pod that is not known yet can neither connect nor be connected to.
func enforce(ctx SpecContext) {
	GinkgoHelper()
	nodes := workers(ctx)
	jump := "FORWARD -s " + podNetwork + " -d " + podNetwork + " -j BENCHRUN"
	for _, node := range nodes {
		inNode(ctx, node, "iptables -N BENCHRUN && iptables -I "+jump)
		DeferCleanup(func(ctx SpecContext) {
			inNode(ctx, node, "iptables -D "+jump+" && iptables -F BENCHRUN && iptables -X BENCHRUN")
		})
	}
	enforcing, stop := context.WithCancel(context.Background())
	ended, before := make(chan struct{}), ""
	go func() {
		defer GinkgoRecover()
		defer close(ended)
		wait.UntilWithContext(enforcing, func(ctx context.Context) {
			rules, err := packetRules(ctx)
			if err == nil && rules != before {
				before = rules
				for _, node := range nodes {
					restore := exec.CommandContext(ctx, "docker", "exec", "-i", node, "iptables-restore", "--noflush")
					restore.Stdin = strings.NewReader(rules)
					out, err := restore.CombinedOutput()
					if ctx.Err() == nil {
						Expect(err).NotTo(HaveOccurred(), "%s\n%s", out, rules)
					}
				}
			}
		}, 200*time.Millisecond)
	}()
	DeferCleanup(func() {
		stop()
		<-ended
	})
}

// packetRules are those of the chain for the Pods and policies that there are.
func packetRules(ctx context.Context) (string, error) {
	var pods corev1.PodList
	var policies networkingv1.NetworkPolicyList
	if err := cluster.List(ctx, &pods); err != nil {
		return "", err
	}
	if err := cluster.List(ctx, &policies, client.InNamespace(namespace)); err != nil {
		return "", err
	}
	var lines []string
	for i := range pods.Items {
		for k := range pods.Items {
			from, to := &pods.Items[i], &pods.Items[k]
			if i == k || from.Status.PodIP == "" || to.Status.PodIP == "" || from.Spec.HostNetwork || to.Spec.HostNetwork {
				continue
			}
			for _, there := range both(allowed(policies.Items, from, to, false), allowed(policies.Items, to, from, true)) {
				lines = append(lines,
					fmt.Sprintf("-A BENCHRUN -s %s -d %s%s -j ACCEPT", from.Status.PodIP, to.Status.PodIP, there.flags("dport")),
					fmt.Sprintf("-A BENCHRUN -s %s -d %s%s -j ACCEPT", to.Status.PodIP, from.Status.PodIP, there.flags("sport")))
			}
		}
	}
	slices.Sort(lines)
	return "*filter\n:BENCHRUN - [0:0]\n" + strings.Join(slices.Compact(lines), "\n") + "\n-A BENCHRUN -j DROP\nCOMMIT\n", nil
}

// port is where a Pod may connect to; the zero value is all ports.
type port struct {
	protocol string
	number   int32
}

func (p port) flags(side string) string {
	if p == (port{}) {
		return ""
	}
	return fmt.Sprintf(" -p %s --%s %d", p.protocol, side, p.number)
}

// both are the ports that are in two lists.
func both(a, b []port) []port {
	var common []port
	for _, p := range a {
		if slices.Contains(b, p) || slices.Contains(b, port{}) {
			common = append(common, p)
		} else if p == (port{}) {
			return b
		}
	}
	return common
}

// allowed are the ports that the policies about a Pod allow for its connections to another Pod, or from it.
func allowed(policies []networkingv1.NetworkPolicy, pod, other *corev1.Pod, ingress bool) []port {
	direction := networkingv1.PolicyTypeEgress
	if ingress {
		direction = networkingv1.PolicyTypeIngress
	}
	isolated, ports := false, []port{}
	for i := range policies {
		policy := &policies[i].Spec
		if !selects(&policy.PodSelector, pod) || !slices.Contains(policy.PolicyTypes, direction) {
			continue
		}
		isolated = true
		if ingress {
			for _, rule := range policy.Ingress {
				ports = append(ports, ruled(rule.From, rule.Ports, other)...)
			}
			continue
		}
		for _, rule := range policy.Egress {
			ports = append(ports, ruled(rule.To, rule.Ports, other)...)
		}
	}
	if !isolated {
		return []port{{}}
	}
	return ports
}

// ruled are the ports that a rule allows for a Pod at the other end; none if it is not about that one. Peers are Pods of the
// namespace, or all.
func ruled(peers []networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort, other *corev1.Pod) []port {
	if len(peers) > 0 && !slices.ContainsFunc(peers, func(p networkingv1.NetworkPolicyPeer) bool {
		return p.PodSelector != nil && selects(p.PodSelector, other)
	}) {
		return nil
	}
	if len(ports) == 0 {
		return []port{{}}
	}
	var list []port
	for _, p := range ports {
		list = append(list, port{strings.ToLower(string(ptr.Deref(p.Protocol, corev1.ProtocolTCP))), p.Port.IntVal})
	}
	return list
}

// selects says whether a selector of the spec's namespace is about a Pod.
func selects(selector *metav1.LabelSelector, pod *corev1.Pod) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	Expect(err).NotTo(HaveOccurred())
	return pod.Namespace == namespace && s.Matches(labels.Set(pod.Labels))
}
