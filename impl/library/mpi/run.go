package mpi

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/impl/library/mpi/check"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
)

// Error is the failure of a communication call. Run returns it when a call of a rank fails.
type Error = engine.Error

// World is the set of ranks, on a network, that programs run on.
type World = device.World

// Options say how messages are to travel.
type Options struct {
	Engine   engine.NewJobEnginesFunc // carries the messages
	Library  *model.Library           // rules and limits
	Protocol string                   // protocol of every point-to-point message, instead of the rules'; synchronous modes keep theirs where it is none

	Tuning []collective.Rule // which algorithms collective operations take; nil: those of the library's rules, and collective.Usual where there is none

	Nodes *collective.Nodes // which ranks share a node, if the library knows it from its launcher; nil: ranks tell each other

	// Check looks at the memory of operations under way (what a receive writes, nothing else should
	// use), at requests that are left open, at who makes calls (the rank's goroutine alone), and at
	// where collective calls are made, for others to be told. It takes real time, and no virtual.
	Check     CheckMode
	OnWarning func(Warning) // is told of each kind of warning once, in the process of rank 0; nil: no function

	// NewCollectives makes for each rank what carries out collective operations in ways of the
	// library's own. The rank's messages go through the port that it returns. nil: the library has
	// none.
	NewCollectives func(p device.Port) (device.Port, Collectives, error)

	// SpareRanks is how many ranks of the world, its last ones, have no program until Comm.Spawn
	// starts one on them. SpawnedProgram is their program: world is the communicator of those that
	// were started together, parent the one to the group that has started them, and start what
	// Spawn's root gave. nil: programs are not started, and do not connect to each other.
	SpareRanks     int
	SpawnedProgram func(world, parent *Comm, start []byte) error

	OnBroadcast func(bytes int)             // is told of every broadcast, by its root; nil: no function
	OnCall      func(rank int, call string) // is told of every call that a rank makes, and of "" when its program has ended; nil: no function
}

// Run runs a program on every rank of a world. When a rank's program ends, what it has under way
// ends before the rank does. Messages that it has not received are errors, and so are, if
// Options.Check is CheckStrict, requests that it has left open.
func Run(w World, o Options, program func(*Comm) error) error {
	if o.Engine == nil {
		panic("mpi: Options.Engine is nil")
	}
	maker, err := o.Engine(o.Library, o.Protocol)
	if err != nil {
		return err
	}
	j := &job{processMemory: processMemory{segments: map[commKey]*lockedMemory{}, conflicts: map[commKey]*windowConflicts{}}, program: program, checkMode: o.Check, onWarning: o.OnWarning, engines: maker, newCollectives: o.NewCollectives, onBroadcast: o.OnBroadcast, spareRanks: o.SpareRanks, spawnedProgram: o.SpawnedProgram}
	if o.Library != nil {
		j.exchangeOrder = o.Library.Exchange
	}
	j.engineConfig = engine.Config{OnCall: o.OnCall, TypeNames: func(s engine.Signature) string { return datatype.DescribeKindSign(uint32(s)) }, ExplainMismatch: j.describeMismatch, PeerName: j.rankName, Check: o.Check, StackSite: check.SiteOf}
	if o.OnWarning != nil {
		j.engineConfig.OnWarning = j.noteWarning
	}
	rules := o.Tuning
	if rules == nil {
		rules = collective.RulesOfLibrary(o.Library)
	}
	j.tuning, j.nodes = collective.NewTuning(rules), o.Nodes
	if x, ok := w.(device.CheckedWorld); ok {
		err = x.RunChecked(j.runRank, j.compareRemoteAudits)
	} else if err = w.Run(j.runRank); err == nil {
		err = j.compareAudits()
	}
	return j.completeError(err)
}

// job is what the ranks of a job in this process share.
type job struct {
	engineConfig   engine.Config
	engines        engine.JobEngines
	program        func(*Comm) error
	tuning         *collective.Tuning
	nodes          *collective.Nodes
	checkMode      CheckMode
	onWarning      func(Warning)
	newCollectives func(p device.Port) (device.Port, Collectives, error) // nil: none
	onBroadcast    func(bytes int)
	exchangeOrder  model.ExchangeOrder

	spareRanks     int
	spawnedProgram func(world, parent *Comm, start []byte) error
	directory      *memoryProcessDirectory // of ranks in one process

	mu            sync.Mutex
	startedRanks  int                       // ranks that have
	rankMemories  []rankMemory              // for those that have not
	engineAt      func(i int) engine.Engine // of those
	worlds        []*Comm                   // by rank
	processMemory processMemory             // of windows
	stopSites     check.StopSites           // where ranks were stopped
	isRemote      bool                      // the rank of this process is not that of Run's caller
	warnings      []Warning                 // of each kind the first
}

// runRank runs a rank to its end. Its frames stay small: a job may have a million ranks.
func (j *job) runRank(p device.Port) (err error) {
	ended := false
	var c *Comm
	defer func() {
		v := recover()
		if e := c.panicError(v); e != nil {
			var d errorDetail
			errors.As(e, &d.Error)
			errors.As(e, &d.Abort)
			j.leaveErrorDetail(p, d)
			err = e
			return
		}
		if !ended {
			j.noteStopSite(p)
		}
		if v != nil {
			panic(v)
		}
	}()
	through, own := p, Collectives(nil)
	if j.newCollectives != nil {
		if through, own, err = j.newCollectives(p); err != nil {
			return err
		}
	}
	_, far := p.(device.ErrorDetailer)
	if far && p.Rank() > 0 {
		j.isRemote = true
	}
	c = j.newWorldComm(through)
	c.state.collectives, c.state.exchangeOrder, c.state.onBroadcast = own, j.exchangeOrder, j.onBroadcast
	if err = j.openDirectory(c, far); err != nil {
		return err
	}
	isSpare := p.Rank() >= p.Size()-j.spareRanks
	if isSpare {
		err = j.runSpareRank(c)
	} else {
		err = addRankToError(p.Rank(), j.program(c))
	}
	c.state.programEnded = true
	if err == nil {
		c.finalize(j.spareRanks > 0 && !isSpare)
		if far {
			a := c.rankAudit().WithLines()
			j.leaveErrorDetail(p, errorDetail{Audit: &a})
		}
	}
	c.engine.MarkEnded()
	ended = true
	return err
}

// addRankToError adds the rank to an error that its program has returned, unless the error names
// it.
func addRankToError(rank int, err error) error {
	if err == nil || errors.As(err, new(*Error)) || errors.As(err, new(*AbortError)) {
		return err
	}
	if name := fmt.Sprintf("rank %d: ", rank); !strings.HasPrefix(err.Error(), name) {
		return fmt.Errorf("%s%w", name, err)
	}
	return err
}

// panicError returns the error with which a rank's program has panicked, or nil if it is not one of
// the library.
func (c *Comm) panicError(v any) error {
	switch e := v.(type) {
	case *Error:
		c.callHandler(e)
		return e
	case *AbortError:
		return e
	case runtime.Error:
		if call, at := check.CallOnNilCommunicator(e); call != "" {
			return &Error{Class: engine.ErrComm, Rank: c.engine.Port().Rank(), Call: call, CallSite: at, Text: "the communicator is nil: this rank is not in it"}
		}
	}
	return nil
}

// rankMemory is the memory of a rank's objects, allocated together.
type rankMemory struct {
	comm        Comm
	state       rankState
	lastContext uint32
	rank        engine.Rank
}

// newRankMemory returns memory for a rank. There is one piece for all but the first that begins:
// where ranks are processes there are no others here, and where they are not it is made before they
// begin, so that their stacks need not be searched for pointers when it makes too much memory of
// what there is.
func (j *job) newRankMemory(ranks int) (*rankMemory, engine.Engine) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.startedRanks++; j.startedRanks == 1 {
		return new(rankMemory), j.engines.Engines(1)(0)
	}
	if len(j.rankMemories) == 0 {
		j.rankMemories, j.engineAt = make([]rankMemory, ranks-1), j.engines.Engines(ranks-1)
	}
	m, e := &j.rankMemories[0], j.engineAt(ranks-1-len(j.rankMemories))
	j.rankMemories = j.rankMemories[1:]
	return m, e
}

func (j *job) newWorldComm(p device.Port) *Comm {
	r, e := j.newRankMemory(p.Size())
	r.state.tuning, r.state.nodes, r.state.processMemory = j.tuning, j.nodes, &j.processMemory
	if j.checkMode != CheckOff {
		r.state.callHistory = check.CallHistory{}
	}
	r.rank.Setup(p, e, &j.engineConfig)
	c := &r.comm
	*c = Comm{engine: &r.rank, rank: p.Rank(), size: p.Size(), lastContext: &r.lastContext, state: &r.state}
	if j.spareRanks > 0 { // the members are not all ranks of the job
		c.size -= j.spareRanks
		c.members = c.jobRanks()
		c.rankOfJobRank = slices.Repeat([]int32{-1}, p.Size())
		for i := range c.members {
			c.rankOfJobRank[i] = int32(i)
		}
	}
	j.mu.Lock()
	if j.worlds == nil {
		j.worlds = make([]*Comm, p.Size())
	}
	j.worlds[p.Rank()] = c
	j.mu.Unlock()
	return c
}

// FinalizeCall is the call of Options.OnCall when the program of a rank has returned: what is under
// way ends in it.
const FinalizeCall = "Finalize"

// finalize ends a rank's communication. If there are spare ranks, it leaves the job: a spare rank
// has done so when its program had ended.
func (c *Comm) finalize(leaves bool) {
	c.engine.Enter(FinalizeCall)
	if o := c.state.collectives; o != nil {
		o.End()
	}
	c.releaseProgramResources()
	if leaves {
		c.leaveJob(false)
	}
	c.finishOperations()
	c.engine.Enter("")
}

// releaseProgramResources frees what the program has left open.
func (c *Comm) releaseProgramResources() {
	c.closeWindows()
	c.closeFiles()
	c.freeOpenRequests()
}

// finishOperations waits for messages under way. One that was not received is an error.
func (c *Comm) finishOperations() {
	if n, m := c.engine.Finalize(); n > 0 {
		c.engine.Fail(engine.ErrOther, "%d %s not received; the first is from %s with tag %d, of %d bytes",
			n, check.Plural(n, "message was", "messages were"), c.state.rankName(m.Source, m.Context), m.Tag, m.Bytes)
	}
}

// freeOpenRequests reports requests that the program has left open, and frees them.
func (c *Comm) freeOpenRequests() {
	c.engine.ReportAndFreeOpenRequests(func(w engine.WaitDescription) string { return check.DescribeWait(w, c.state.rankName) })
}
