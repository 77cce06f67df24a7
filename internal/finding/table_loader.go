// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

// ofLoader are the findings that the loader and the workloads make.
var ofLoader = map[Code]Entry{
	ShortMeasurement: {
		Warning, "the measured phase took less than a second: use more rows",
		"Fixed costs and chance make up a large part of such a short measurement.",
		"use more rows, or set `workload.limits.seconds` and leave the number of rows unlimited.",
	},
	ShortProgram: {
		Warning, "the measured phase took less than a second: give the program more work",
		"Fixed costs and chance make up a large part of such a short measurement.",
		"give the program more work: more events, more tables or more time.",
	},
	TransactionsRetried: {
		Warning, "{retried} transactions ({share:1}% of all) were rolled back and retried",
		"The server rolled transactions back because of deadlocks or lock wait timeouts. No rows are missing; the time " +
			"includes the retries.",
		"use fewer connections or more rows, unless contention is what you want to measure.",
	},
	EventsGivenUp: {
		Warning, "{events} events ({share:1}% of all) were given up because of errors that sysbench ignores, and begun anew",
		"sysbench ignores deadlocks, lock wait timeouts and changed rows, or the errors that the option `mysql-ignore-errors` " +
			"names: it gives the event up and begins another one. What the event has done outside of a transaction remains. The time " +
			"includes the events that were given up.",
		"use fewer clients or more rows, unless contention is what you want to measure.",
	},
	ClientBusy: {
		Warning, "the client[ of Pod {pod}] used {share:0}% of [{connections} CPUs, one per connection][the node's {cpus} " +
			"CPUs][its CPU limit of {limitMillis}m]: it may have been the bottleneck",
		"The loader used nearly all the CPU available to it. A faster server might not have given a higher number.",
		"give the loader more CPU (`loader.resources`), more connections, or more Pods (`loader.pods`).",
	},
	ClientBusyOneConnection: {
		Warning, "the client[ of Pod {pod}] used {share:0}% of one CPU, the most that one connection can use: it may have been " +
			"the bottleneck",
		"A connection is served by one thread of the loader, and that thread was busy nearly all the time.",
		"use more connections if the workload allows it.",
	},
	ClientThrottled: {
		Warning, "the client[ of Pod {pod}] was throttled at its CPU limit for {share:1}% of the time",
		"The kernel throttled the loader at its CPU limit, so the server had to wait for it.",
		"raise `loader.resources.limits.cpu`.",
	},
	LateAnswers: {
		Warning, "{latencies} insert latencies are too high: they include the client's work on its next statement, because its " +
			"kernel does not report when an answer arrives",
		"Throughput is not affected. Latencies include part of the client's own work.",
		"run the loader on a kernel that reports when an answer arrives.",
	},
	CommitsNotDurable: {
		Notice, "commits are not durable: {variable} is {value}",
		"The server does not flush its redo log at each commit. That is faster, but the last commits are lost if the machine " +
			"fails.",
		"set `database.settings.flushLogAtTrxCommit: 1` for durable commits.",
	},
	BinaryLogNotDurable: {
		Notice, "the binary log is not durable: {variable} is {value}",
		"The server writes a binary log but does not flush it at each commit.",
		"set `sync_binlog: 1` in `database.variables` for a durable log.",
	},
	SettingRounded: {
		Notice, "the server rounded {variable}={requested} to {effective}, which is {share:1}% off",
		"The server rounds this variable to a value that it supports, and the result is more than 1% off.",
		"request the value that is in effect.",
	},
	SettingNotVerifiable: {
		Notice, "the server was started with {option}={value}, and has no variable that shows it: it cannot be verified",
		"Every setting is read back before anything is measured. This one is an option without a variable: the server took it, " +
			"and says nowhere what it made of it.",
		"look at what the option does, for example at the tables of performance_schema, if the result rests on it.",
	},
	ServerNotAtRest: {
		Warning, "the server did not settle: after {seconds} s it still had {amount} {debt} (goal: {goal})",
		"Before each trial the loader waits until the server has written back what earlier work left behind. This server did " +
			"not finish in time: the rest was written during the measurement.",
		"use faster storage, a smaller buffer pool, or `trials.server: PerTrial`.",
	},
	LongTransactions: {
		Warning, "transactions under way at the end of a slice took up to {seconds:1} s to end, longer than a slice",
		"A slice ends when its last transaction has ended. So long a transaction rarely begins and ends within the part of a slice " +
			"that counts: the rates miss a part of it.",
		"measure with `alternation: Trials`.",
	},
	WrittenInPauses: {
		Warning, "the server wrote {pages} pages back in the pauses between its slices, {share:0}% of all: a load without pauses may " +
			"be slower",
		"In slices, each server is idle while another one is measured. This one used that time for work which its load had left " +
			"behind, and which a load without pauses has to wait for.",
		"measure the variants one after the other (`alternation: Runs`), and see whether the answer is the same.",
	},
	BusyInPauses: {
		Warning, "the server used {share:0}% of its machine's CPUs while other variants were measured",
		"In slices, the servers of all variants are up. This one worked in the pauses between its slices, and the others had the " +
			"machine not to themselves.",
		"measure one variant after the other (`alternation: Runs`), and see whether the answer is the same.",
	},
	ObserverSilent: {
		Warning, "the observer in the database Pod did not answer: the server's resource usage is unknown",
		"CPU, I/O and throttling of the server are missing from the result. The number itself is not affected.",
		"check the Pod's `observer` container, and network policies between the loader and the database.",
	},
	SchemaLeft: {
		Warning, "the schema {schema} may still be on the server, because dropping it failed: {error}",
		"The run measured a server of yours and could not remove what it had created there.",
		"drop the schema yourself.",
	},
	SchemaDropped: {
		Warning, "the program dropped the run's schema {schema}: give it another one",
		"Benchrun keeps its notes in the run's schema, and has made it again. The number itself is not affected. Some programs drop " +
			"the schema that they use, for example `mariadb-slap --create-schema`.",
		"let the program use a schema of another name, which it may drop.",
	},
	DataNotCopied: {
		Warning, "no copy of the prepared data could be made: {error}",
		"The run asked for data that are prepared once (`trials.data: Restore`). The next server has no copy to begin with, and its " +
			"data are prepared again. The number itself is not affected.",
		"read the error: the volume of the copy needs the room of `database.storage.size`.",
	},
	StoppedByLimit: {
		Notice, "stopped at the limit of {seconds} s[, after {rows} of {planned} rows][; at the terminal rate, all rows would " +
			"take {estimate:0} s]",
		"The time limit ended the load before all rows were written. The number covers the rows that were written.",
		"raise `workload.limits.seconds`, or request fewer rows, if you want all of them.",
	},
	RateNotReached: {
		Warning, "the rate of {rate} {unit} was not reached: {reached:1} {unit}, {share:1}% of the offered load[; {waiting} " +
			"were still queued at the end and have no latency]",
		"The server did not keep up with the offered rate. Latencies include the time in the queue and grow with the length of " +
			"the measurement.",
		"offer a lower rate, or measure without a rate to find the highest throughput.",
	},
	Reconnected: {
		Warning, "{program} reconnected {times}× during the measurement",
		"Connections were lost during the measurement. The number includes the time it took to set up new ones.",
		"look for the cause in the server's log.",
	},
	InputNotUsedWhole: {
		Notice, "bulkInsert.rows uses only the first {rows} of {available} rows of {file}",
		"The file has more rows than the workload inserts.",
		"leave out `bulkInsert.rows` to insert all of them.",
	},
	ContestRows: {
		Notice, "deviates from {contest}: {rows} rows instead of {required}",
		"The result cannot be compared with those of the contest.", "",
	},
	ContestServer: {
		Notice, "deviates from {contest}: server version {version} instead of {required}",
		"The result cannot be compared with those of the contest.", "",
	},
	ContestHardware: {
		Notice, "deviates from {contest}: the hardware is not limited to 8 cores, 16 GB of memory and 8 drives (see the " +
			"environment)",
		"The result cannot be compared with those of the contest.", "",
	},
	ProgramWarning: {
		Warning, "{text}",
		"The program that made the load reported this.",
		"see the documentation of the program.",
	},
}
