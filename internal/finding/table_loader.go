// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

// ofLoader are the findings that the loader and the workloads make.
var ofLoader = map[Code]Entry{
	ShortMeasurement: {
		Warning, "the measured phase took less than a second: ask for more rows",
		"Fixed costs and chance make up a large part of so short a measurement.",
		"ask for more rows, or set `workload.limits.seconds` and no bound of rows.",
	},
	ShortProgram: {
		Warning, "the measured phase took less than a second: let the program do more",
		"Fixed costs and chance make up a large part of so short a measurement.",
		"let the program run longer: more events, more tables or more time.",
	},
	TransactionsRetried: {
		Warning, "{retried} transactions, {share:1} % of all, were rolled back and tried again",
		"The server rolled transactions back because of deadlocks or lock wait timeouts. The rows are all there; the time includes " +
			"the retries.",
		"use fewer connections or more rows, unless contention is what you measure.",
	},
	ClientBusy: {
		Warning, "the client[ of Pod {pod}] used {share:0} % of [{connections} CPUs, one for each connection][the node's {cpus} CPUs]" +
			"[its limit of {limitMillis} thousandths of a CPU]: it may be what was measured",
		"The loader used nearly all the CPU that it could use. A faster server would not have given a higher number.",
		"give the loader more CPU (`loader.resources`), more connections, or more Pods (`loader.pods`).",
	},
	ClientBusyOneConnection: {
		Warning, "the client[ of Pod {pod}] used {share:0} % of one CPU, and one connection cannot use more: it may " +
			"be what was measured",
		"One connection is served by one thread of the loader, and that thread was busy nearly all the time.",
		"use more connections, if the workload allows several.",
	},
	ClientThrottled: {
		Warning, "the client[ of Pod {pod}] was held back at its CPU limit for {share:1} % of the time",
		"The kernel stopped the loader at its CPU limit, so that the server waited for it.",
		"raise `loader.resources.limits.cpu`.",
	},
	LateAnswers: {
		Warning, "{latencies} insert latencies are too long: they last until the client had made its next " +
			"statement, because its kernel " +
			"does not say when an answer came",
		"Throughput is not affected; latencies include a part of the client's own work.",
		"run the loader on a kernel that reports when an answer arrived.",
	},
	CommitsNotDurable: {
		Notice, "commits are not durable: {variable} is {value}",
		"The server does not flush its redo log at each commit. It is faster, and loses the last commits if the machine fails.",
		"set `database.settings.flushLogAtTrxCommit: 1` for durable commits.",
	},
	BinaryLogNotDurable: {
		Notice, "the binary log is not durable: {variable} is {value}",
		"The server writes a binary log and does not flush it at each commit.",
		"set `sync_binlog: 1` in `database.variables` for a durable log.",
	},
	SettingRounded: {
		Notice, "the server made {effective} of {variable}={requested}, a difference of {share:1} %",
		"The server rounds this variable to a value that it supports, and the difference is larger than 1%.",
		"ask for the value that is in effect.",
	},
	ServerNotAtRest: {
		Warning, "the server did not come to rest: after {seconds}s it had {amount} {debt} (the goal is {goal})",
		"Before each trial the loader waits until the server has written back what earlier work has left. This server had not: the " +
			"rest was written while the trial was measured.",
		"use faster storage, a smaller buffer pool, or `trials.server: Fresh`.",
	},
	ObserverSilent: {
		Warning, "the observer in the database's Pod did not answer: what the server used is unknown",
		"CPU, I/O and throttling of the server are missing from the result. The number itself is not affected.",
		"look at the Pod's container `observer`, and at network policies between the loader and the database.",
	},
	SchemaLeft: {
		Warning, "the schema {schema} may still be on the server, because removing it failed: {error}",
		"The run has measured a server of yours, and could not remove what it had created there.",
		"drop the schema yourself.",
	},
	StoppedByLimit: {
		Notice, "stopped by the limit of {seconds} s[, after {rows} of {planned} rows][; at the terminal rate all would take " +
			"{estimate:0} s]",
		"The time limit ended the load before all rows were written. The number is that of the rows that were written.",
		"raise `workload.limits.seconds`, or ask for fewer rows, if you want all of them.",
	},
	RateNotReached: {
		Warning, "the rate of {rate} {unit} was not reached: {reached:1} {unit}, {share:1} % of those that were " +
			"due[; {waiting} still " +
			"waited at the end, and are in no latency]",
		"The server did not keep up with the offered rate. Latencies include the wait in the queue, and grow with the length of the " +
			"measurement.",
		"offer a lower rate, or measure without a rate to find the highest throughput.",
	},
	Reconnected: {
		Warning, "{program} connected anew {times} times while it measured",
		"Connections were lost during the measurement. Setting up new ones takes time that is part of the number.",
		"look for the cause in the server's log.",
	},
	InputNotUsedWhole: {
		Notice, "of the {available} rows of {file}, the first {rows} were asked for: bulkInsert.rows",
		"The file has more rows than the workload inserts.",
		"leave `bulkInsert.rows` out to insert all of them.",
	},
	ContestRows: {
		Notice, "deviates from {contest}: {rows} rows in place of {required}",
		"The result cannot be compared with those of the contest.", "",
	},
	ContestServer: {
		Notice, "deviates from {contest}: the server is {version}, not {required}",
		"The result cannot be compared with those of the contest.", "",
	},
	ContestHardware: {
		Notice, "deviates from {contest}: hardware is not limited to 8 cores, 16 GB of memory and 8 drives: see the environment",
		"The result cannot be compared with those of the contest.", "",
	},
	ProgramWarning: {
		Warning, "{text}",
		"The program that made the load has reported this.",
		"read the documentation of the program.",
	},
}
