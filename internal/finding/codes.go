// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

// Code says which finding it is. The set is closed: the table has every one.
type Code string

// Findings of the loader, about one attempt.
const (
	ShortMeasurement        Code = "ShortMeasurement"
	ShortProgram            Code = "ShortProgram"
	TransactionsRetried     Code = "TransactionsRetried"
	EventsGivenUp           Code = "EventsGivenUp"
	ClientBusy              Code = "ClientBusy"
	ClientBusyOneConnection Code = "ClientBusyOneConnection"
	ClientThrottled         Code = "ClientThrottled"
	LateAnswers             Code = "LateAnswers"
	CommitsNotDurable       Code = "CommitsNotDurable"
	BinaryLogNotDurable     Code = "BinaryLogNotDurable"
	SettingRounded          Code = "SettingRounded"
	SettingNotVerifiable    Code = "SettingNotVerifiable"
	ServerNotAtRest         Code = "ServerNotAtRest"
	ObserverSilent          Code = "ObserverSilent"
	SchemaLeft              Code = "SchemaLeft"
	SchemaDropped           Code = "SchemaDropped"
	DataNotCopied           Code = "DataNotCopied"
	StoppedByLimit          Code = "StoppedByLimit"
	RateNotReached          Code = "RateNotReached"
	Reconnected             Code = "Reconnected"
	InputNotUsedWhole       Code = "InputNotUsedWhole"
	ContestRows             Code = "ContestRows"
	ContestServer           Code = "ContestServer"
	WrittenInPauses         Code = "WrittenInPauses"
	ConnectionsInSlices     Code = "ConnectionsInSlices"
	ContestHardware         Code = "ContestHardware"
	ProgramWarning          Code = "ProgramWarning"
)

// Findings of the operator, about an attempt, its place, and the trials of a point or of a run.
const (
	PodsArrived        Code = "PodsArrived"
	PodsDeparted       Code = "PodsDeparted"
	PodsUnread         Code = "PodsUnread"
	NodeConditions     Code = "NodeConditions"
	PodsNotGuaranteed  Code = "PodsNotGuaranteed"
	ForeignContainers  Code = "ForeignContainers"
	VolumesRetained    Code = "VolumesRetained"
	ServerThrottled    Code = "ServerThrottled"
	SummaryTooLarge    Code = "SummaryTooLarge"
	WideSpread         Code = "WideSpread"
	DiskVaried         Code = "DiskVaried"
	CPUVaried          Code = "CPUVaried"
	InputChanged       Code = "InputChanged"
	TooFewRounds       Code = "TooFewRounds"
	EnvironmentsDiffer Code = "EnvironmentsDiffer"
	Unrequested        Code = "UnrequestedDifference"
	BinaryLogDiffers   Code = "BinaryLogDiffers"
)
