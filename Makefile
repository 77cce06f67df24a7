# `make` lists the targets. Nothing needs to be installed first but Go, Git and make; on Debian the scripts in hack/ install
# the rest, Docker included.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

ARCH ?= $(shell go env GOARCH)
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X github.com/benchrun-dev/benchrun/internal/version.version=$(VERSION)
LIB := . hack/lib.sh;

##@ Start here

.PHONY: help
help: ## Show this.
	@awk 'BEGIN {FS = ":.*##"; print "usage: make TARGET"} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z0-9-]+:.*?##/ {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Bring up a cluster and the operator, measure six commit sizes, compare two settings, show the results.
	@hack/demo.sh $(FLAGS)

.PHONY: readme
readme: ## Run the demo; put its output into docs/quick-start.md, and its answer into README.md.
	@$(MAKE) --no-print-directory demo FLAGS=--record

.PHONY: test
test: ## The tests that every change must pass: unit, API server, report page, loader against MariaDB, kind cluster.
	@hack/test.sh unit envtest loader-postgres -- loader-sysbench loader -- page e2e

.PHONY: test-all
test-all: ## Everything, the slow tests too; writes docs/test-results.md.
	@hack/test.sh --record unit unit-long envtest page site loader loader-sysbench loader-old loader-old-sysbench \
	  loader-mysql loader-mysql-sysbench loader-postgres loader-postgres-sysbench loader-old-postgres \
	  loader-old-postgres-sysbench e2e faults samples tutorials release fuzz

##@ Cluster

.PHONY: cluster
cluster: ## Bring up the kind cluster: one control plane, two workers. Needs nothing but Docker, and installs that on Debian.
	hack/cluster.sh up mariadb:11.8 mariadb:10.11 mysql:9.7 postgres:17

.PHONY: cluster-down
cluster-down: ## Remove the cluster.
	hack/cluster.sh down

.PHONY: images
images: build ## Build the images of the operator and the loader.
	hack/build-images.sh manager loader loader-sysbench

.PHONY: deploy
deploy: cluster build manifests-chart ## Install the operator into the kind cluster, by its chart.
	hack/deploy.sh chart

.PHONY: mariadb-operator
mariadb-operator: cluster ## Install MariaDB's own operator into the kind cluster.
	hack/mariadb-operator.sh up

.PHONY: kueue
kueue: cluster ## Install Kueue into the kind cluster. It manages namespaces with the label kueue-managed=true.
	hack/kueue.sh up

##@ Build

.PHONY: build
build: ## Compile the binaries into bin/linux-ARCH, and the kubectl plugin for this machine: static, the same bytes from the same source.
	@mkdir -p bin/linux-$(ARCH)
	$(LIB) GOOS=linux GOARCH=$(ARCH) locked "build$$PWD" go_build -ldflags "$(LDFLAGS)" -o bin/linux-$(ARCH)/ ./cmd/manager ./cmd/loader
	$(LIB) locked "build$$PWD" go_build -ldflags "$(LDFLAGS)" -o bin/kubectl-benchrun ./cmd/kubectl-benchrun

.PHONY: release
release: ## Make what is published of a version, in dist/: images, chart, plugin; VERSION=v1.2.3, REGISTRY=…, KEY=FILE of minisign.
	@REGISTRY='$(REGISTRY)' KEY='$(KEY)' hack/release.sh $(VERSION)

##@ Develop

.PHONY: generate
generate: ## Regenerate the types of sweeps and points, and deep copies.
	$(LIB) go run ./hack/points api/v1alpha1
	$(LIB) tool controller-gen object:headerFile=hack/boilerplate.go.txt paths=./api/...

.PHONY: manifests
manifests: ## Regenerate the CRD and the operator's role, for kustomize and for the chart.
	$(LIB) tool controller-gen crd paths=./api/... output:crd:dir=config/crd/bases
	$(LIB) go run ./hack/crds config/crd/bases/*.yaml
	$(LIB) tool controller-gen rbac:roleName=manager paths=./controllers/... output:rbac:dir=config/rbac
	@$(MAKE) --no-print-directory manifests-chart

.PHONY: manifests-chart
manifests-chart:
	@mkdir -p charts/benchrun/files/crds
	@cp config/crd/bases/*.yaml charts/benchrun/files/crds/
	@cp config/rbac/role.yaml config/rbac/benchmarkrun_{editor,viewer}_role.yaml charts/benchrun/files/

.PHONY: docs-reference
docs-reference: ## Regenerate docs/reference: api.md from the API's comments, kubectl.md from the plugin's help.
	GOWORK=off go tool -modfile hack/tools/docs/go.mod crd-ref-docs --config hack/tools/docs/config.yaml \
	  --templates-dir hack/tools/docs/templates --max-depth 20 --renderer markdown --log-level ERROR \
	  --source-path api --output-path docs/reference/api.md
	$(LIB) go run ./hack/reference docs/reference/kubectl.md

.PHONY: publications
publications: deploy ## Measure each publication's small twin on the kind cluster, and write docs/publications.md; NAMES="000 004".
	@hack/publications.sh $(NAMES)

.PHONY: publications-page
publications-page: ## Write docs/publications.md, and a page for each, from what make publications has measured before.
	$(LIB) go run ./hack/publications write

.PHONY: page-images
page-images: ## Take the pictures of report pages in docs/images anew. Needs Chromium.
	$(LIB) go test -count 1 -tags page -run TestPagePictures ./test/page -images "$$PWD/docs/images"

.PHONY: site
site: ## Make the documentation's web site in bin/site. To look at it: python3 -m http.server --directory bin/site
	@hack/site.sh

.PHONY: site-image
site-image: site ## Take the picture of the README's first screen in docs/images anew. Needs Chromium.
	$(LIB) go test -count 1 -tags site -run TestSiteFirstScreen ./test/site -picture "$$PWD/docs/images/readme-first-screen.png"

.PHONY: fmt
fmt: ## Format the code.
	$(LIB) tool golangci-lint-kube-api-linter fmt

.PHONY: lint
lint: ## Lint: code, import directions, the API, shell scripts, the chart.
	@hack/lint.sh

.PHONY: verify
verify: generated lint ## Regenerate and format everything, demand a clean tree, and lint.

.PHONY: generated
generated: generate manifests docs-reference fmt
	@git diff --exit-code -- . || { echo "verify: the files above were not up to date: commit them" >&2; exit 1; }
	@test -z "$$(git status --porcelain)" || { git status --short; echo "verify: commit these files" >&2; exit 1; }

.PHONY: structure
structure: ## Print the lines of each room beside their ceilings, which lint holds; COMMIT=… for an earlier one.
	@hack/structure.sh $(COMMIT)

##@ Test one layer

.PHONY: test-unit
test-unit: ## Everything pure; LONG=-long repeats all of what chance decides.
	@hack/test.sh unit$(LONG)

.PHONY: test-envtest
test-envtest: ## The API's rules and the controllers, against a real API server.
	@hack/test.sh envtest

.PHONY: test-page
test-page: ## The report pages, in a real browser and on paper.
	@hack/test.sh page

.PHONY: test-site
test-site: ## The documentation's web site, in a real browser: links, headings, search, phone, dark.
	@hack/test.sh site

.PHONY: test-loader
test-loader: ## The loader, against a real MariaDB.
	@hack/test.sh loader loader-sysbench

.PHONY: test-loader-postgres
test-loader-postgres: ## The loader, against real PostgreSQL of two versions.
	@hack/test.sh loader-postgres loader-postgres-sysbench loader-old-postgres loader-old-postgres-sysbench

.PHONY: test-loader-mysql
test-loader-mysql: ## The loader, against a real MySQL.
	@hack/test.sh loader-mysql loader-mysql-sysbench

.PHONY: test-e2e
test-e2e: ## Everything together, on the kind cluster.
	@hack/test.sh e2e

.PHONY: test-faults
test-faults: ## What goes wrong on a cluster, and what others in it do: Pods deleted, nothing that fits, Kueue.
	@hack/test.sh faults

.PHONY: hostile
hostile: deploy ## What tenants, strangers and careless administrators may do, on the kind cluster; TIMES=3, NAMES="02 03".
	@hack/hostile.sh $(or $(TIMES),1) $(NAMES)

.PHONY: test-samples
test-samples: ## Each sample and each publication's small twin, on the kind cluster, to its end.
	@hack/test.sh samples

.PHONY: test-tutorials
test-tutorials: ## The tutorials, typed from their first to their last line, on the kind cluster.
	@hack/test.sh tutorials

.PHONY: test-release
test-release: ## A release, made and installed by its files alone, as README and docs say, in an empty kind cluster of its own.
	@hack/test.sh release

.PHONY: first-hour
first-hour: ## A stranger's first hour, in a container with kubectl, Helm and the files of a release; writes docs/first-hour.md.
	@FIRST_HOUR=$(CURDIR)/docs/first-hour.md hack/test.sh release

.PHONY: test-fuzz
test-fuzz: ## The wire format, the status and what reads the files and output of others, each fuzzed for half a minute.
	@hack/test.sh fuzz

.PHONY: frozen
frozen: ## Compare plans, objects, rows, statuses, reports, pages and verdicts with the recordings of test/frozen.
	@hack/frozen.sh

.PHONY: freeze
freeze: ## Record them anew, and empty the tables of what may differ; in a commit of its own.
	@hack/frozen.sh freeze

.PHONY: soak
soak: ## CI from a fresh clone, N times (1), beside BURNERS (0) processes that take a CPU each; appends to docs/soak.csv.
	@hack/soak.sh $(or $(N),1) $(or $(BURNERS),0)

##@ Measure Benchrun itself

.PHONY: reliability
reliability: ## What happens to runs while kubelets, etcd, clocks and others in the cluster misbehave; writes docs/reliability.md.
	@FLAGS='$(FLAGS)' hack/test.sh reliability

.PHONY: bench-operator
bench-operator: deploy ## How long nothing is measured between two trials.
	@hack/bench-operator.sh

.PHONY: bench-minutes
bench-minutes: deploy ## How many minutes a comparison takes to its answer, by what alternates; TURNS=3.
	@hack/bench-minutes.sh $(TURNS)

.PHONY: bench-restore
bench-restore: deploy ## How soon a server has 1 GB of data: made by SQL, or restored from a copy; SCALE=10.
	@hack/bench-restore.sh

.PHONY: bench-scale
bench-scale: build ## The manager's memory, CPU, its queue, and a trial, beside large objects of others, 1,000 runs and 5,000 trials; FLAGS="-foreign 60".
	@$(LIB) export KUBEBUILDER_ASSETS=$$(hack/envtest.sh); \
	  go test -count 1 -tags envtest,scale -run TestScale -timeout 60m -v ./controllers | grep -v "^=== RUN"; \
	  go test -count 1 -tags envtest,scale -run TestScale -timeout 60m -v ./cmd/manager \
	    -manager "$$PWD/bin/linux-$(ARCH)/manager" $(FLAGS) | grep -v "^=== RUN"

.PHONY: bench-etcd
bench-etcd: ## What a finished run of 36 trials leaves in etcd, by kind of object, and how many such runs there is room for.
	@$(LIB) export KUBEBUILDER_ASSETS=$$(hack/envtest.sh); \
	  go test -count 1 -tags envtest,scale -run TestEtcdPerFinishedRun -timeout 20m -v ./controllers | grep -v "^=== RUN"

.PHONY: bench-plan
bench-plan: ## How long 1,000 points of five trials take to plan, summarise and compare, in a run and in a comparison.
	$(LIB) go test -run '^$$' -bench 'ThousandPoints|Matrix' -benchtime 5x ./internal/lifecycle

.PHONY: bench-page
bench-page: ## How long the report pages of 1,000 points of ten trials and of a matrix of 1,005 cells take, and how large they are.
	$(LIB) go test -run '^$$' -bench 'ThousandPoints|Matrix' -benchtime 5x ./internal/report/page

.PHONY: bench-loader
bench-loader: build ## The loader and the programs that it stands in for, in turns; FLAGS="-rounds 10 -run REGEXP". BEFORE=COMMIT: that commit's loader in their place.
	@BEFORE=$(BEFORE) hack/bench-loader.sh $(FLAGS)

.PHONY: bench-slices
bench-slices: ## Rates and percentiles in slices beside those without, by virtual time: five kinds of waiting, 1 to 128 clients.
	@$(LIB) go test ./internal/loader/record -run SlicesTellTheTruth -count=1 -timeout=30m -v -transactions 1000000

.PHONY: bench-client
bench-client: ## The loader's own client and go-sql-driver, in turns; ROUNDS=8, RUN=REGEXP of the transport and the load.
	@hack/bench-client.sh $(or $(ROUNDS),8) "$(RUN)"

.PHONY: bench-sysbench
bench-sysbench: build ## Whether sysbench is any slower when the loader runs it.
	@hack/bench-sysbench.sh

.PHONY: bench-statistics
bench-statistics: ## How often verdicts and intervals are right, in simulated comparisons; writes docs/reference/statistics.
	@$(LIB) go run ./test/statistics -write docs/reference $(FLAGS)

.PHONY: lines
lines: ## How many lines of shell hack/ has.
	@git grep -lE '^#!.*sh$$|^# shellcheck shell' -- hack .ci | xargs wc -l | sort -n
