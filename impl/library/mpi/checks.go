package mpi

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi/check"
)

// This file passes what ranks have recorded to package check, which explains errors of programs.

// CallSite is the source line from which a program makes a call.
type CallSite = engine.CallSite

// CalledFunction is a function that a program not written in Go has called.
type CalledFunction = engine.CalledFunction

// DeadlockError says which ranks wait, and for what.
type DeadlockError = check.DeadlockError

// RankWait says where a rank waits.
type RankWait = check.RankWait

// completeError adds details to the error of a run. A deadlock gets what its ranks wait for. An
// error about differing collective calls gets the line of the other rank's call. An error from
// another process is restored to the *Error that it was there.
func (j *job) completeError(err error) error {
	var e *Error
	var d *device.Deadlock
	var late *device.ClockError
	var remote interface {
		error
		ErrorDetail() []byte
	}
	switch {
	case errors.As(err, &e):
		if e.OtherCall == nil || j.worlds == nil {
			break
		}
		if one, other := j.worlds[e.Rank], j.worlds[e.OtherCall.Rank]; one != nil && other != nil {
			p := one.state.callHistory.Counterpart(e.Context(), other.state.callHistory)
			e.OtherCall.Call, e.OtherCall.Site = p.Call, p.Site
		}
	case errors.As(err, &d):
		return j.deadlockError(d)
	case errors.As(err, &late):
		return j.describeClockError(late)
	case errors.As(err, &remote):
		d := parseErrorDetail(remote.ErrorDetail())
		j.deliverWarnings(d.Warnings)
		switch {
		case d.Error != nil:
			return d.Error
		case d.Abort != nil:
			return d.Abort
		}
	}
	return err
}

// deadlockError returns the error of a deadlock. It returns nil if all programs have ended and only
// receives that they left open remain.
func (j *job) deadlockError(d *device.Deadlock) error {
	ended := true
	for _, r := range d.Ranks {
		detail := parseErrorDetail(d.RankDetails[r])
		j.deliverWarnings(detail.Warnings)
		ended = ended && (detail.ProgramEnded || detail.IsIdleSpare || j.isIdle(r) || j.waitsOnlyForLeftOpen(r))
	}
	switch {
	case !ended:
		return j.describeDeadlock(d)
	case len(d.RankDetails) > 0: // the other ranks of their processes have left no details
		return nil
	}
	return j.compareAudits()
}

// waitsOnlyForLeftOpen reports whether a rank of this process waits only for receives that its
// program has left open.
func (j *job) waitsOnlyForLeftOpen(rank int) bool {
	return j.worlds != nil && j.worlds[rank] != nil && j.worlds[rank].engine.WaitsForAbandonedReceives()
}

// isIdle reports whether a rank of this process is a spare rank without a program.
func (j *job) isIdle(rank int) bool {
	return j.worlds != nil && j.worlds[rank] != nil && j.worlds[rank].state.isIdleSpare
}

// excludeIdleSpares returns a deadlock without the spare ranks that have no program.
func (j *job) excludeIdleSpares(d *device.Deadlock) *device.Deadlock {
	if j.spareRanks == 0 {
		return d
	}
	ranks := slices.DeleteFunc(slices.Clone(d.Ranks), func(r int) bool { return j.isIdle(r) || parseErrorDetail(d.RankDetails[r]).IsIdleSpare })
	return &device.Deadlock{Ranks: ranks, TotalRanks: d.TotalRanks - len(d.Ranks) + len(ranks), RankDetails: d.RankDetails}
}

// describeClockError names the call in which a rank's clock would have passed the latest
// representable time.
func (j *job) describeClockError(late *device.ClockError) *Error {
	e := &Error{Class: engine.ErrOther, Rank: late.Rank, Text: late.Text()}
	if late.Stack == nil {
		w := j.describeWait(late.Rank)
		e.Call, e.CallSite = w.Call, w.CallSite
	} else {
		e.Call, e.CallSite = check.CallOnStack(late.Stack)
	}
	if j.worlds != nil && j.worlds[late.Rank] != nil {
		if x := j.worlds[late.Rank].engine.CallLocator(); x != nil {
			call, at := x.CurrentCall()
			e.Call, e.CallSite = call, x.Site(at)
		}
	}
	if e.Call == "" && e.CallSite != (CallSite{}) {
		e.Call = "between calls of communication"
	} else if e.Call == "" {
		e.Call = "after its program"
	}
	return e
}

// describeDeadlock says what the ranks of a deadlock wait for.
func (j *job) describeDeadlock(d *device.Deadlock) *DeadlockError {
	d = j.excludeIdleSpares(d)
	e := &DeadlockError{Deadlock: d}
	on := make(map[int]int, len(d.Ranks))
	for i, r := range d.Ranks {
		w := parseErrorDetail(d.RankDetails[r]).Wait
		switch {
		case w != nil:
			on[r] = w.WaitsOnRank
		case i < check.MaxShownRanks:
			w = j.describeWait(r)
			on[r] = w.WaitsOnRank
		case j.worlds != nil && j.worlds[r] != nil:
			on[r] = check.BlockingRank(j.worlds[r].engine.WaitState())
		}
		if i < check.MaxShownRanks {
			e.Waits = append(e.Waits, *w)
		}
	}
	e.Cycle = check.FindCycle(d.Ranks, on)
	return e
}

// describeWait says where a rank waits, if this process knows it.
func (j *job) describeWait(rank int) *RankWait {
	if j.worlds == nil || j.worlds[rank] == nil {
		return &RankWait{Rank: rank, WaitsOnRank: -1}
	}
	c := j.worlds[rank]
	w := c.engine.WaitState()
	out := &RankWait{Rank: rank, Call: w.Call, CallSite: j.stopSites.SiteOf(rank), WaitsFor: check.DescribeWait(w, c.state.rankName), WaitsOnRank: check.BlockingRank(w), ArrivedMessage: check.DescribeArrived(w, c.state.rankName), IsPolling: w.IsPolling}
	if text, ok := processWaitTexts[w.Context]; ok {
		out.WaitsFor = text
	}
	if x := c.engine.CallLocator(); x != nil && w.Call != "" {
		call, at := x.CurrentCall()
		out.Call, out.CallSite = call, x.Site(at)
		if t, ok := x.(interface{ OtherThreads() string }); ok {
			out.OtherThreads = t.OtherThreads()
		}
	}
	return out
}

// noteStopSite records where a rank is when it is stopped before its end. It is called by a
// deferred function.
func (j *job) noteStopSite(p device.Port) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stopSites.Record(p.Rank(), 2)
	j.leaveErrorDetail(p, errorDetail{Wait: j.describeWait(p.Rank()), ProgramEnded: j.waitsOnlyForLeftOpen(p.Rank()), IsIdleSpare: j.isIdle(p.Rank())})
}

// describeMismatch is called when an engine receives a message that is too long or of another type.
// It says how the collective call of the sender differs from this rank's, as a possible reason. It
// returns no class if the calls do not differ.
func (j *job) describeMismatch(rank int, context uint32, src, theirs, ours int) (Class, string) {
	if theirs &^= failedSender; theirs == ours {
		return "", ""
	}
	return check.DescribeDifference(j.rankName(rank, context, src), theirs, ours)
}

// rankName returns the name of rank other of the job as rank sees it in a context.
func (j *job) rankName(rank int, context uint32, other int) string {
	return j.worlds[rank].state.rankName(other, context)
}

func (s *rankState) rankName(world int, context uint32) string {
	var c *Comm // the communicator of the context, if the program created it and still uses it
	for _, p := range s.createdComms {
		if x := p.Value(); x != nil && x.context == context&^1 {
			c = x
			break
		}
	}
	switch {
	case c == nil || c.rankOfJobRank == nil:
		return fmt.Sprintf("rank %d", world)
	case c.interFields() != nil:
		return fmt.Sprintf("rank %d of the other group of %d (rank %d of the job)", c.rankOfJobRank[world], len(c.members), world)
	}
	name := fmt.Sprintf("rank %d of a communicator of %d", c.rankOfJobRank[world], len(c.members))
	if int(c.rankOfJobRank[world]) != world {
		name += fmt.Sprintf(" (rank %d of the job)", world)
	}
	return name
}

// SetCallLocator sets what locates the calls of this rank's program, for programs that are not
// written in Go.
func (c *Comm) SetCallLocator(x engine.CallLocator) { c.engine.SetCallLocator(x) }

// SwitchFunction says which function of MPI this rank's program is in, if it is not written in Go,
// and returns the last one.
func (c *Comm) SwitchFunction(f CalledFunction) CalledFunction {
	return c.engine.SwitchFunction(f)
}

// beginCollective begins a collective operation whose messages have a tag. In checked programs it
// records the place of the call. All ranks make these calls in the same order, so the calls of two
// ranks that belong together have the same number.
func (c *Comm) beginCollective(tag int) {
	c.engine.ExpectCollectiveTag(tag)
	if c.state.callHistory == nil {
		return
	}
	caller, stack := c.engine.CallLocator(), (*engine.CallStack)(nil)
	if caller == nil {
		stack = c.engine.CallStack()
	}
	c.state.callHistory.Record(c.context, c.members, c.engine.Call(), tag, caller, stack)
}

// rankAudit returns the audit of this rank.
func (c *Comm) rankAudit() check.RankAudit {
	return check.RankAudit{Rank: c.engine.Port().Rank(), Failed: c.engine.HasFailed(), Traffic: c.engine.Traffic(), Peers: c.engine.MessagesByPeer(), History: c.state.callHistory}
}

// compareAudits compares the audits of the ranks in this process, which have all ended without
// errors. It returns an error if they do not match.
func (j *job) compareAudits() error {
	if j.checkMode == CheckOff { // allocates nothing per rank: a job may have a million ranks
		var b check.TrafficBalance
		for r, c := range j.worlds {
			if c.engine.HasFailed() {
				return nil
			}
			b.AddTraffic(r, c.engine.Traffic())
		}
		return b.CheckLost(nil)
	}
	all := make([]check.RankAudit, len(j.worlds))
	for r, c := range j.worlds {
		all[r] = c.rankAudit()
	}
	return check.CompareAudits(all)
}

// compareRemoteAudits is compareAudits for ranks in other processes, whose audits are in details.
func (j *job) compareRemoteAudits(details [][]byte) error {
	for _, text := range details {
		j.deliverWarnings(parseErrorDetail(text).Warnings)
	}
	all := make([]check.RankAudit, len(details))
	for r, text := range details {
		a := parseErrorDetail(text).Audit
		if a == nil {
			return nil // the rank did not end with Finalize, so it has no audit
		}
		all[r] = *a
	}
	if err := check.CompareAudits(all); err != nil {
		return remoteError{err.(*Error)}
	}
	return nil
}

// remoteError is an error that processes joining the run later get as well.
type remoteError struct{ err *Error }

func (r remoteError) Error() string { return r.err.Error() }
func (r remoteError) Unwrap() error { return r.err }

// ErrorDetail returns the error, encoded like the errors of ranks.
func (r remoteError) ErrorDetail() []byte {
	text, _ := json.Marshal(errorDetail{Error: r.err})
	return text
}

// errorDetail is the error information that a rank sends to the process that called Run.
type errorDetail struct {
	Error        *Error           `json:",omitempty"`
	Abort        *AbortError      `json:",omitempty"`
	Wait         *RankWait        `json:",omitempty"`
	ProgramEnded bool             `json:",omitempty"` // the rank waits only for receives that its program left open
	IsIdleSpare  bool             `json:",omitempty"` // it is a spare rank without a program
	Audit        *check.RankAudit `json:",omitempty"` // set if the rank has ended without an error

	Warnings []Warning `json:",omitempty"`
}

// leaveErrorDetail gives a detail to the world, if the world collects details.
func (j *job) leaveErrorDetail(p device.Port, d errorDetail) {
	w, ok := p.(device.ErrorDetailer)
	if !ok {
		return
	}
	if j.isRemote {
		d.Warnings = j.warnings
	}
	if text, err := json.Marshal(d); err == nil {
		w.SetErrorDetail(text)
	}
}

// leaveError and leaveAudit give the error of a rank, and what it has sent and received. They are
// separate functions because their frames are large, and a waiting rank keeps its frames.
func (j *job) leaveError(p device.Port, err error) {
	var d errorDetail
	errors.As(err, &d.Error)
	errors.As(err, &d.Abort)
	j.leaveErrorDetail(p, d)
}

func (j *job) leaveAudit(p device.Port, c *Comm) {
	if _, ok := p.(device.ErrorDetailer); !ok {
		return
	}
	a := c.rankAudit().WithLines()
	j.leaveErrorDetail(p, errorDetail{Audit: &a})
}

// parseErrorDetail parses the error detail of a rank, if there is one.
func parseErrorDetail(text []byte) (d errorDetail) {
	if json.Unmarshal(text, &d) != nil {
		return errorDetail{}
	}
	return d
}
