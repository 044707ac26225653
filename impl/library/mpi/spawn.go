package mpi

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi/check"
	"github.com/loggp/loggp/model"
)

// Programs that a program starts on spare ranks, and connections between groups that share no
// communicator. All are ranks of one job, so a connection is a communicator between two groups
// whose members and contexts the roots have told each other.

// startMessage tells a spare rank which program to run.
type startMessage struct {
	Stop bool `json:",omitempty"` // the job ends

	World        []int // ranks of the job that start together
	WorldContext uint32
	Connection   connection // to the group that starts them
	Program      []byte     // what Options.Started gets
}

// connection is what a rank knows of another group to which its group gets a communicator, or why
// there is none.
type connection struct {
	Class   Class  `json:",omitempty"` // of the error
	Error   string `json:",omitempty"`
	Others  []int  // ranks of the job
	Context uint32 // of the communicator
	Local   uint32 // of that of this group
}

// failedConnection says why there is no connection.
func failedConnection(class Class, format string, args ...any) connection {
	return connection{Class: class, Error: fmt.Sprintf(format, args...)}
}

// connect makes the communicator of a connection that the root knows.
func (c *Comm) connect(root int, ofRoot func() connection) (*Comm, connection) {
	c.checkIntra()
	c.checkRank(root)
	var text []byte
	if c.rank == root {
		text, _ = json.Marshal(ofRoot())
	}
	var x connection
	if err := json.Unmarshal(c.broadcastBytes(text, root), &x); err != nil {
		c.e.Fail(ErrIntern, "what the root says of the connection: %v", err)
	}
	if x.Error != "" {
		return nil, x
	}
	return x.join(c), x
}

// join returns the communicator of a connection of the group of c.
func (x connection) join(c *Comm) *Comm {
	return newInterComm(c, c.newComm(c.jobRanks(), x.Local), x.Others, x.Context)
}

// reserveContext returns a context that no communicator has.
func (c *Comm) reserveContext() uint32 { return reservedBit | c.reserve()<<1 }

// Spawn starts programs on spare ranks, and returns the communicator to them (MPI_Comm_spawn), or
// an error. request is called at the root: how many ranks to start, and what tells Options.Started
// which program each of them runs, or why none can be started. wanted is that number, at all ranks.
func (c *Comm) Spawn(root int, request func() (ranks int, program []byte, problem *Error)) (inter *Comm, wanted int, err *Error) {
	c.enterCall("Spawn")
	inter, x := c.connect(root, func() connection {
		ranks, program, problem := request()
		wanted = ranks
		if problem != nil {
			return connection{Class: problem.Class, Error: problem.Text, Others: make([]int, ranks)}
		}
		context := c.reserveContext()
		started, idle := c.takeSpareRanks(ranks, context)
		if started == nil {
			x := failedConnection(ErrSpawn, "%d %s to be started, and %d spare %s free: reserve more with --spare", ranks, check.Plural(ranks, "process is", "processes are"), idle, check.Plural(idle, "rank is", "ranks are"))
			x.Others = make([]int, ranks)
			return x
		}
		m := startMessage{World: started, WorldContext: c.reserveContext(), Connection: connection{Others: c.jobRanks(), Context: context, Local: c.reserveContext()}, Program: program}
		for _, r := range started {
			c.sendControl(m, r, startContext, 0)
		}
		return connection{Others: started, Context: context, Local: c.reserveContext()}
	})
	if wanted = len(x.Others); inter == nil {
		return nil, wanted, &Error{Class: x.Class, Text: x.Error}
	}
	return inter, wanted, nil
}

// runSpare is the life of a spare rank: it runs the programs that others start on it.
func (j *job) runSpare(c *Comm) error {
	for {
		var m startMessage
		c.state.idle = true
		c.e.Enter("")
		c.receiveControl(&m, AnySource, startContext, 0)
		if m.Stop {
			return nil
		}
		c.state.reset()
		c.e.SetThreads(nil)
		world := c.newComm(m.World, m.WorldContext)
		if err := nameRank(c.e.Port().Rank(), j.startedProgram(world, m.Connection.join(world), m.Program)); err != nil {
			return err
		}
		c.closeProgram()
		c.finishMessages()
		if c.leaveJob(true) {
			return nil
		}
	}
}

// reset makes the state that of another program of the rank.
func (s *state) reset() {
	*s = state{tuning: s.tuning, exchange: s.exchange, broadcast: s.broadcast, calls: s.calls, reserved: s.reserved, segments: s.segments, directory: s.directory}
}

// JobRank returns the rank in the job, as errors name it.
func (c *Comm) JobRank() int { return c.e.Port().Rank() }

// UniverseSize returns how many ranks there may be, with spare ones (MPI_UNIVERSE_SIZE).
func (c *Comm) UniverseSize() int { return c.e.Port().Size() }

// Accept waits until a group connects to a port that the root has opened, and returns the
// communicator to it (MPI_Comm_accept). name is significant at the root.
func (c *Comm) Accept(name string, root int) *Comm {
	c.enterCall("Accept")
	inter, x := c.connect(root, func() connection {
		p, isOpen := c.findPort(name)
		if text := c.portProblem(name, p, isOpen, true); text != "" {
			return failedConnection(ErrPort, "%s", text)
		}
		var theirs connection
		from := c.receiveControl(&theirs, AnySource, connectContext, p.Tag)
		mine := connection{Others: c.jobRanks(), Context: theirs.Context, Local: c.reserveContext()}
		if r := commonRank(mine.Others, theirs.Others); r >= 0 {
			mine = failedConnection(ErrComm, "rank %d of the job is in both groups", r)
			theirs = mine
		}
		c.sendControl(mine, from, acceptContext, p.Tag)
		theirs.Local = mine.Local
		return theirs
	})
	c.failConnection(x)
	return inter
}

// Connect connects the group to the one that accepts at a port (MPI_Comm_connect). name is
// significant at the root.
func (c *Comm) Connect(name string, root int) *Comm {
	c.enterCall("Connect")
	inter, x := c.connect(root, func() connection {
		p, isOpen := c.findPort(name)
		if text := c.portProblem(name, p, isOpen, false); text != "" {
			return failedConnection(ErrPort, "%s", text)
		}
		mine := connection{Others: c.jobRanks(), Context: c.reserveContext()}
		c.sendControl(mine, p.Rank, connectContext, p.Tag)
		var theirs connection
		c.receiveControl(&theirs, p.Rank, acceptContext, p.Tag)
		theirs.Local = c.reserveContext()
		return theirs
	})
	c.failConnection(x)
	return inter
}

func (c *Comm) failConnection(x connection) {
	if x.Error != "" {
		c.e.Fail(x.Class, "%s", x.Error)
	}
}

// commonRank returns a rank of the job that is in both groups, or −1.
func commonRank(a, b []int) int {
	if i := slices.IndexFunc(a, func(r int) bool { return slices.Contains(b, r) }); i >= 0 {
		return a[i]
	}
	return -1
}

// Introduction is what two ranks tell each other by a connection of their own, to Join.
type Introduction struct {
	Rank    int    // of the job
	Context uint32 // for the communicator between the two, if it is the smaller rank's
}

// Introduce returns the introduction of this rank, whose communicator is c alone.
func (c *Comm) Introduce() Introduction {
	c.enterCall("Introduce")
	return Introduction{c.e.Port().Rank(), c.reserveContext()}
}

// Join returns a communicator to one other rank with which the rank has exchanged introductions
// (MPI_Comm_join).
func (c *Comm) Join(mine, theirs Introduction) *Comm {
	c.enterCall("Join")
	x := connection{Others: []int{theirs.Rank}, Context: mine.Context, Local: c.reserveContext()}
	if theirs.Rank < mine.Rank {
		x.Context = theirs.Context
	}
	if theirs.Rank == mine.Rank || theirs.Rank < 0 || theirs.Rank >= c.e.Port().Size() {
		c.e.Fail(ErrArg, "the other end is rank %d of the job, this one rank %d", theirs.Rank, mine.Rank)
	}
	return x.join(c)
}

// sendControl sends a message about processes to a rank of the job.
func (c *Comm) sendControl(v any, to int, context uint32, tag int) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("mpi: " + err.Error())
	}
	out := c.e.Isend(model.StandardMode, b, engine.Signature(Byte.KindSign()), to, context, tag)
	c.e.Wait(out)
	c.e.Release(out)
}

// receiveControl waits for one, and returns who has sent it.
func (c *Comm) receiveControl(v any, from int, context uint32, tag int) int {
	st, _ := c.e.Probe(from, context, tag, true)
	b := make([]byte, st.Bytes)
	got := c.e.Recv(b, engine.Signature(Byte.KindSign()), st.Source, context, tag)
	if got.Err != nil {
		panic(got.Err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		panic("mpi: a message about processes: " + err.Error())
	}
	return st.Source
}
