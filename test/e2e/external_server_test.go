//go:build e2e || faults || samples

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
)

// password of a user of an external server, with every character that a caller might forget to quote.
const password = `s3cret; 'it$(x)" \ `

// server is a MariaDB that Benchrun did not make: user bench may do what it likes in the schemas benchrun_…, theirs and empty;
// theirs has a table.
const server = `
apiVersion: v1
kind: Secret
metadata: {name: credentials}
type: kubernetes.io/basic-auth
stringData: {username: bench, password: "s3cret; 'it$(x)\" \\ "}
---
apiVersion: v1
kind: Secret
metadata: {name: wrong}
stringData: {username: bench, password: wr0ng-passw0rd}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: init}
data:
  init.sql: |
    CREATE USER bench@'%%' IDENTIFIED BY 's3cret; ''it$(x)" \\ ';
    GRANT ALL ON ` + "`benchrun\\_%%`" + `.* TO bench@'%%';
    CREATE DATABASE theirs;
    CREATE TABLE theirs.precious (a INT);
    INSERT INTO theirs.precious VALUES (42);
    CREATE DATABASE empty;
    GRANT ALL ON theirs.* TO bench@'%%';
    GRANT ALL ON empty.* TO bench@'%%';
---
apiVersion: v1
kind: Service
metadata: {name: server}
spec: {selector: {app: server}, ports: [{port: 3306}]}
---
apiVersion: v1
kind: Pod
metadata: {name: server, labels: {app: server}}
spec:
  terminationGracePeriodSeconds: 1
  securityContext: {runAsNonRoot: true, runAsUser: 999, runAsGroup: 999, fsGroup: 999, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: mariadb
    image: %s
    imagePullPolicy: IfNotPresent
    env: [{name: MARIADB_ROOT_PASSWORD, value: toor}]
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    readinessProbe: {tcpSocket: {port: 3306}, periodSeconds: 1}
    volumeMounts:
    - {name: init, mountPath: /docker-entrypoint-initdb.d}
    - {name: data, mountPath: /var/lib/mysql}
  volumes:
  - {name: init, configMap: {name: init}}
  - {name: data, emptyDir: {}}
`

// serve brings a server up that Benchrun did not make.
func serve(ctx SpecContext, image string) {
	GinkgoHelper()
	apply(ctx, fmt.Sprintf(server, image))
	kubectl(ctx, "wait", "--for=condition=Ready", "--timeout=2m", "pod/server")
}

// ask is what the server answers to its root, without headings.
func ask(ctx SpecContext, statement string) string {
	GinkgoHelper()
	return kubectl(ctx, "exec", "server", "--", "mariadb", "-uroot", "-ptoor", "--batch", "--skip-column-names", "-e", statement)
}

// against is a small run on an external server; more goes into its database.
func against(name, external, more string) string {
	return fmt.Sprintf(`
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: %s}
spec:
  database: {provisioner: External, external: {%s}%s}
  workload: {type: CommitSize, commitSize: {rows: 200, sweep: {rowsPerCommit: [1, 50]}}}
  trials: {repetitions: 1, startDeadlineSeconds: 20}
  loader: {resources: {requests: {cpu: 50m}, limits: {cpu: "1", memory: 128Mi}}}
  seed: 7
`, name, external, more)
}

const reachable = "host: server, credentialsSecretName: credentials"
