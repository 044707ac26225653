package engine

import (
	"fmt"
	"slices"
)

// CheckMode says what happens if a program does what MPI forbids and most implementations let pass:
// calls that are not complete share memory, or requests are left open at the end. In a program that
// is checked at all, calls of another goroutine than the rank's are errors.
type CheckMode uint8

const (
	CheckOff    CheckMode = iota // nothing is checked
	CheckWarn                    // the first of each kind in a job is a warning
	CheckStrict                  // it is an error
)

var checkModes = []string{"off", "warn", "strict"}

func (m CheckMode) String() string { return checkModes[m] }

// ParseCheckMode returns the mode with a name: off, warn or strict.
func ParseCheckMode(name string) (CheckMode, error) {
	i := slices.Index(checkModes, name)
	if i < 0 {
		return 0, fmt.Errorf("there is no check %q: there are warn, strict and off", name)
	}
	return CheckMode(i), nil
}

// WarningKind is a kind of what programs may not do and do. The values say what that is.
type WarningKind string

const (
	OverlappingReceives   WarningKind = "overlapping receives"
	SendOfReceiveMemory   WarningKind = "send from memory of a pending receive"
	ReceiveIntoSendMemory WarningKind = "receive into memory of a pending send"
	RequestsLeftOpen      WarningKind = "open requests"
	WindowsLeftOpen       WarningKind = "open windows"
	FilesLeftOpen         WarningKind = "open files"
)

// Warning is what a program does and MPI forbids, in a program that goes on.
type Warning struct {
	Kind     WarningKind
	Rank     int      // in the job
	Call     string   // in which it was found
	CallSite CallSite // of the program, where the call is
	Text     string
}

// String is the warning as a line of text.
func (w Warning) String() string {
	return fmt.Sprintf("rank %d: %s%s: %s", w.Rank, w.Call, w.CallSite.Parenthesized(), w.Text)
}

// CheckMode returns how the program is checked.
func (r *Rank) CheckMode() CheckMode { return r.cfg.Check }

// ReportViolation makes an error or a warning, as the mode of checking says, of what the current
// call finds.
func (r *Rank) ReportViolation(kind WarningKind, c ErrorClass, format string, args ...any) {
	r.reportViolation(kind, c, func() string { return fmt.Sprintf(format, args...) })
}

// reportViolation makes an error or a warning, as the mode says, of what the current call does. A
// rank reports each kind once; makeText returns the text.
func (r *Rank) reportViolation(kind WarningKind, c ErrorClass, makeText func() string) {
	if r.cfg.Check == CheckStrict {
		r.Fail(c, "%s; --check=warn (CheckWarn in Go) makes this a warning", makeText())
	}
	if r.cfg.Check == CheckOff || r.cfg.OnWarning == nil || slices.Contains(r.reportedKinds, kind) {
		return
	}
	r.reportedKinds = append(r.reportedKinds, kind)
	w := Warning{Kind: kind, Rank: r.port.Rank(), Call: r.call, Text: makeText()}
	if r.callLocator == nil {
		w.CallSite = r.cfg.callSite()
	} else {
		call, at := r.callLocator.Here()
		w.Call, w.CallSite = call, r.callLocator.Site(at)
	}
	r.cfg.OnWarning(w)
}
