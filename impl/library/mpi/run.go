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

// Error is the failure of a communication call. Run returns it.
type Error = engine.Error

// World is a set of ranks on a network. Run starts a program on each.
type World = device.World

// Options configure a job.
type Options struct {
	Engine   engine.NewJobEnginesFunc // carries the messages
	Library  *model.Library           // its protocol rules and limits
	Protocol string                   // forces the protocol of all point-to-point messages; synchronous sends keep the rules' protocol if it is not a synchronous one; "": the rules'

	Tuning []collective.Rule // selects the algorithms of collective operations; nil: the library's rules, or collective.Usual if it has none

	Nodes *collective.Nodes // which ranks share a node, if the launcher says so; nil: ranks find out by messages

	// Check sets how to report errors that most implementations let pass: memory of active
	// operations that the program uses, requests left open, calls outside of the rank's goroutine,
	// and collective calls that differ. Checks take real time but no virtual time.
	Check     CheckMode
	OnWarning func(Warning) // called once for each kind of warning, in the process of rank 0; nil: no function

	// NewCollectives returns the methods of a library that carries out collective operations
	// itself. It is called for each rank. The rank's messages go through the port that it returns.
	// nil: the library has none.
	NewCollectives func(p device.Port) (device.Port, Collectives, error)

	// SpareRanks is the number of ranks, at the end of the world, that have no program until
	// Comm.Spawn starts one on them. SpawnedProgram is that program: world contains the ranks
	// started together, parent is the intercommunicator to the group that started them, and start
	// comes from the root of Spawn. nil: programs use neither
	// Spawn nor Connect.
	SpareRanks     int
	SpawnedProgram func(world, parent *Comm, start []byte) error

	OnBroadcast func(bytes int)             // called at the root of each broadcast; nil: no function
	OnCall      func(rank int, call string) // called at the start of each call of a rank, and with "" after its program has ended; nil: no function

	// OnFunction is called likewise with the names of the standard (FunctionName). A function of a
	// program in C or Fortran is one, whatever calls carry it out. nil: no function.
	OnFunction func(rank int, name string)
}

// Run runs a program on every rank of a world and returns its first error. When a rank's program
// returns, Run completes its outstanding operations before it ends the rank. A message that was not
// received is an error. With CheckStrict, so is a request that was left open.
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
	if told := o.OnFunction; told != nil {
		j.engineConfig.OnFunction = func(rank int, call string) { told(rank, FunctionName(call)) }
	}
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

// job is the state that the ranks of a job in this process share.
type job struct {
	engineConfig   engine.Config
	engines        engine.JobEngines
	program        func(*Comm) error
	tuning         *collective.Tuning
	nodes          *collective.Nodes
	checkMode      CheckMode
	onWarning      func(Warning)
	newCollectives func(p device.Port) (device.Port, Collectives, error) // nil: the library has none
	onBroadcast    func(bytes int)
	exchangeOrder  model.ExchangeOrder

	spareRanks     int
	spawnedProgram func(world, parent *Comm, start []byte) error
	directory      *memoryProcessDirectory // for ranks in one process

	mu            sync.Mutex
	startedRanks  int                       // number of ranks that have started
	rankMemories  []rankMemory              // for the ranks that have not started
	engineAt      func(i int) engine.Engine // engines for them
	worlds        []*Comm                   // by rank of the job
	processMemory processMemory             // of windows
	stopSites     check.StopSites           // where ranks were stopped
	isRemote      bool                      // Run's caller is in another process
	warnings      []Warning                 // the first of each kind
}

// runRank runs a rank from start to end. It keeps stack frames small: a job may have a million
// ranks.
func (j *job) runRank(p device.Port) (err error) {
	ended := false
	var c *Comm
	defer func() {
		v := recover()
		if e := c.panicError(v); e != nil {
			j.leaveError(p, e)
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
	if err = j.setUpRank(p, &c); err != nil {
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
		j.leaveAudit(p, c)
	}
	c.engine.MarkEnded()
	ended = true
	return err
}

// setUpRank sets c to the world communicator of a rank, also if it returns or panics with an error
// thereafter.
func (j *job) setUpRank(p device.Port, c **Comm) (err error) {
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
	*c = j.newWorldComm(through)
	s := (*c).state
	s.collectives, s.exchangeOrder, s.onBroadcast = own, j.exchangeOrder, j.onBroadcast
	return j.openDirectory(*c, far)
}

// addRankToError adds the rank to an error of its program, unless the error already names a rank.
func addRankToError(rank int, err error) error {
	if err == nil || errors.As(err, new(*Error)) || errors.As(err, new(*AbortError)) {
		return err
	}
	if name := fmt.Sprintf("rank %d: ", rank); !strings.HasPrefix(err.Error(), name) {
		return fmt.Errorf("%s%w", name, err)
	}
	return err
}

// panicError returns the error with which a rank's program has panicked, or nil for a panic that is
// not from the library.
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

// rankMemory has a rank's objects, which are allocated together.
type rankMemory struct {
	comm        Comm
	state       rankState
	lastContext uint32
	rank        engine.Rank
}

// newRankMemory returns memory for a rank. The first rank gets its own, and the second allocates
// the memory of all others in one piece. A process with a single rank therefore allocates no more
// than it needs. A process with many ranks allocates before they run, so the garbage collector need
// not scan their stacks.
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
	if j.spareRanks > 0 { // the world communicator excludes spare ranks
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

// FinalizeCall is the name that Options.OnCall gets when the program of a rank has returned and its
// outstanding operations are about to be completed.
const FinalizeCall = "Finalize"

// finalize ends a rank's communication. If leaves is set, the rank also leaves the job's process
// table. Spare ranks leave it when their program ends.
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

// releaseProgramResources frees the windows, files and requests that the program has left open.
func (c *Comm) releaseProgramResources() {
	c.closeWindows()
	c.closeFiles()
	c.freeOpenRequests()
}

// finishOperations waits for messages under way. It fails if a message was not received.
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
