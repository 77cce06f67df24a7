// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

// ofLoader are the findings that the loader and the workloads make.
var ofLoader = map[Code]Entry{
	ShortMeasurement:    {Warning, "the measured phase took less than a second: use more rows"},
	ShortProgram:        {Warning, "the measured phase took less than a second: give the program more work"},
	TransactionsRetried: {Warning, "{retried} transactions ({share:1}% of all) were rolled back and retried"},
	EventsGivenUp: {
		Warning, "{events} events ({share:1}% of all) were given up because of errors that sysbench ignores, and begun anew",
	},
	ClientBusy: {
		Warning, "the client[ of Pod {pod}] used {share:0}% of [{connections} CPUs, one per connection][the node's {cpus} " +
			"CPUs][its CPU limit of {limitMillis}m]: it may have been the bottleneck",
	},
	ClientBusyOneConnection: {
		Warning, "the client[ of Pod {pod}] used {share:0}% of one CPU, the most that one connection can use: it may have " +
			"been the bottleneck",
	},
	ClientThrottled: {Warning, "the client[ of Pod {pod}] was throttled at its CPU limit for {share:1}% of the time"},
	LateAnswers: {
		Warning, "{latencies} insert latencies are too high: they include the client's work on its next statement, because " +
			"its kernel does not report when an answer arrives",
	},
	CommitsNotDurable:   {Notice, "commits are not durable: {variable} is {value}"},
	BinaryLogNotDurable: {Notice, "the binary log is not durable: {variable} is {value}"},
	SettingRounded:      {Notice, "the server rounded {variable}={requested} to {effective}, which is {share:1}% off"},
	SettingNotVerifiable: {
		Notice, "the server was started with {option}={value}, and has no variable that shows it: it cannot be verified",
	},
	ServerNotAtRest: {Warning, "the server did not settle: after {seconds} s it still had {amount} {debt} (goal: {goal})"},
	LongTransactions: {
		Warning, "transactions under way at the end of a slice took up to {seconds:1} s to end, longer than a slice",
	},
	WrittenInPauses: {
		Warning, "the server wrote {pages} pages back in the pauses between its slices, {share:0}% of all: a load without " +
			"pauses may be slower",
	},
	BusyInPauses:   {Warning, "the server used {share:0}% of its machine's CPUs while other variants were measured"},
	ObserverSilent: {Warning, "the observer in the database Pod did not answer: the server's resource usage is unknown"},
	SchemaLeft:     {Warning, "the schema {schema} may still be on the server, because dropping it failed: {error}"},
	SchemaDropped:  {Warning, "the program dropped the run's schema {schema}: give it another one"},
	DataNotCopied:  {Warning, "no copy of the prepared data could be made: {error}"},
	StoppedByLimit: {
		Notice, "stopped at the limit of {seconds} s[, after {rows} of {planned} rows][; at the terminal rate, all rows " +
			"would take {estimate:0} s]",
	},
	RateNotReached: {
		Warning, "the rate of {rate} {unit} was not reached: {reached:1} {unit}, {share:1}% of the offered load[; {waiting} " +
			"were still queued at the end and have no latency]",
	},
	Reconnected:       {Warning, "{program} reconnected {times}× during the measurement"},
	InputNotUsedWhole: {Notice, "bulkInsert.rows uses only the first {rows} of {available} rows of {file}"},
	ContestRows:       {Notice, "deviates from {contest}: {rows} rows instead of {required}"},
	ContestServer:     {Notice, "deviates from {contest}: server version {version} instead of {required}"},
	ContestHardware: {
		Notice, "deviates from {contest}: the hardware is not limited to 8 cores, 16 GB of memory and 8 drives (see the " +
			"environment)",
	},
	ProgramWarning: {Warning, "{text}"},
}
