package mpi

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi/check"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Programs started on spare ranks, and connections between groups without a common communicator
// (MPI-4.1, chapter 11). All ranks belong to one job. A connection is therefore an
// intercommunicator, and only the roots exchange members and contexts.

// startMessage tells a spare rank which program to run.
type startMessage struct {
	Stop bool `json:",omitempty"` // the job ends

	World        []int // ranks of the job that are started together
	WorldContext uint32
	Connection   connection // to the group that starts them
	Program      []byte     // passed to Options.SpawnedProgram
}

// connection describes the remote group of a connection, or why the connection failed.
type connection struct {
	Class        Class  `json:",omitempty"` // of the error
	Error        string `json:",omitempty"`
	RemoteRanks  []int  // ranks of the job
	Context      uint32 // of the intercommunicator
	LocalContext uint32 // of the communicator of the local group
}

// connectionError returns a failed connection.
func connectionError(class Class, format string, args ...any) connection {
	return connection{Class: class, Error: fmt.Sprintf(format, args...)}
}

// connect creates the communicator of a connection that ofRoot returns at the root.
func (c *Comm) connect(root int, ofRoot func() connection) (*Comm, connection) {
	c.checkIntra()
	c.checkRank(root)
	var text []byte
	if c.rank == root {
		text, _ = json.Marshal(ofRoot())
	}
	var x connection
	if err := json.Unmarshal(c.broadcastBytes(text, root), &x); err != nil {
		c.engine.Fail(ErrIntern, "what the root says of the connection: %v", err)
	}
	if x.Error != "" {
		return nil, x
	}
	return x.newComm(c), x
}

// newComm returns the intercommunicator of a connection of the group of c.
func (x connection) newComm(c *Comm) *Comm {
	return newInterComm(c, c.newComm(c.jobRanks(), x.LocalContext), x.RemoteRanks, x.Context)
}

// reserveContext returns a context that no communicator uses.
func (c *Comm) reserveContext() uint32 { return reservedContextBit | c.reserveNumber()<<1 }

// Spawn starts programs on spare ranks and returns the intercommunicator to them (MPI_Comm_spawn),
// or an error. It calls request at the root only. request returns the number of ranks to start and
// the argument start of Options.SpawnedProgram, or why no program can be started. wanted is the
// requested number, on all ranks.
func (c *Comm) Spawn(root int, request func() (ranks int, program []byte, problem *Error)) (inter *Comm, wanted int, err *Error) {
	c.enterCall("Spawn")
	inter, x := c.connect(root, func() connection {
		ranks, program, problem := request()
		wanted = ranks
		if problem != nil {
			return connection{Class: problem.Class, Error: problem.Text, RemoteRanks: make([]int, ranks)}
		}
		context := c.reserveContext()
		started, idle := c.takeSpareRanks(ranks, context)
		if started == nil {
			x := connectionError(ErrSpawn, "%d %s to be started, and %d spare %s free: reserve more with --spare", ranks, check.Plural(ranks, "process is", "processes are"), idle, check.Plural(idle, "rank is", "ranks are"))
			x.RemoteRanks = make([]int, ranks)
			return x
		}
		m := startMessage{World: started, WorldContext: c.reserveContext(), Connection: connection{RemoteRanks: c.jobRanks(), Context: context, LocalContext: c.reserveContext()}, Program: program}
		for _, r := range started {
			c.sendControlMessage(m, r, startContext, 0)
		}
		return connection{RemoteRanks: started, Context: context, LocalContext: c.reserveContext()}
	})
	if wanted = len(x.RemoteRanks); inter == nil {
		return nil, wanted, &Error{Class: x.Class, Text: x.Error}
	}
	return inter, wanted, nil
}

// runSpareRank runs the programs that other ranks start on a spare rank, one after another.
func (j *job) runSpareRank(c *Comm) error {
	for {
		var m startMessage
		c.state.isIdleSpare = true
		c.engine.Enter("")
		c.receiveControlMessage(&m, AnySource, startContext, 0)
		if m.Stop {
			return nil
		}
		c.state.reset()
		c.engine.SetThreads(nil)
		world := c.newComm(m.World, m.WorldContext)
		if err := addRankToError(c.engine.Port().Rank(), j.spawnedProgram(world, m.Connection.newComm(world), m.Program)); err != nil {
			return err
		}
		c.releaseProgramResources()
		c.finishOperations()
		if c.leaveJob(true) {
			return nil
		}
	}
}

// reset prepares the state for the next program of a spare rank.
func (s *rankState) reset() {
	*s = rankState{tuning: s.tuning, exchangeOrder: s.exchangeOrder, onBroadcast: s.onBroadcast, callHistory: s.callHistory, reservedNumbers: s.reservedNumbers, processMemory: s.processMemory, directory: s.directory}
}

// JobRank returns the rank in the job, as errors name it.
func (c *Comm) JobRank() int { return c.engine.Port().Rank() }

// UniverseSize returns the number of ranks of the job, including spare ranks (MPI_UNIVERSE_SIZE).
func (c *Comm) UniverseSize() int { return c.engine.Port().Size() }

// Accept waits until a group connects to a port that the root has opened, and returns the
// intercommunicator to it (MPI_Comm_accept). name is significant at the root.
func (c *Comm) Accept(name string, root int) *Comm {
	c.enterCall("Accept")
	inter, x := c.connect(root, func() connection {
		p, isOpen := c.findPort(name)
		if text := c.portProblem(name, p, isOpen, true); text != "" {
			return connectionError(ErrPort, "%s", text)
		}
		a := c.nextAttempt(name, p.Tag)
		theirs := a.Group
		mine := connection{RemoteRanks: c.jobRanks(), Context: theirs.Context, LocalContext: c.reserveContext()}
		if r := commonRank(mine.RemoteRanks, theirs.RemoteRanks); r >= 0 {
			mine = connectionError(ErrComm, "rank %d of the job is in both groups", r)
			theirs = mine
		}
		c.sendControlMessage(mine, a.Rank, acceptContext, p.Tag)
		theirs.LocalContext = mine.LocalContext
		return theirs
	})
	c.failConnection(x)
	return inter
}

// DefaultConnectTimeout is how long Connect waits unless the program says otherwise, as in MPICH.
const DefaultConnectTimeout = 180 * unit.Second

// Connect connects to the group that accepts at a port (MPI_Comm_connect). It fails with ErrPort
// after a timeout. name and timeout are significant at the root.
func (c *Comm) Connect(name string, root int, timeout unit.Time) *Comm {
	c.enterCall("Connect")
	inter, x := c.connect(root, func() connection {
		a := attempt{c.JobRank(), connection{RemoteRanks: c.jobRanks(), Context: c.reserveContext()}}
		p, isOpen := c.startAttempt(name, a)
		if text := c.portProblem(name, p, isOpen, false); text != "" {
			return connectionError(ErrPort, "%s", text)
		}
		deadline := min(c.engine.Port().Now(), device.Forever-timeout) + timeout
		if _, answered := c.engine.ProbeUntil(p.Rank, acceptContext, p.Tag, deadline); !answered && c.withdrawAttempt(name, a) {
			return connectionError(ErrPort, "rank %d of the job, which has opened port %q, has not accepted the connection within %v; the info key timeout sets a number of seconds", p.Rank, name, timeout)
		}
		var theirs connection
		c.receiveControlMessage(&theirs, p.Rank, acceptContext, p.Tag)
		theirs.LocalContext = c.reserveContext()
		return theirs
	})
	c.failConnection(x)
	return inter
}

func (c *Comm) failConnection(x connection) {
	if x.Error != "" {
		c.engine.Fail(x.Class, "%s", x.Error)
	}
}

// commonRank returns a rank of the job that is in both lists, or −1.
func commonRank(a, b []int) int {
	if i := slices.IndexFunc(a, func(r int) bool { return slices.Contains(b, r) }); i >= 0 {
		return a[i]
	}
	return -1
}

// JoinAddress is the data that two ranks exchange over their own connection before Join.
type JoinAddress struct {
	Rank    int    // of the job
	Context uint32 // for the new communicator, if this rank is the lower of the two
}

// JoinAddress returns the address of this rank. c must contain only the caller.
func (c *Comm) JoinAddress() JoinAddress {
	c.enterCall("JoinAddress")
	return JoinAddress{c.engine.Port().Rank(), c.reserveContext()}
}

// Join returns an intercommunicator to a rank with which the caller has exchanged addresses
// (MPI_Comm_join).
func (c *Comm) Join(mine, theirs JoinAddress) *Comm {
	c.enterCall("Join")
	x := connection{RemoteRanks: []int{theirs.Rank}, Context: mine.Context, LocalContext: c.reserveContext()}
	if theirs.Rank < mine.Rank {
		x.Context = theirs.Context
	}
	if theirs.Rank == mine.Rank || theirs.Rank < 0 || theirs.Rank >= c.engine.Port().Size() {
		c.engine.Fail(ErrArg, "the other end is rank %d of the job, this one rank %d", theirs.Rank, mine.Rank)
	}
	return x.newComm(c)
}

// sendControlMessage sends v, encoded, to a rank of the job.
func (c *Comm) sendControlMessage(v any, to int, context uint32, tag int) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("mpi: " + err.Error())
	}
	out := c.engine.Isend(model.StandardMode, b, engine.Signature(Byte.KindSign()), to, context, tag)
	c.engine.Wait(out)
	c.engine.Release(out)
}

// receiveControlMessage waits for a control message, decodes it into v, and returns its sender.
func (c *Comm) receiveControlMessage(v any, from int, context uint32, tag int) int {
	st, _ := c.engine.Probe(from, context, tag, true)
	b := make([]byte, st.Bytes)
	got := c.engine.Recv(b, engine.Signature(Byte.KindSign()), st.Source, context, tag)
	if got.Err != nil {
		panic(got.Err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		panic("mpi: a message about processes: " + err.Error())
	}
	return st.Source
}
