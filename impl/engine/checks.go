package engine

import (
	"fmt"
	"slices"
)

// CheckMode says how to treat programs that violate the standard in ways that many implementations
// let pass: active operations share memory, say, or requests are left open at the end. In any
// checked program, calls from another goroutine than the rank's are errors.
type CheckMode uint8

const (
	CheckOff    CheckMode = iota // no checks
	CheckWarn                    // the first violation of each kind in a job is a warning
	CheckStrict                  // violations are errors
)

var checkModes = []string{"off", "warn", "strict"}

func (m CheckMode) String() string { return checkModes[m] }

// ParseCheckMode returns the mode named off, warn or strict.
func ParseCheckMode(name string) (CheckMode, error) {
	i := slices.Index(checkModes, name)
	if i < 0 {
		return 0, fmt.Errorf("there is no check %q: there are warn, strict and off", name)
	}
	return CheckMode(i), nil
}

// WarningKind is a kind of violation. Its text says what the program did.
type WarningKind string

const (
	OverlappingReceives   WarningKind = "overlapping receives"
	SendOfReceiveMemory   WarningKind = "send from memory of a pending receive"
	ReceiveIntoSendMemory WarningKind = "receive into memory of a pending send"
	LogicalOfFloats       WarningKind = "logical operation of floating-point numbers"
	RequestsLeftOpen      WarningKind = "open requests"
	WindowsLeftOpen       WarningKind = "open windows"
	FilesLeftOpen         WarningKind = "open files"
	ThreadInterrupted     WarningKind = "interrupted thread" // permitted
	ConflictsUnchecked    WarningKind = "unchecked accesses" // permitted
)

// Warning describes a violation of the standard by a program that continues.
type Warning struct {
	Kind     WarningKind
	Rank     int      // in the job
	Call     string   // in which it was detected
	CallSite CallSite // source line of the call
	Text     string
}

// IsViolation reports whether the standard forbids what the program did. If so, CheckStrict makes
// it an error.
func (w Warning) IsViolation() bool {
	return w.Kind != ThreadInterrupted && w.Kind != ConflictsUnchecked
}

// String is the warning as a line of text.
func (w Warning) String() string {
	return fmt.Sprintf("rank %d: %s%s: %s", w.Rank, w.Call, w.CallSite.Parenthesized(), w.Text)
}

// CheckMode returns how the program is checked.
func (r *Rank) CheckMode() CheckMode { return r.cfg.Check }

// ReportViolation reports a violation by the current call as an error or a warning, depending on
// the check mode.
func (r *Rank) ReportViolation(kind WarningKind, c ErrorClass, format string, args ...any) {
	r.reportViolation(kind, c, func() string { return fmt.Sprintf(format, args...) })
}

// reportViolation is ReportViolation with a function that makes the text. A rank reports each kind
// once.
func (r *Rank) reportViolation(kind WarningKind, c ErrorClass, makeText func() string) {
	if r.cfg.Check == CheckStrict {
		r.Fail(c, "%s; --check=warn (CheckWarn in Go) makes this a warning", makeText())
	}
	if r.recordWarning(kind) {
		r.warnOfCall(kind, makeText())
	}
}

// WarnOfCall delivers a warning that says what the check mode does not find in what the current
// call begins.
func (r *Rank) WarnOfCall(kind WarningKind, text string) {
	if r.recordWarning(kind) {
		r.warnOfCall(kind, text)
	}
}

// warnOfCall delivers a warning about the current call.
func (r *Rank) warnOfCall(kind WarningKind, text string) {
	w := Warning{Kind: kind, Rank: r.port.Rank(), Call: r.call, Text: text}
	if r.callLocator == nil {
		w.CallSite = r.callSite()
	} else {
		call, at := r.callLocator.CurrentCall()
		w.Call, w.CallSite = call, r.callLocator.Site(at)
	}
	r.cfg.OnWarning(w)
}

// recordWarning records that a rank delivers a warning of a kind, and reports whether it is to: a
// rank delivers one of each kind.
func (r *Rank) recordWarning(kind WarningKind) bool {
	if r.cfg.Check == CheckOff || r.cfg.OnWarning == nil || slices.Contains(r.reportedKinds, kind) {
		return false
	}
	r.reportedKinds = append(r.reportedKinds, kind)
	return true
}

// Warn delivers a warning about what a program may do, but its user should know of.
func (r *Rank) Warn(kind WarningKind, call string, at CallSite, text string) {
	if r.recordWarning(kind) {
		r.cfg.OnWarning(Warning{Kind: kind, Rank: r.port.Rank(), Call: call, CallSite: at, Text: text})
	}
}
