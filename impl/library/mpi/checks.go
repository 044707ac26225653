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

// This file passes the records of ranks to package check, which explains what is wrong with a
// program.

// CallSite is the line of a program from which a call is made.
type CallSite = engine.CallSite

// DeadlockError says which rank waits for what.
type DeadlockError = check.DeadlockError

// RankWait is where a rank waits.
type RankWait = check.RankWait

// completeError completes the error of a run: a deadlock with what its ranks wait for, an error
// about ranks whose collective calls differ with where the other's was. An error of a rank in
// another process becomes what it was there.
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

// deadlockError returns the error of a deadlock: none if all its ranks have ended but for receives
// that were left open.
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
	case len(d.RankDetails) > 0: // of processes, whose other ranks have told nothing
		return nil
	}
	return j.compareAudits()
}

// waitsOnlyForLeftOpen reports whether a rank of this process waits for nothing but receives that
// the program has left open.
func (j *job) waitsOnlyForLeftOpen(rank int) bool {
	return j.worlds != nil && j.worlds[rank] != nil && j.worlds[rank].engine.WaitsForAbandonedReceives()
}

// isIdle reports whether a rank of this process is a spare one that has no program.
func (j *job) isIdle(rank int) bool {
	return j.worlds != nil && j.worlds[rank] != nil && j.worlds[rank].state.isIdleSpare
}

// excludeIdleSpares returns a deadlock without spare ranks that have no program.
func (j *job) excludeIdleSpares(d *device.Deadlock) *device.Deadlock {
	if j.spareRanks == 0 {
		return d
	}
	ranks := slices.DeleteFunc(slices.Clone(d.Ranks), func(r int) bool { return j.isIdle(r) || parseErrorDetail(d.RankDetails[r]).IsIdleSpare })
	return &device.Deadlock{Ranks: ranks, TotalRanks: d.TotalRanks - len(d.Ranks) + len(ranks), RankDetails: d.RankDetails}
}

// describeClockError says in which call a rank's clock would have passed the latest time.
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
			call, at := x.Here()
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

// describeWait says where a rank waits, as far as this process knows.
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
		call, at := x.Here()
		out.Call, out.CallSite = call, x.Site(at)
		if t, ok := x.(interface{ OtherThreads() string }); ok {
			out.OtherThreads = t.OtherThreads()
		}
	}
	return out
}

// noteStopSite notes where a rank is that does not come to its end. It is called by a deferred
// function.
func (j *job) noteStopSite(p device.Port) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stopSites.Record(p.Rank(), 2)
	j.leaveErrorDetail(p, errorDetail{Wait: j.describeWait(p.Rank()), ProgramEnded: j.waitsOnlyForLeftOpen(p.Rank()), IsIdleSpare: j.isIdle(p.Rank())})
}

// describeMismatch says how the collective call of another rank differs, for an engine that has
// found a message which is too long or of another type: that may be the reason. It returns no class
// if they do not differ.
func (j *job) describeMismatch(rank int, context uint32, src, theirs, ours int) (Class, string) {
	if theirs == ours {
		return "", ""
	}
	return check.DescribeDifference(j.rankName(rank, context, src), theirs, ours)
}

// rankName returns the name of another rank of the job for a rank that communicates with it in a
// context.
func (j *job) rankName(rank int, context uint32, other int) string {
	return j.worlds[rank].state.rankName(other, context)
}

func (s *rankState) rankName(world int, context uint32) string {
	var c *Comm // that has the context, if it was created and is still used
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

// SetCallLocator says who locates the calls of this rank's program, if it is not written in Go.
func (c *Comm) SetCallLocator(x engine.CallLocator) { c.engine.SetCallLocator(x) }

// beginCollective begins a collective operation whose messages have a tag. In programs that are
// checked it notes where: ranks make these calls in the same order, so a rank finds another's by
// its number.
func (c *Comm) beginCollective(tag int) {
	c.engine.ExpectCollectiveTag(tag)
	if c.state.callHistory != nil {
		c.state.callHistory.Record(c.context, c.members, c.engine.Call(), tag, c.engine.CallLocator())
	}
}

// rankAudit returns what this rank did.
func (c *Comm) rankAudit() check.RankAudit {
	return check.RankAudit{Rank: c.engine.Port().Rank(), Failed: c.engine.HasFailed(), Traffic: c.engine.Traffic(), Peers: c.engine.MessagesByPeer(), Calls: c.state.callHistory.LastCalls()}
}

// compareAudits returns an error if the audits of the ranks in this process, which have all ended
// without errors, do not match.
func (j *job) compareAudits() error {
	if j.checkMode == CheckOff { // a job may have a million ranks, so nothing is made for each of them
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

// compareRemoteAudits does the same for ranks in other processes.
func (j *job) compareRemoteAudits(details [][]byte) error {
	for _, text := range details {
		j.deliverWarnings(parseErrorDetail(text).Warnings)
	}
	all := make([]check.RankAudit, len(details))
	for r, text := range details {
		a := parseErrorDetail(text).Audit
		if a == nil {
			return nil // it ended without the library's end, which is not for this check to judge
		}
		all[r] = *a
	}
	if err := check.CompareAudits(all); err != nil {
		return remoteError{err.(*Error)}
	}
	return nil
}

// remoteError is an error that also processes get which come to the run later.
type remoteError struct{ err *Error }

func (r remoteError) Error() string { return r.err.Error() }
func (r remoteError) Unwrap() error { return r.err }

// ErrorDetail returns the error as ranks leave errors.
func (r remoteError) ErrorDetail() []byte {
	text, _ := json.Marshal(errorDetail{Error: r.err})
	return text
}

// errorDetail is the error information that a rank sends to Run's caller in another process.
type errorDetail struct {
	Error        *Error           `json:",omitempty"`
	Abort        *AbortError      `json:",omitempty"`
	Wait         *RankWait        `json:",omitempty"`
	ProgramEnded bool             `json:",omitempty"` // the rank waits for nothing but receives that were left open
	IsIdleSpare  bool             `json:",omitempty"` // it is a spare rank that has no program
	Audit        *check.RankAudit `json:",omitempty"` // of a rank that has ended well

	Warnings []Warning `json:",omitempty"`
}

// leaveErrorDetail leaves a detail with the world, if it wants one.
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

// parseErrorDetail parses the error detail of a rank, if there is one.
func parseErrorDetail(text []byte) (d errorDetail) {
	if json.Unmarshal(text, &d) != nil {
		return errorDetail{}
	}
	return d
}
