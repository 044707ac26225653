package mpi

import (
	"slices"

	"github.com/loggp/loggp/impl/engine"
)

// CheckMode says what happens if a program does what MPI forbids and most implementations let pass.
type CheckMode = engine.CheckMode

// The modes: such things are not looked for, are warnings, are errors.
const (
	CheckOff    = engine.CheckOff
	CheckWarn   = engine.CheckWarn
	CheckStrict = engine.CheckStrict
)

// ParseCheckMode returns the mode with a name: off, warn or strict.
func ParseCheckMode(name string) (CheckMode, error) { return engine.ParseCheckMode(name) }

// Warning is what a program does and MPI forbids, in a program that goes on.
type Warning = engine.Warning

// WarningKind is a kind of warnings. The values say what programs do.
type WarningKind = engine.WarningKind

// The kinds of warnings.
const (
	OverlappingReceives   = engine.OverlappingReceives
	SendOfReceiveMemory   = engine.SendOfReceiveMemory
	ReceiveIntoSendMemory = engine.ReceiveIntoSendMemory
	RequestsLeftOpen      = engine.RequestsLeftOpen
)

// noteWarning notes the warning of a rank: it is delivered now, or left for the process of rank 0.
func (j *job) noteWarning(w Warning) {
	if !j.isRemote {
		j.deliverWarnings([]Warning{w})
		return
	}
	j.warnings = append(j.warnings, w)
}

// deliverWarnings passes on the warnings of kinds that are new.
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
