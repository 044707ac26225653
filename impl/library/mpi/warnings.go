package mpi

import (
	"slices"

	"github.com/loggp/loggp/impl/engine"
)

// CheckMode says how to treat a violation of the MPI standard that most implementations let pass.
type CheckMode = engine.CheckMode

// The modes: do not check, warn, fail.
const (
	CheckOff    = engine.CheckOff
	CheckWarn   = engine.CheckWarn
	CheckStrict = engine.CheckStrict
)

// ParseCheckMode returns the mode named off, warn or strict.
func ParseCheckMode(name string) (CheckMode, error) { return engine.ParseCheckMode(name) }

// Warning describes a violation of the MPI standard by a program that continues.
type Warning = engine.Warning

// WarningKind is a kind of violation. Its text says what the program did.
type WarningKind = engine.WarningKind

// The kinds of violations.
const (
	OverlappingReceives   = engine.OverlappingReceives
	SendOfReceiveMemory   = engine.SendOfReceiveMemory
	ReceiveIntoSendMemory = engine.ReceiveIntoSendMemory
	LogicalOfFloats       = engine.LogicalOfFloats
	RequestsLeftOpen      = engine.RequestsLeftOpen
	ThreadInterrupted     = engine.ThreadInterrupted
)

// noteWarning delivers the warning of a rank, or leaves it for the process of rank 0.
func (j *job) noteWarning(w Warning) {
	if !j.isRemote {
		j.deliverWarnings([]Warning{w})
		return
	}
	j.warnings = append(j.warnings, w)
}

// deliverWarnings passes on the warnings whose kind has not been reported.
func (j *job) deliverWarnings(all []Warning) {
	if j.onWarning == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, w := range all {
		if !slices.ContainsFunc(j.warnings, func(x Warning) bool { return x.Kind == w.Kind }) {
			j.warnings = append(j.warnings, w)
			j.onWarning(w)
		}
	}
}
