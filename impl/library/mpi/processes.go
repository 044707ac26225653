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

// This file has what all ranks of a job know of its processes: which ranks are spare, the ports
// that are open, and the names of services. Looking something up there takes no virtual time.

// processTable is that.
type processTable struct {
	Running  int               // ranks whose program has not ended
	Idle     []int             // spare ranks that have no program
	Parents  map[int]uint32    // context of the communicator to the group that has started the program of a spare rank
	Leaving  []int             // spare ranks whose program is about to end
	Waiting  []spareWaiter     // for these
	Opened   int               // ports so far
	Ports    map[string]port   // that are open, by name
	Services map[string]string // names of ports, by that of a service
}

// port is an open port: a rank of the job accepts connections to it by messages with a tag.
type port struct{ Rank, Tag int }

// processDirectory is where the table is.
type processDirectory interface {
	// update calls f with the table, which no other rank changes meanwhile.
	update(f func(t *processTable)) error
}

// spareWaiter is a rank that waits for spare ranks.
type spareWaiter struct {
	Rank, Wanted int
	Context      uint32
}

// takeIdle returns idle ranks, which run a program from now on, whose parents have a context; nil:
// there are not as many.
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

// memoryDirectory is that of ranks in one process.
type memoryDirectory struct {
	mu    sync.Mutex
	table processTable
}

func (d *memoryDirectory) update(f func(t *processTable)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(&d.table)
	return nil
}

// fileDirectory is that of ranks which are processes of one host: a file that they lock.
type fileDirectory struct{ file *os.File }

func (d fileDirectory) update(f func(t *processTable)) error {
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

func (d fileDirectory) write(t processTable) error {
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

// openDirectory gives the rank the directory of the job. All ranks of the job call it. Ranks that
// are processes have none if no program needs it.
func (j *job) openDirectory(c *Comm, separateProcesses bool) error {
	if separateProcesses && j.startedProgram == nil {
		return nil
	}
	ranks := c.e.Port().Size()
	if !separateProcesses {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.directory == nil {
			j.directory = &memoryDirectory{table: newProcessTable(ranks, j.spare)}
		}
		c.state.directory = j.directory
		return nil
	}
	all := &Comm{e: c.e, rank: c.e.Port().Rank(), size: ranks, context: directoryContext, last: c.last, state: c.state}
	fill := func(f *os.File) error { return fileDirectory{f}.write(newProcessTable(ranks, j.spare)) }
	if err := all.shareFile("loggp-processes-", fill, func(f *os.File) error {
		c.state.directory = fileDirectory{f}
		return nil
	}); err != nil {
		return fmt.Errorf("the file that lists the processes of the job: %w", err)
	}
	return nil
}

// Contexts of messages about processes. Those of communicators are smaller.
const (
	startContext   = separateBit - 2*(1+iota) // to spare ranks
	grantContext                              // from them, to one that waits
	connectContext                            // to a port
	acceptContext                             // answers
	directoryContext
)

// processWaits says what a rank waits for that waits for a message about processes.
var processWaits = map[uint32]string{
	grantContext:   "spare ranks whose program is about to end; reserve more with --spare",
	connectContext: "a connection to a port",
	acceptContext:  "its connection to be accepted",
}

// updateProcesses changes the table.
func (c *Comm) updateProcesses(f func(t *processTable)) {
	if c.state.directory == nil {
		c.e.Fail(ErrOther, "programs of this job neither start others nor connect: mpi.Options.Started is nil")
	}
	if err := c.state.directory.update(f); err != nil {
		c.e.Fail(ErrIntern, "the list of the job's processes: %v", err)
	}
}

// NoteLeaving notes that the program of this rank, which another one has started, is about to end:
// Spawn waits for the rank if too few are idle.
func (c *Comm) NoteLeaving() {
	me := c.e.Port().Rank()
	c.updateProcesses(func(t *processTable) { t.noteLeaving(me) })
}

// NoteOthersLeaving does so for the other group of a communicator that Spawn has returned.
func (c *Comm) NoteOthersLeaving() {
	c.updateProcesses(func(t *processTable) {
		for _, r := range c.members {
			if t.Parents[r] == c.context {
				t.noteLeaving(r)
			}
		}
	})
}

func (t *processTable) noteLeaving(rank int) {
	if !slices.Contains(t.Leaving, rank) {
		t.Leaving = append(t.Leaving, rank)
	}
}

// leaveJob notes that the program of this rank has ended. The last rank ends the spare ranks, and
// learns that it is the last. A spare rank may get another program.
func (c *Comm) leaveJob(isSpare bool) (last bool) {
	me := c.e.Port().Rank()
	var idle, granted []int
	var waiter spareWaiter
	c.updateProcesses(func(t *processTable) {
		t.Running--
		if isSpare {
			t.Idle = append(t.Idle, me)
			slices.Sort(t.Idle)
			delete(t.Parents, me)
			t.Leaving = slices.DeleteFunc(t.Leaving, func(r int) bool { return r == me })
		}
		if last = t.Running == 0; last {
			idle, t.Idle = t.Idle, nil
		} else if len(t.Waiting) > 0 {
			if waiter = t.Waiting[0]; waiter.Wanted <= len(t.Idle) {
				granted, t.Waiting = t.takeIdle(waiter.Wanted, waiter.Context), t.Waiting[1:]
			}
		}
	})
	if granted != nil {
		c.sendControl(granted, waiter.Rank, grantContext, 0)
	}
	for _, r := range idle {
		if r != me {
			c.sendControl(startMessage{Stop: true}, r, startContext, 0)
		}
	}
	return last
}

// takeSpareRanks returns spare ranks that have no program, and waits for those whose program is
// about to end. nil: there are not as many; idle is how many there are.
func (c *Comm) takeSpareRanks(n int, context uint32) (taken []int, idle int) {
	waits := false
	c.updateProcesses(func(t *processTable) {
		if len(t.Waiting) == 0 {
			taken = t.takeIdle(n, context)
		}
		reserved := 0
		for _, w := range t.Waiting {
			reserved += w.Wanted
		}
		idle = max(0, len(t.Idle)+len(t.Leaving)-reserved)
		if waits = taken == nil && idle >= n; waits {
			t.Waiting = append(t.Waiting, spareWaiter{c.e.Port().Rank(), n, context})
		}
	})
	if waits {
		c.receiveControl(&taken, AnySource, grantContext, 0)
	}
	return taken, idle
}

// OpenPort opens a port, to which others may connect, and returns its name (MPI_Open_port).
func (c *Comm) OpenPort() (name string) {
	c.e.Enter("OpenPort")
	c.updateProcesses(func(t *processTable) {
		t.Opened++
		name = fmt.Sprintf("loggp-port-%d", t.Opened)
		t.Ports[name] = port{c.e.Port().Rank(), t.Opened}
	})
	return name
}

// ClosePort closes a port that this rank has opened (MPI_Close_port).
func (c *Comm) ClosePort(name string) {
	c.e.Enter("ClosePort")
	c.ownPort(name)
	c.updateProcesses(func(t *processTable) { delete(t.Ports, name) })
}

// ownPort returns a port of this rank. Any other is an error.
func (c *Comm) ownPort(name string) port {
	p, ok := c.findPort(name)
	if text := c.portProblem(name, p, ok, true); text != "" {
		c.e.Fail(ErrPort, "%s", text)
	}
	return p
}

func (c *Comm) findPort(name string) (p port, ok bool) {
	c.updateProcesses(func(t *processTable) { p, ok = t.Ports[name] })
	return p, ok
}

// portProblem says why a port cannot be used; "": it can.
func (c *Comm) portProblem(name string, p port, isOpen, asOwner bool) string {
	switch {
	case !isOpen:
		return fmt.Sprintf("no port %q is open: it was closed, or never opened", name)
	case asOwner && p.Rank != c.e.Port().Rank():
		return fmt.Sprintf("port %q was opened by rank %d of the job: only that rank accepts connections to it and closes it", name, p.Rank)
	}
	return ""
}

// PublishName gives a port the name of a service, which others may look up (MPI_Publish_name).
func (c *Comm) PublishName(service, port string) {
	c.e.Enter("PublishName")
	taken := false
	c.updateProcesses(func(t *processTable) {
		if _, taken = t.Services[service]; !taken {
			t.Services[service] = port
		}
	})
	if taken {
		c.e.Fail(ErrService, "service name %q is published already", service)
	}
}

// LookupName returns the port of a service (MPI_Lookup_name).
func (c *Comm) LookupName(service string) (port string) {
	c.e.Enter("LookupName")
	published := false
	c.updateProcesses(func(t *processTable) { port, published = t.Services[service] })
	if !published {
		c.e.Fail(ErrName, "no service name %q is published", service)
	}
	return port
}

// UnpublishName removes the name of a service (MPI_Unpublish_name).
func (c *Comm) UnpublishName(service string) {
	c.e.Enter("UnpublishName")
	published := false
	c.updateProcesses(func(t *processTable) {
		_, published = t.Services[service]
		delete(t.Services, service)
	})
	if !published {
		c.e.Fail(ErrService, "no service name %q is published", service)
	}
}
