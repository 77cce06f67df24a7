// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkRun measures one database configuration with one workload at each point of a sweep, as often as its trials say,
// and writes the numbers to its status and to ConfigMaps.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=brun,categories=benchmarks
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="What the run is doing, or how it ended"
// +kubebuilder:printcolumn:name="Trials",type=string,JSONPath=`.status.progress`,description="Trials measured, of those planned"
// +kubebuilder:printcolumn:name="Result",type=string,JSONPath=`.status.headline`,description="The best point's median"
// +kubebuilder:printcolumn:name="Duration",type=string,JSONPath=`.status.elapsed`,description="From the first reconcile to the last result"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Engine",type=string,priority=1,JSONPath=`.status.environment.serverVersion`,description="The server's own version string"
// +kubebuilder:printcolumn:name="Workload",type=string,priority=1,JSONPath=`.spec.workload.type`
// +kubebuilder:printcolumn:name="Node",type=string,priority=1,JSONPath=`.status.environment.databaseNode`,description="The database's node"
// +kubebuilder:printcolumn:name="Invalid",type=integer,priority=1,JSONPath=`.status.trials.invalidated`,description="Attempts that were disturbed and measured again"
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 40 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="a run's name has at most 40 characters: lower case letters, digits and '-', beginning with a letter and ending with a letter or digit"
type BenchmarkRun struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object's metadata. The name has at most 40 characters, because names of Jobs are made of it.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what to measure. It cannot be changed but for suspend and ttlSecondsAfterFinished: numbers from two
	// specifications do not belong into one result.
	// +required
	Spec BenchmarkRunSpec `json:"spec,omitzero"`

	// status is what was measured, and how far the run is.
	// +optional
	Status BenchmarkRunStatus `json:"status,omitzero"`
}

// BenchmarkRunList is a list of BenchmarkRuns.
//
// +kubebuilder:object:root=true
type BenchmarkRunList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []BenchmarkRun `json:"items"`
}

// BenchmarkRunSpec is what to measure.
//
// +kubebuilder:validation:XValidation:rule="self.database == oldSelf.database",message="database cannot be changed: delete the run, or make one of another name"
// +kubebuilder:validation:XValidation:rule="self.workload == oldSelf.workload",message="workload cannot be changed: delete the run, or make one of another name"
// +kubebuilder:validation:XValidation:rule="has(self.sweep) == has(oldSelf.sweep) && (!has(self.sweep) || self.sweep == oldSelf.sweep)",message="sweep cannot be changed: delete the run, or make one of another name"
// +kubebuilder:validation:XValidation:rule="has(self.trials) == has(oldSelf.trials) && (!has(self.trials) || self.trials == oldSelf.trials)",message="trials cannot be changed: delete the run, or make one of another name"
// +kubebuilder:validation:XValidation:rule="has(self.loader) == has(oldSelf.loader) && (!has(self.loader) || self.loader == oldSelf.loader)",message="loader cannot be changed: delete the run, or make one of another name"
// +kubebuilder:validation:XValidation:rule="self.placement == oldSelf.placement && self.seed == oldSelf.seed && self.cleanup == oldSelf.cleanup",message="placement, seed and cleanup cannot be changed: delete the run, or make one of another name"
// +kubebuilder:validation:XValidation:rule="has(self.results) == has(oldSelf.results) && (!has(self.results) || self.results == oldSelf.results)",message="results cannot be changed: delete the run, or make one of another name"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'CommitSize' || !has(self.sweep) || !has(self.sweep.axes) || self.sweep.axes.all(a, a.parameter == 'rowsPerCommit')",message="CommitSize can sweep rowsPerCommit only"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'CommitSize' || !has(self.sweep) || !has(self.sweep.points) || self.sweep.points.all(p, p.parameters.all(k, k == 'rowsPerCommit'))",message="CommitSize can sweep rowsPerCommit only"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'CommitSize' || !has(self.workload.commitSize) || !has(self.sweep) || !has(self.sweep.axes) || self.sweep.axes.all(a, a.values.all(v, v.matches('^[1-9][0-9]{0,9}$') && int(v) <= self.workload.commitSize.rows))",message="each value of rowsPerCommit must be a whole number from 1 to workload.commitSize.rows, as a string"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'CommitSize' || !has(self.workload.commitSize) || !has(self.sweep) || !has(self.sweep.points) || self.sweep.points.all(p, p.parameters.all(k, p.parameters[k].matches('^[1-9][0-9]{0,9}$') && int(p.parameters[k]) <= self.workload.commitSize.rows))",message="each value of rowsPerCommit must be a whole number from 1 to workload.commitSize.rows, as a string"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'Sysbench' || !has(self.workload.sysbench) || !has(self.sweep) || !has(self.sweep.axes) || self.sweep.axes.all(a, a.parameter in ['threads', 'rate', 'tables', 'tableSize', 'scale'] || (has(self.workload.sysbench.options) && a.parameter in self.workload.sysbench.options))",message="Sysbench can sweep threads, rate, tables, tableSize, scale, and the options that workload.sysbench.options names with their usual values"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'Sysbench' || !has(self.workload.sysbench) || !has(self.sweep) || !has(self.sweep.points) || self.sweep.points.all(p, p.parameters.all(k, k in ['threads', 'rate', 'tables', 'tableSize', 'scale'] || (has(self.workload.sysbench.options) && k in self.workload.sysbench.options)))",message="Sysbench can sweep threads, rate, tables, tableSize, scale, and the options that workload.sysbench.options names with their usual values"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'Sysbench' || !has(self.workload.sysbench) || !has(self.workload.sysbench.script) || !has(self.sweep) || ((!has(self.sweep.axes) || self.sweep.axes.all(a, self.workload.sysbench.script == 'tpcc' ? a.parameter != 'tableSize' : self.workload.sysbench.script == 'bulk_insert' ? !(a.parameter in ['scale', 'tables', 'tableSize']) : a.parameter != 'scale' && (a.parameter != 'tables' || !self.workload.sysbench.script.startsWith('select_random_')))) && (!has(self.sweep.points) || self.sweep.points.all(p, p.parameters.all(k, self.workload.sysbench.script == 'tpcc' ? k != 'tableSize' : self.workload.sysbench.script == 'bulk_insert' ? !(k in ['scale', 'tables', 'tableSize']) : k != 'scale' && (k != 'tables' || !self.workload.sysbench.script.startsWith('select_random_'))))))",message="the script has no such parameter: tpcc takes tables and scale, bulk_insert neither, select_random_points and select_random_ranges tableSize, the others tables and tableSize"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'Sysbench' || !has(self.sweep) || !has(self.sweep.axes) || self.sweep.axes.all(a, !(a.parameter in ['threads', 'rate', 'tables', 'tableSize', 'scale']) || a.values.all(v, v.matches(a.parameter == 'rate' ? '^[0-9]{1,7}$' : a.parameter == 'tableSize' ? '^[1-9][0-9]{0,8}$' : '^[1-9][0-9]{0,3}$')))",message="each value of threads, tables and scale must be a whole number from 1 to 9999, of tableSize to 999999999, and of rate from 0 to 9999999, as a string"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'Sysbench' || !has(self.sweep) || !has(self.sweep.points) || self.sweep.points.all(p, p.parameters.all(k, !(k in ['threads', 'rate', 'tables', 'tableSize', 'scale']) || p.parameters[k].matches(k == 'rate' ? '^[0-9]{1,7}$' : k == 'tableSize' ? '^[1-9][0-9]{0,8}$' : '^[1-9][0-9]{0,3}$')))",message="each value of threads, tables and scale must be a whole number from 1 to 9999, of tableSize to 999999999, and of rate from 0 to 9999999, as a string"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'Custom' || !has(self.workload.custom) || !has(self.sweep) || ((!has(self.sweep.axes) || self.sweep.axes.all(a, has(self.workload.custom.parameters) && a.parameter in self.workload.custom.parameters)) && (!has(self.sweep.points) || self.sweep.points.all(p, p.parameters.all(k, has(self.workload.custom.parameters) && k in self.workload.custom.parameters))))",message="Custom can sweep the parameters that workload.custom.parameters names"
// +kubebuilder:validation:XValidation:rule="!has(self.trials) || self.trials.data != 'Keep' || self.workload.type != 'Custom'",message="trials.data: Keep is for workloads that only read; Custom may write"
// +kubebuilder:validation:XValidation:rule="!has(self.trials) || self.trials.data != 'Keep' || self.workload.type != 'Sysbench' || !has(self.workload.sysbench) || (has(self.workload.sysbench.script) && self.workload.sysbench.script in ['oltp_read_only', 'oltp_point_select', 'select_random_points', 'select_random_ranges'])",message="trials.data: Keep is for scripts that only read: oltp_read_only, oltp_point_select, select_random_points and select_random_ranges"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'Sysbench' || !has(self.database.tls) || !has(self.database.tls.mode) || self.database.tls.mode == 'Disabled'",message="sysbench 1.0 cannot be told which certificates to use: database.tls.mode must be Disabled with workload type Sysbench"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'Custom' || !has(self.loader) || self.loader.pods == 1",message="Custom loads from one Pod: loader.pods must be 1"
// +kubebuilder:validation:XValidation:rule="!has(self.trials) || self.trials.data != 'Keep' || self.workload.type != 'CommitSize'",message="trials.data: Keep is for workloads that only read; CommitSize writes"
// +kubebuilder:validation:XValidation:rule="!has(self.trials) || self.trials.database != 'Fresh' || self.database.provisioner != 'External'",message="trials.database: Fresh needs a provisioner that makes servers: an external one is there once"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'CommitSize' || !has(self.loader) || self.loader.pods == 1",message="CommitSize loads over one connection: loader.pods must be 1"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'BulkInsert' || !has(self.sweep) || !has(self.sweep.axes) || self.sweep.axes.all(a, a.parameter in ['rowsPerStatement','statementsPerTransaction','concurrency','storageEngine'])",message="BulkInsert can sweep rowsPerStatement, statementsPerTransaction, concurrency, storageEngine only"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'BulkInsert' || !has(self.sweep) || !has(self.sweep.points) || self.sweep.points.all(p, p.parameters.all(k, k in ['rowsPerStatement','statementsPerTransaction','concurrency','storageEngine']))",message="BulkInsert can sweep rowsPerStatement, statementsPerTransaction, concurrency, storageEngine only"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'BulkInsert' || !has(self.sweep) || !has(self.sweep.axes) || self.sweep.axes.all(a, a.values.all(v, a.parameter == 'storageEngine' ? v.matches('^[A-Za-z0-9_]+$') : v.matches('^[1-9][0-9]{0,6}$') && int(v) <= (a.parameter == 'concurrency' ? 128 : 1000000)))",message="values of a sweep are strings: whole numbers from 1 to 1000000 for rowsPerStatement and statementsPerTransaction, from 1 to 128 for concurrency; letters, digits and underscores for storageEngine"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'BulkInsert' || !has(self.sweep) || !has(self.sweep.points) || self.sweep.points.all(p, p.parameters.all(k, k == 'storageEngine' ? p.parameters[k].matches('^[A-Za-z0-9_]+$') : p.parameters[k].matches('^[1-9][0-9]{0,6}$') && int(p.parameters[k]) <= (k == 'concurrency' ? 128 : 1000000)))",message="values of a sweep are strings: whole numbers from 1 to 1000000 for rowsPerStatement and statementsPerTransaction, from 1 to 128 for concurrency; letters, digits and underscores for storageEngine"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'IIBench' || !has(self.sweep) || !has(self.sweep.axes) || self.sweep.axes.all(a, a.parameter in ['rowsPerCommit','rowsPerStatement','storageEngine','secondaryIndexes','insertThreads','queryThreads'])",message="IIBench can sweep rowsPerCommit, rowsPerStatement, storageEngine, secondaryIndexes, insertThreads, queryThreads only"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'IIBench' || !has(self.sweep) || !has(self.sweep.points) || self.sweep.points.all(p, p.parameters.all(k, k in ['rowsPerCommit','rowsPerStatement','storageEngine','secondaryIndexes','insertThreads','queryThreads']))",message="IIBench can sweep rowsPerCommit, rowsPerStatement, storageEngine, secondaryIndexes, insertThreads, queryThreads only"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'IIBench' || !has(self.sweep) || !has(self.sweep.axes) || self.sweep.axes.all(a, a.values.all(v, a.parameter == 'storageEngine' ? v.matches('^[A-Za-z0-9_]+$') : v.matches('^(0|[1-9][0-9]{0,6})$') && (a.parameter in ['secondaryIndexes','queryThreads'] || v != '0') && int(v) <= (a.parameter == 'secondaryIndexes' ? 3 : a.parameter.endsWith('Threads') ? 128 : a.parameter == 'rowsPerStatement' ? 100000 : 1000000)))",message="values of a sweep are strings: whole numbers from 1 to 1000000 for rowsPerCommit, 1 to 100000 for rowsPerStatement, 1 to 128 for insertThreads, 0 to 128 for queryThreads, 0 to 3 for secondaryIndexes; letters, digits and underscores for storageEngine"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'IIBench' || !has(self.sweep) || !has(self.sweep.points) || self.sweep.points.all(p, p.parameters.all(k, k == 'storageEngine' ? p.parameters[k].matches('^[A-Za-z0-9_]+$') : p.parameters[k].matches('^(0|[1-9][0-9]{0,6})$') && (k in ['secondaryIndexes','queryThreads'] || p.parameters[k] != '0') && int(p.parameters[k]) <= (k == 'secondaryIndexes' ? 3 : k.endsWith('Threads') ? 128 : k == 'rowsPerStatement' ? 100000 : 1000000)))",message="values of a sweep are strings: whole numbers from 1 to 1000000 for rowsPerCommit, 1 to 100000 for rowsPerStatement, 1 to 128 for insertThreads, 0 to 128 for queryThreads, 0 to 3 for secondaryIndexes; letters, digits and underscores for storageEngine"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'IIBench' || !has(self.workload.iiBench) || self.workload.iiBench.rules != 'Contest2008' || !has(self.sweep) || (has(self.sweep.axes) ? self.sweep.axes.all(a, a.parameter in ['storageEngine','insertThreads']) : !has(self.sweep.points) || self.sweep.points.all(p, p.parameters.all(k, k in ['storageEngine','insertThreads'])))",message="rules Contest2008 leave storageEngine and insertThreads to sweep"
// +kubebuilder:validation:XValidation:rule="!(self.workload.type in ['BulkInsert','IIBench']) || !has(self.trials) || self.trials.data != 'Keep'",message="trials.data: Keep is for workloads that only read; BulkInsert and IIBench write"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'BulkInsert' || !has(self.workload.bulkInsert) || !has(self.loader) || self.loader.pods == 1 || ((!has(self.sweep) || ((!has(self.sweep.axes) || self.sweep.axes.all(a, a.parameter != 'concurrency' || a.values.all(v, !v.matches('^[1-9][0-9]{0,6}$') || int(v) >= self.loader.pods))) && (!has(self.sweep.points) || self.sweep.points.all(p, !('concurrency' in p.parameters) || !p.parameters['concurrency'].matches('^[1-9][0-9]{0,6}$') || int(p.parameters['concurrency']) >= self.loader.pods)))) && ((has(self.sweep) && ((has(self.sweep.axes) && self.sweep.axes.exists(a, a.parameter == 'concurrency')) || (has(self.sweep.points) && self.sweep.points.all(p, 'concurrency' in p.parameters)))) || self.workload.bulkInsert.concurrency >= self.loader.pods))",message="all loader Pods share the connections: concurrency must be at least loader.pods, in workload.bulkInsert or wherever it is swept"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'IIBench' || !has(self.workload.iiBench) || !has(self.loader) || self.loader.pods == 1 || ((!has(self.sweep) || ((!has(self.sweep.axes) || self.sweep.axes.all(a, a.parameter != 'insertThreads' || a.values.all(v, !v.matches('^[1-9][0-9]{0,6}$') || int(v) >= self.loader.pods))) && (!has(self.sweep.points) || self.sweep.points.all(p, !('insertThreads' in p.parameters) || !p.parameters['insertThreads'].matches('^[1-9][0-9]{0,6}$') || int(p.parameters['insertThreads']) >= self.loader.pods)))) && ((has(self.sweep) && ((has(self.sweep.axes) && self.sweep.axes.exists(a, a.parameter == 'insertThreads')) || (has(self.sweep.points) && self.sweep.points.all(p, 'insertThreads' in p.parameters)))) || self.workload.iiBench.insertThreads >= self.loader.pods))",message="all loader Pods share the connections: insertThreads must be at least loader.pods, in workload.iiBench or wherever it is swept"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'Sysbench' || !has(self.workload.sysbench) || !has(self.loader) || self.loader.pods == 1 || ((!has(self.sweep) || ((!has(self.sweep.axes) || self.sweep.axes.all(a, a.parameter != 'threads' || a.values.all(v, !v.matches('^[1-9][0-9]{0,6}$') || int(v) >= self.loader.pods))) && (!has(self.sweep.points) || self.sweep.points.all(p, !('threads' in p.parameters) || !p.parameters['threads'].matches('^[1-9][0-9]{0,6}$') || int(p.parameters['threads']) >= self.loader.pods)))) && ((has(self.sweep) && ((has(self.sweep.axes) && self.sweep.axes.exists(a, a.parameter == 'threads')) || (has(self.sweep.points) && self.sweep.points.all(p, 'threads' in p.parameters)))) || self.workload.sysbench.threads >= self.loader.pods))",message="all loader Pods share the connections: threads must be at least loader.pods, in workload.sysbench or wherever it is swept"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'IIBench' || !has(self.workload.iiBench) || !has(self.workload.iiBench.keepRows) || !has(self.loader) || self.loader.pods == 1",message="IIBench that deletes (keepRows) loads from one Pod: loader.pods must be 1"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'Sysbench' || !has(self.workload.sysbench) || !has(self.workload.sysbench.script) || self.workload.sysbench.script != 'bulk_insert' || !has(self.loader) || self.loader.pods == 1",message="script bulk_insert loads from one Pod: loader.pods must be 1"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'TPROCHLoad' || !has(self.sweep) || ((!has(self.sweep.axes) || self.sweep.axes.all(a, a.parameter in ['scaleFactor', 'uniqueChecks', 'foreignKeyChecks', 'streams', 'loadMode'])) && (!has(self.sweep.points) || self.sweep.points.all(p, p.parameters.all(k, k in ['scaleFactor', 'uniqueChecks', 'foreignKeyChecks', 'streams', 'loadMode']))))",message="TPROCHLoad can sweep scaleFactor, uniqueChecks, foreignKeyChecks, streams and loadMode only"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'TPROCHLoad' || !has(self.sweep) || ((!has(self.sweep.axes) || self.sweep.axes.all(a, a.values.all(v, a.parameter == 'scaleFactor' ? v.matches('^(0[.](0[1-9]|[1-9][0-9]?)|[1-9][0-9]{0,2}([.][0-9]{1,2})?|1000([.]00?)?)$') : a.parameter == 'streams' ? v.matches('^[1-8]$') : a.parameter == 'loadMode' ? v in ['OneStatement', 'Chunked', 'Parallel'] : v in ['true', 'false']))) && (!has(self.sweep.points) || self.sweep.points.all(p, p.parameters.all(k, k == 'scaleFactor' ? p.parameters[k].matches('^(0[.](0[1-9]|[1-9][0-9]?)|[1-9][0-9]{0,2}([.][0-9]{1,2})?|1000([.]00?)?)$') : k == 'streams' ? p.parameters[k].matches('^[1-8]$') : k == 'loadMode' ? p.parameters[k] in ['OneStatement', 'Chunked', 'Parallel'] : p.parameters[k] in ['true', 'false']))))",message="each value must be, as a string: of scaleFactor 0.01 to 1000 with at most two decimal places, of streams 1 to 8, of loadMode OneStatement, Chunked or Parallel, of uniqueChecks and foreignKeyChecks true or false"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'TPROCHLoad' || !has(self.workload.tprochLoad) || self.workload.tprochLoad.loadMode == 'Parallel' || (has(self.sweep) && ((has(self.sweep.axes) && self.sweep.axes.exists(a, a.parameter == 'loadMode')) || (has(self.sweep.points) && self.sweep.points.exists(p, 'loadMode' in p.parameters)))) || (!has(self.workload.tprochLoad.streams) && (!has(self.sweep) || ((!has(self.sweep.axes) || self.sweep.axes.all(a, a.parameter != 'streams')) && (!has(self.sweep.points) || self.sweep.points.all(p, !('streams' in p.parameters))))))",message="streams goes with loadMode Parallel"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'TPROCHLoad' || !has(self.workload.tprochLoad) || self.workload.tprochLoad.data != 'Staged' || (has(self.loader) && has(self.loader.scratch))",message="data: Staged needs a volume for the files: write loader: {scratch: {size: 5Gi}}, with about 1.1Gi for each 1 of scaleFactor"
// +kubebuilder:validation:XValidation:rule="!has(self.trials) || self.trials.data != 'Keep' || self.workload.type != 'TPROCHLoad'",message="trials.data: Keep is for workloads that only read; TPROCHLoad writes"
// +kubebuilder:validation:XValidation:rule="self.workload.type != 'TPROCHLoad' || !has(self.loader) || self.loader.pods == 1",message="TPROCHLoad loads from one Pod: loader.pods must be 1; loadMode Parallel loads over several connections"
// +kubebuilder:validation:XValidation:rule="(has(self.sweep) ? (has(self.sweep.points) ? size(self.sweep.points) : !has(self.sweep.axes) ? 1 : self.sweep.mode == 'OneFactor' ? (size(self.sweep.axes) > 0 ? size(self.sweep.axes[0].values) : 0) + (size(self.sweep.axes) > 1 ? size(self.sweep.axes[1].values) : 0) + (size(self.sweep.axes) > 2 ? size(self.sweep.axes[2].values) : 0) + (size(self.sweep.axes) > 3 ? size(self.sweep.axes[3].values) : 0) + (size(self.sweep.axes) > 4 ? size(self.sweep.axes[4].values) : 0) + (size(self.sweep.axes) > 5 ? size(self.sweep.axes[5].values) : 0) : (size(self.sweep.axes) > 0 ? size(self.sweep.axes[0].values) : 1) * (size(self.sweep.axes) > 1 ? size(self.sweep.axes[1].values) : 1) * (size(self.sweep.axes) > 2 ? size(self.sweep.axes[2].values) : 1) * (size(self.sweep.axes) > 3 ? size(self.sweep.axes[3].values) : 1) * (size(self.sweep.axes) > 4 ? size(self.sweep.axes[4].values) : 1) * (size(self.sweep.axes) > 5 ? size(self.sweep.axes[5].values) : 1)) : 1) * (has(self.trials) ? (has(self.trials.precision) ? self.trials.precision.max : has(self.trials.repetitions) ? self.trials.repetitions : 3) : 3) <= 5000",message="a run has at most 5000 trials: points times repetitions (or precision.max) is above that"
// +kubebuilder:validation:XValidation:rule="!has(self.workload.dataFrom) || !has(self.loader) || self.loader.pods == 1",message="a file of dataFrom is read by one Pod: loader.pods must be 1; use concurrency or streams for more connections"
// +kubebuilder:validation:XValidation:rule="!has(self.workload.dataFrom) || !has(self.sweep) || ((!has(self.sweep.axes) || self.sweep.axes.all(a, a.parameter != 'scaleFactor')) && (!has(self.sweep.points) || self.sweep.points.all(p, p.parameters.all(k, k != 'scaleFactor'))))",message="scaleFactor cannot be swept with dataFrom: every point would load the same files"
type BenchmarkRunSpec struct {
	// database is the server to measure: its image, settings, storage and resources.
	// +required
	Database DatabaseSpec `json:"database,omitzero"`

	// workload is what the loader does to the database.
	// +required
	Workload WorkloadSpec `json:"workload,omitzero"`

	// sweep names the parameters to vary. Unset: one point, with the parameters that the workload names.
	// +optional
	Sweep *SweepSpec `json:"sweep,omitempty"`

	// trials says how often, in which order and under which deadlines each point is measured.
	// +optional
	// +kubebuilder:default={}
	Trials TrialsSpec `json:"trials,omitzero"`

	// loader says where and with what the load is made.
	// +optional
	// +kubebuilder:default={}
	Loader LoaderSpec `json:"loader,omitzero"`

	// placement is SameNode (the nodes of the first attempt bind all later ones) or Any. Defaults to SameNode.
	// +optional
	// +kubebuilder:default=SameNode
	// +kubebuilder:validation:Enum=SameNode;Any
	Placement Placement `json:"placement,omitempty"`

	// seed of all randomness: of the order of the trials, and of the data. The same seed gives the same of both, anywhere.
	// From 0 to 9007199254740991; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9007199254740991
	Seed *int64 `json:"seed,omitempty"`

	// suspend stops the run and removes its database; what was measured stays. The trial that was being measured starts
	// again when suspend is false. Defaults to false.
	// +optional
	// +kubebuilder:default=false
	Suspend *bool `json:"suspend,omitempty"`

	// cleanup says when the database is removed after the run has finished: Always, OnSuccess (kept after a failure, for
	// looking at) or Never (until the run is deleted). Defaults to Always.
	// +optional
	// +kubebuilder:default=Always
	// +kubebuilder:validation:Enum=Always;OnSuccess;Never
	Cleanup CleanupPolicy `json:"cleanup,omitempty"`

	// ttlSecondsAfterFinished deletes the run so long after it finished; with results.retention WithRun its results too.
	// Unset: it stays. From 0 to 31536000.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// results says what becomes of the result ConfigMaps.
	// +optional
	// +kubebuilder:default={}
	Results ResultsSpec `json:"results,omitzero"`
}

// Placement says whether all attempts of a run share their nodes.
type Placement string

const (
	// PlacementSameNode binds all attempts to the nodes of the first.
	PlacementSameNode Placement = "SameNode"
	// PlacementAny lets the scheduler choose anew each time.
	PlacementAny Placement = "Any"
)

// CleanupPolicy says when a finished run's database is removed.
type CleanupPolicy string

const (
	// CleanupAlways removes it as soon as the run has finished.
	CleanupAlways CleanupPolicy = "Always"
	// CleanupOnSuccess keeps it if the run has failed.
	CleanupOnSuccess CleanupPolicy = "OnSuccess"
	// CleanupNever keeps it until the run is deleted.
	CleanupNever CleanupPolicy = "Never"
)

// Retention says how long result ConfigMaps live.
type Retention string

const (
	// RetentionWithRun deletes them with the run.
	RetentionWithRun Retention = "WithRun"
	// RetentionRetain keeps them when the run is deleted.
	RetentionRetain Retention = "Retain"
)

// ResultsSpec says what becomes of the result ConfigMaps.
type ResultsSpec struct {
	// retention is WithRun (they are deleted with the run) or Retain (they outlive it, labelled with its name and UID).
	// Defaults to WithRun.
	// +optional
	// +kubebuilder:default=WithRun
	// +kubebuilder:validation:Enum=WithRun;Retain
	Retention Retention `json:"retention,omitempty"`
}
