//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/result"
)

const (
	podsWorkload = "type: BulkInsert, bulkInsert: {table: FileList, rows: 40000, rowsPerStatement: 500, clients: 4}"
	fourPods     = "  loader: {pods: 4, resources: {limits: {cpu: 200m, memory: 96Mi}}}\n"
)

func checksumOf(d *result.Document) string {
	GinkgoHelper()
	i := slices.IndexFunc(d.Checks, func(c result.Check) bool { return c.Name == "checksum" && c.Passed })
	Expect(i).To(BeNumerically(">=", 0), "%+v", d.Checks)
	return d.Checks[i].Detail
}

var _ = It("loads the same rows with four loader Pods as with one", func(ctx SpecContext) {
	apply(ctx, loads("one-pod", podsWorkload, ""))
	complete(ctx, "one-pod")
	apply(ctx, loads("four-pods", podsWorkload, fourPods))
	run := complete(ctx, "four-pods")
	one, four := document(ctx, "one-pod-t1-a1"), document(ctx, "four-pods-t1-a1")
	Expect(checksumOf(four)).To(Equal(checksumOf(one)))
	Expect(one.Pods).To(BeEmpty())
	Expect(four.Pods).To(HaveLen(4))
	last := int64(0)
	for i, p := range four.Pods {
		Expect(p.Pod).To(Equal(i))
		Expect(p.Rows).To(Equal(int64(10000)))
		Expect(run.Status.Environment.LoaderNode).To(ContainSubstring(p.Node))
		last = max(last, p.Micros)
	}
	Expect(four.Totals.Micros).To(Equal(last))
	Expect(contradictions(one)).To(BeEmpty())
	Expect(contradictions(four)).To(BeEmpty())
}, SpecTimeout(2*runTime))

// ownData is a claim, a Pod that writes a file there and prints its checksum, and a schema for it.
const ownData = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: mine}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 100Mi}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: schema}
data: {own.sql: "CREATE TABLE own (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL); CREATE INDEX name ON own (name);"}
---
apiVersion: v1
kind: Pod
metadata: {name: fill}
spec:
  restartPolicy: Never
  securityContext: {runAsNonRoot: true, runAsUser: 1000, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: fill
    image: mariadb:11.8
    imagePullPolicy: IfNotPresent
    command: [sh, -c, "cd /data && mkdir -p some && seq 20000 | sed 's/.*/&,\"number, &\"/' >some/own.csv && sha256sum some/own.csv"]
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: mine}}]
`

// fromClaim is a workload that loads a file of the claim into a table of the schema.
func fromClaim(path string) string {
	return fmt.Sprintf("type: BulkInsert, bulkInsert: {rowsPerStatement: 500, clients: 2}, schemaFrom: {name: schema, key: own.sql}, "+
		"dataFrom: {persistentVolumeClaim: mine, path: %s, format: CSV, table: own}", path)
}

var _ = It("loads a file of one's own into a table of one's own", func(ctx SpecContext) {
	apply(ctx, ownData)
	kubectl(ctx, "wait", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=2m", "pod/fill")
	sum := strings.Fields(kubectl(ctx, "logs", "pod/fill"))[0]

	// The volume may be on the database's node: there must be room for both.
	const small = "  loader: {resources: {limits: {cpu: 300m, memory: 128Mi}}}\n"
	apply(ctx, loads("own", fromClaim("some/own.csv"), small))
	complete(ctx, "own")
	d := document(ctx, "own-t1-a1")
	Expect(d.Totals.Rows).To(Equal(int64(20000)))
	Expect(d.Inputs).To(HaveLen(2))
	Expect(d.Inputs[1]).To(And(
		HaveField("Name", "some/own.csv"), HaveField("Rows", int64(20000)), HaveField("SHA256", sum)))
	Expect(check(d, "checksum")).To(And(
		HaveField("Passed", true), HaveField("Detail", HaveSuffix("compared by their text: id, name"))))
	Expect(check(d, "input").Passed).To(BeTrue())
	Expect(configMap(ctx, "own-results").Data["summary.md"]).To(ContainSubstring("input some/own.csv: 20000 rows, "))

	apply(ctx, loads("none", fromClaim("some/other.csv"), small))
	Expect(failure(finished(ctx, "none"))).To(And(
		HavePrefix("LoaderFailed: "), ContainSubstring("dataFrom: reading some/other.csv: no such file or directory")))
}, SpecTimeout(2*runTime))

var _ = Describe("data that are prepared once", func() {
	It("are what the servers of all rounds begin with, of either engine", func(ctx SpecContext) {
		apply(ctx, `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: restored}
spec:
  alternation: Runs
  rounds: {atMost: 2, until: All}
  seed: 11
  database: {image: "mariadb:11.8", storage: {medium: NodeDisk, size: 1Gi}}
  workload: {type: Sysbench, sysbench: {script: tpcc, clients: 1, tables: 1, scale: 1, seconds: 2}}
  trials: {data: Restore}
  variants:
  - {name: mariadb}
  - {name: mysql, database: {image: "mysql:9.7"}}
`)
		completed(ctx, "restored")
		for _, attempt := range []string{"t1-a1", "t2-a1"} {
			Expect(record(ctx, "restored-"+attempt).Cause).To(Equal(result.CauseDataCopied), attempt)
		}
		for _, attempt := range []string{"t1-a2", "t2-a2", "t3-a1", "t4-a1"} {
			for variant, m := range sidesOf(ctx, "restored-"+attempt) {
				Expect(m.Tool.Data).To(Equal(result.DataKept), "%s, %s", variant, attempt)
				Expect(m.Totals.Transactions).To(BeNumerically(">", 0))
			}
		}

		By("leaving no copy")
		Eventually(func(g Gomega) {
			var claims corev1.PersistentVolumeClaimList
			g.Expect(cluster.List(ctx, &claims, client.InNamespace(namespace))).To(Succeed())
			g.Expect(claims.Items).To(BeEmpty())
		}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
	}, SpecTimeout(12*time.Minute))
})
