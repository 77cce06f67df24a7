//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

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
	return fmt.Sprintf("type: BulkInsert, bulkInsert: {rowsPerStatement: 500, concurrency: 2}, schemaFrom: {name: schema, key: own.sql}, "+
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
