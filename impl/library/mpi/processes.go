package mpi

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"
)

// This file has the table of processes that all ranks of a job share: spare ranks, open ports, and
// names of services. Looking up an entry takes no virtual time.

// processTable has the spare ranks, the programs that run on them, and the open ports of a job.
type processTable struct {
	Running  int               // number of ranks whose program has not ended
	Idle     []int             // spare ranks without a program
	Parents  map[int]uint32    // by spare rank: context of the communicator to the group that started its program
	Exiting  []int             // spare ranks whose program is about to end
	Waiting  []spareWaiter     // ranks that wait for idle ranks
	Opened   int               // number of ports opened so far
	Ports    map[string]port   // open ports by name
	Services map[string]string // names of ports by service
}

// port is an open port: its owner accepts connections by messages with a tag.
type port struct {
	Rank, Tag  int
	Accepting  int       // number of calls of Accept that wait for a connection
	Connecting []attempt // calls of Connect that wait to be accepted, in order
}

// attempt is a call of Connect.
type attempt struct {
	Rank  int        // that connects
	Group connection // its group
}

// processDirectory stores the process table.
type processDirectory interface {
	// update calls f with the table under a lock that excludes all other ranks.
	update(f func(t *processTable)) error
}

// spareWaiter is a rank that waits for idle spare ranks.
type spareWaiter struct {
	Rank, WantedRanks int
	Context           uint32
}

// takeIdle takes n idle ranks out of the table to run a program. context is that of the
// communicator to their parents. It returns nil if fewer than n are idle.
func (t *processTable) takeIdle(n int, context uint32) []int {
	if n > len(t.Idle) {
		return nil
	}
	taken := slices.Clone(t.Idle[:n])
	t.Idle = slices.Clone(t.Idle[n:])
	t.Running += n
	for _, r := range taken {
		t.Parents[r] = context
	}
	return taken
}

func newProcessTable(ranks, spare int) processTable {
	t := processTable{Running: ranks - spare, Parents: map[int]uint32{}, Ports: map[string]port{}, Services: map[string]string{}}
	for r := t.Running; r < ranks; r++ {
		t.Idle = append(t.Idle, r)
	}
	return t
}

// memoryProcessDirectory stores the process table for ranks in one process.
type memoryProcessDirectory struct {
	mu    sync.Mutex
	table processTable
}

func (d *memoryProcessDirectory) update(f func(t *processTable)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(&d.table)
	return nil
}

// fileProcessDirectory stores the process table for ranks that are processes of one host, in a file
// that they lock.
type fileProcessDirectory struct{ file *os.File }

func (d fileProcessDirectory) update(f func(t *processTable)) error {
	fd := int(d.file.Fd())
	if err := syscall.Flock(fd, syscall.LOCK_EX); err != nil {
		return err
	}
	defer syscall.Flock(fd, syscall.LOCK_UN)
	text, err := io.ReadAll(io.NewSectionReader(d.file, 0, 1<<30))
	if err != nil {
		return err
	}
	var t processTable
	if err := json.Unmarshal(text, &t); err != nil {
		return err
	}
	f(&t)
	return d.write(t)
}

func (d fileProcessDirectory) write(t processTable) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if err := d.file.Truncate(0); err != nil {
		return err
	}
	_, err = d.file.WriteAt(text, 0)
	return err
}

// openDirectory sets the rank's directory. All ranks of the job call it. Ranks in
// separate processes have none if Options.SpawnedProgram is nil.
func (j *job) openDirectory(c *Comm, separateProcesses bool) error {
	if separateProcesses && j.spawnedProgram == nil {
		return nil
	}
	ranks := c.engine.Port().Size()
	if !separateProcesses {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.directory == nil {
			j.directory = &memoryProcessDirectory{table: newProcessTable(ranks, j.spareRanks)}
		}
		c.state.directory = j.directory
		return nil
	}
	all := &Comm{engine: c.engine, rank: c.engine.Port().Rank(), size: ranks, context: directoryContext, lastContext: c.lastContext, state: c.state}
	fill := func(f *os.File) error { return fileProcessDirectory{f}.write(newProcessTable(ranks, j.spareRanks)) }
	if err := all.createSharedFile("loggp-processes-", fill, func(f *os.File) error {
		c.state.directory = fileProcessDirectory{f}
		return nil
	}); err != nil {
		return fmt.Errorf("the file that lists the processes of the job: %w", err)
	}
	return nil
}

// Contexts of messages about processes. Contexts of communicators are smaller.
const (
	startContext   = internalContextBit - 2*(1+iota) // to spare ranks, to start a program
	grantContext                                     // from spare ranks, to a rank that waits for them
	connectContext                                   // to the owner of a port
	acceptContext                                    // the owner's answer
	directoryContext
)

// processWaitTexts says what a rank waits for while it receives a message with one of these
// contexts.
var processWaitTexts = map[uint32]string{
	grantContext:   "spare ranks whose program is about to end; reserve more with --spare",
	connectContext: "a connection to a port",
	acceptContext:  "its connection to be accepted",
}

// updateProcessTable calls f with the table, to read or change it.
func (c *Comm) updateProcessTable(f func(t *processTable)) {
	if c.state.directory == nil {
		c.engine.Fail(ErrOther, "this job has neither MPI_Comm_spawn nor ports (in Go: set mpi.Options.SpawnedProgram)")
	}
	if err := c.state.directory.update(f); err != nil {
		c.engine.Fail(ErrIntern, "the list of the job's processes: %v", err)
	}
}

// AnnounceExit records that the program of this rank, which Spawn started, is about to end. If too
// few ranks are idle, Spawn then waits for this one.
func (c *Comm) AnnounceExit() {
	me := c.engine.Port().Rank()
	c.updateProcessTable(func(t *processTable) { t.announceExit(me) })
}

// AnnounceRemoteExit is AnnounceExit for all ranks of the remote group of a communicator that Spawn
// has returned.
func (c *Comm) AnnounceRemoteExit() {
	c.updateProcessTable(func(t *processTable) {
		for _, r := range c.members {
			if t.Parents[r] == c.context {
				t.announceExit(r)
			}
		}
	})
}

func (t *processTable) announceExit(rank int) {
	if !slices.Contains(t.Exiting, rank) {
		t.Exiting = append(t.Exiting, rank)
	}
}

// leaveJob records that the program of this rank has ended, and reports whether it is the last one.
// The last rank stops the spare ranks. Until then a spare rank may get another program.
func (c *Comm) leaveJob(isSpare bool) (last bool) {
	me := c.engine.Port().Rank()
	var idle, granted []int
	var waiter spareWaiter
	c.updateProcessTable(func(t *processTable) {
		t.Running--
		if isSpare {
			t.Idle = append(t.Idle, me)
			slices.Sort(t.Idle)
			delete(t.Parents, me)
			t.Exiting = slices.DeleteFunc(t.Exiting, func(r int) bool { return r == me })
		}
		if last = t.Running == 0; last {
			idle, t.Idle = t.Idle, nil
		} else if len(t.Waiting) > 0 {
			if waiter = t.Waiting[0]; waiter.WantedRanks <= len(t.Idle) {
				granted, t.Waiting = t.takeIdle(waiter.WantedRanks, waiter.Context), t.Waiting[1:]
			}
		}
	})
	if granted != nil {
		c.sendControlMessage(granted, waiter.Rank, grantContext, 0)
	}
	for _, r := range idle {
		if r != me {
			c.sendControlMessage(startMessage{Stop: true}, r, startContext, 0)
		}
	}
	return last
}

// takeSpareRanks returns n spare ranks without a program. It waits for ranks whose program is about
// to end. If there are too few it returns nil and the number of idle ranks.
func (c *Comm) takeSpareRanks(n int, context uint32) (taken []int, idle int) {
	waits := false
	c.updateProcessTable(func(t *processTable) {
		if len(t.Waiting) == 0 {
			taken = t.takeIdle(n, context)
		}
		reserved := 0
		for _, w := range t.Waiting {
			reserved += w.WantedRanks
		}
		idle = max(0, len(t.Idle)+len(t.Exiting)-reserved)
		if waits = taken == nil && idle >= n; waits {
			t.Waiting = append(t.Waiting, spareWaiter{c.engine.Port().Rank(), n, context})
		}
	})
	if waits {
		c.receiveControlMessage(&taken, AnySource, grantContext, 0)
	}
	return taken, idle
}

// OpenPort opens a port to which other groups can connect, and returns its name (MPI_Open_port).
func (c *Comm) OpenPort() (name string) {
	c.engine.Enter("OpenPort")
	c.updateProcessTable(func(t *processTable) {
		t.Opened++
		name = fmt.Sprintf("loggp-port-%d", t.Opened)
		t.Ports[name] = port{Rank: c.engine.Port().Rank(), Tag: t.Opened}
	})
	return name
}

// ClosePort closes a port that this rank has opened (MPI_Close_port).
func (c *Comm) ClosePort(name string) {
	c.engine.Enter("ClosePort")
	p := c.ownPort(name)
	c.updateProcessTable(func(t *processTable) {
		p = t.Ports[name]
		delete(t.Ports, name)
	})
	for _, a := range p.Connecting {
		c.sendControlMessage(connectionError(ErrPort, "port %q was closed", name), a.Rank, acceptContext, p.Tag)
	}
}

// ownPort returns an open port of this rank, and fails if name is not one.
func (c *Comm) ownPort(name string) port {
	p, ok := c.findPort(name)
	if text := c.portProblem(name, p, ok, true); text != "" {
		c.engine.Fail(ErrPort, "%s", text)
	}
	return p
}

// nextAttempt waits for a call of Connect to a port of this rank.
func (c *Comm) nextAttempt(name string, tag int) (a attempt) {
	c.updateProcessTable(func(t *processTable) {
		p := t.Ports[name]
		if len(p.Connecting) > 0 {
			a, p.Connecting = p.Connecting[0], slices.Clone(p.Connecting[1:])
		} else {
			p.Accepting++
		}
		t.Ports[name] = p
	})
	if a.Group.RemoteRanks == nil {
		c.receiveControlMessage(&a, AnySource, connectContext, tag)
	}
	return a
}

// startAttempt begins a call of Connect to a port. It reports whether the port was open.
func (c *Comm) startAttempt(name string, a attempt) (p port, isOpen bool) {
	isAwaited := false
	c.updateProcessTable(func(t *processTable) {
		if p, isOpen = t.Ports[name]; !isOpen {
			return
		}
		if isAwaited = p.Accepting > 0; isAwaited {
			p.Accepting--
		} else {
			p.Connecting = append(slices.Clone(p.Connecting), a)
		}
		t.Ports[name] = p
	})
	if isAwaited {
		c.sendControlMessage(a, p.Rank, connectContext, p.Tag)
	}
	return p, isOpen
}

// withdrawAttempt ends a call of Connect that was not accepted. It returns false if an answer is
// under way.
func (c *Comm) withdrawAttempt(name string, a attempt) (withdrawn bool) {
	c.updateProcessTable(func(t *processTable) {
		p := t.Ports[name]
		i := slices.IndexFunc(p.Connecting, func(x attempt) bool { return x.Rank == a.Rank && x.Group.Context == a.Group.Context })
		if withdrawn = i >= 0; withdrawn {
			p.Connecting = slices.Delete(slices.Clone(p.Connecting), i, i+1)
			t.Ports[name] = p
		}
	})
	return withdrawn
}

func (c *Comm) findPort(name string) (p port, ok bool) {
	c.updateProcessTable(func(t *processTable) { p, ok = t.Ports[name] })
	return p, ok
}

// portProblem says why a port cannot be used, or returns "".
func (c *Comm) portProblem(name string, p port, isOpen, asOwner bool) string {
	switch {
	case !isOpen:
		return fmt.Sprintf("no port %q is open: it was closed, or never opened", name)
	case asOwner && p.Rank != c.engine.Port().Rank():
		return fmt.Sprintf("port %q was opened by rank %d of the job: only that rank accepts connections to it and closes it", name, p.Rank)
	}
	return ""
}

// PublishName gives a port a service name that others can look up (MPI_Publish_name).
func (c *Comm) PublishName(service, port string) {
	c.engine.Enter("PublishName")
	taken := false
	c.updateProcessTable(func(t *processTable) {
		if _, taken = t.Services[service]; !taken {
			t.Services[service] = port
		}
	})
	if taken {
		c.engine.Fail(ErrService, "service name %q is published already", service)
	}
}

// LookupName returns the port of a service (MPI_Lookup_name).
func (c *Comm) LookupName(service string) (port string) {
	c.engine.Enter("LookupName")
	published := false
	c.updateProcessTable(func(t *processTable) { port, published = t.Services[service] })
	if !published {
		c.engine.Fail(ErrName, "no service name %q is published", service)
	}
	return port
}

// UnpublishName removes the name of a service (MPI_Unpublish_name).
func (c *Comm) UnpublishName(service string) {
	c.engine.Enter("UnpublishName")
	published := false
	c.updateProcessTable(func(t *processTable) {
		_, published = t.Services[service]
		delete(t.Services, service)
	})
	if !published {
		c.engine.Fail(ErrService, "no service name %q is published", service)
	}
}
