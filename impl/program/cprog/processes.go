//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Programs that a program starts, and connections between groups of ranks (MPI-4.1, 11.7 to 11.10).
// All hints are ignored, as are those of the directories of commands.

// startRequest says which programs to start together.
type startRequest struct {
	ID       string // of the request, in a process that has all ranks
	Commands []command
}

// command is one of them.
type command struct {
	Path      string
	Arguments []string
	Ranks     int
}

// commandOf returns the command with a rank of those that were started together.
func (q startRequest) commandOf(rank int) int {
	for i, c := range q.Commands {
		if rank -= c.Ranks; rank < 0 {
			return i
		}
	}
	panic("cprog: more ranks than were started")
}

// startedPrograms are those that run in this process, by request and command.
type startedPrograms struct {
	requests int // so far
	running  map[string]*startedProgram
}

type startedProgram struct {
	Program
	ranks int // that have not ended
}

// origin says how the program of a rank was started.
type origin struct {
	parent  *mpi.Comm // to the group that has started it
	command int       // MPI_APPNUM
}

// Started is the program of ranks that another program has started: mpi.Options.SpawnedProgram.
func (p *Program) Started(world, parent *mpi.Comm, start []byte) error {
	var q startRequest
	if err := json.Unmarshal(start, &q); err != nil {
		return err
	}
	return p.runStarted(world, &origin{parent, q.commandOf(world.Rank())}, q)
}

func (p *Program) runStarted(world *mpi.Comm, o *origin, q startRequest) error {
	key, c := fmt.Sprintf("%s/%d", q.ID, o.command), q.Commands[o.command]
	p.mu.Lock()
	s := p.started.running[key]
	var err error
	if s == nil {
		s = &startedProgram{ranks: c.Ranks}
		if p.Real {
			s.ranks = 1 // in this process
		}
		s.Path, s.Arguments, s.first = c.Path, c.Arguments, p
		s.Stack, s.Compute, s.Real, s.Stdout, s.Stderr, s.Tag = p.Stack, p.Compute, p.Real, p.Stdout, p.Stderr, p.Tag
		s.Limit, s.Context, s.AvailableMemory = p.Limit, p.Context, p.AvailableMemory
		if _, err = s.Main(); err == nil {
			if p.started.running == nil {
				p.started.running = map[string]*startedProgram{}
			}
			p.started.running[key] = s
		}
	}
	p.mu.Unlock()
	if err != nil {
		return err
	}
	if err := s.runProgram(world, o); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.ranks--; s.ranks == 0 {
		delete(p.started.running, key)
		p.computed.Add(s.computed.Load())
		p.interrupted.Add(s.interrupted.Load())
		s.Close()
	}
	return nil
}

// firstProgram returns the program with which the job has begun.
func (p *Program) firstProgram() *Program {
	if p.first != nil {
		return p.first
	}
	return p
}

// findCommand returns the path of a command, which is a program that can be started.
func findCommand(name string, p *Program) (string, error) {
	path := name
	if !strings.Contains(name, "/") {
		found, err := exec.LookPath(name)
		if errors.Is(err, exec.ErrNotFound) {
			found = "./" + name
		}
		path = found
	}
	image, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	x := Program{Path: path, Context: p.Context}
	x.image = image
	return path, x.prepareImage()
}

// strings returns the texts of a list that ends with NULL. The list may be NULL itself.
func (r *rank) strings(at uintptr) (all []string) {
	for ; at != 0; at += 8 {
		s := *pointerAt[uintptr](at)
		if s == 0 {
			break
		}
		all = append(all, text(s))
	}
	return all
}

func commSpawn(r *rank, a args) {
	r.spawn(int(int32(a[4])), a[6], a[7], func() []command {
		r.checkInfo(a[3])
		return []command{{r.text(a[0]), r.strings(a[1]), int(int32(a[2]))}}
	})
}

func commSpawnMultiple(r *rank, a args) {
	r.spawn(int(int32(a[5])), a[7], a[8], func() (all []command) {
		n := int(int32(a[0]))
		if n < 1 {
			r.raiseError(mpi.ErrArg, "%d commands: there must be one at least", n)
		}
		names, ranks, infos := sliceAt[uintptr](a[1], n), sliceAt[int32](a[3], n), sliceAt[uintptr](a[4], n)
		for i := range n {
			r.checkInfo(infos[i])
			c := command{Path: r.text(names[i]), Ranks: int(ranks[i])}
			if a[2] != 0 {
				c.Arguments = r.strings(sliceAt[uintptr](a[2], n)[i])
			}
			all = append(all, c)
		}
		return all
	})
}

// spawn starts programs and stores the communicator to them, and the error code of each rank.
func (r *rank) spawn(root int, at, codesAt uintptr, read func() []command) {
	inter, wanted, err := r.now.comm.Spawn(root, func() (ranks int, program []byte, problem *mpi.Error) {
		defer func() { // the other ranks wait for the root to say so
			if v := recover(); v != nil {
				e, ok := v.(*mpi.Error)
				if wrong, is := v.(addressError); is {
					e, ok = r.callError(mpi.ErrArg, "an argument that must be an address is %s", nullText(wrong.address)), true
				}
				if !ok {
					panic(v)
				}
				problem = e
			}
		}()
		first := r.p.firstProgram()
		q := startRequest{ID: fmt.Sprintf("%d.%d", r.world.JobRank(), first.nextRequest()), Commands: read()}
		for _, c := range q.Commands {
			ranks += max(c.Ranks, 0)
		}
		for i := range q.Commands {
			c := &q.Commands[i]
			if c.Ranks < 1 {
				r.raiseError(mpi.ErrArg, "maxprocs %d of %s: it must be 1 at least", c.Ranks, c.Path)
			}
			path, err := findCommand(c.Path, first)
			if err != nil {
				r.raiseError(mpi.ErrSpawn, "%s cannot be started: %v", c.Path, err)
			}
			c.Path = path
		}
		program, _ = json.Marshal(q)
		return ranks, program, nil
	})
	code := int32(0)
	if err != nil {
		code = codes[err.Class]
	}
	if codesAt != 0 {
		for i := range sliceAt[int32](codesAt, wanted) {
			storeAt(codesAt+uintptr(4*i), code)
		}
	}
	if err != nil {
		storeAt(at, uintptr(commNull))
		r.raiseError(err.Class, "%s", err.Text)
	}
	h := r.addComm(inter)
	r.comm(h).toStarted = true
	storeAt(at, h)
}

// nextRequest returns the number of a request of this process.
func (p *Program) nextRequest() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started.requests++
	return p.started.requests
}

// commGetParent stores the communicator to the group that has started the program.
func commGetParent(r *rank, a args) {
	if r.parent != 0 && r.comms.get(kindComm, r.parent) == nil { // it was freed
		r.parent = 0
	}
	if r.parent == 0 {
		storeAt(a[0], uintptr(commNull))
		return
	}
	storeAt(a[0], r.parent)
}

// noteParting notes that programs are about to end when they or their parents have given up the
// communicator between them.
func (r *rank) noteParting(c *comm) {
	switch {
	case c.handle == r.parent:
		r.world.AnnounceExit()
	case c.toStarted:
		c.AnnounceRemoteExit()
	}
}

// setOrigin notes how the program was started.
func (r *rank) setOrigin(o *origin) {
	if o == nil {
		return
	}
	r.wasStarted, r.parent, r.command = true, r.addComm(o.parent), o.command
	r.comm(r.parent).name = "MPI_COMM_PARENT"
}

const maxPortName = 1024

func openPort(r *rank, a args) {
	r.checkInfo(a[0])
	setText(a[1], r.world.OpenPort(), maxPortName, 0)
}

func closePort(r *rank, a args) { r.world.ClosePort(r.text(a[0])) }

func commAccept(r *rank, a args) { r.connect(a, (*mpi.Comm).Accept) }

func commConnect(r *rank, a args) { r.connect(a, (*mpi.Comm).Connect) }

// connect stores the communicator of a connection. The port and the hints are arguments of the root
// alone.
func (r *rank) connect(a args, connect func(c *mpi.Comm, port string, root int) *mpi.Comm) {
	c, root := r.now.comm, int(int32(a[2]))
	port := ""
	if c.Rank() == root {
		r.checkInfo(a[1])
		port = r.text(a[0])
	}
	storeAt(a[4], r.addComm(connect(c, port, root)))
}

func publishName(r *rank, a args) {
	r.checkInfo(a[1])
	r.world.PublishName(r.text(a[0]), r.text(a[2]))
}

func lookupName(r *rank, a args) {
	r.checkInfo(a[1])
	setText(a[2], r.world.LookupName(r.text(a[0])), maxPortName, 0)
}

func unpublishName(r *rank, a args) {
	r.checkInfo(a[1])
	r.text(a[2])
	r.world.UnpublishName(r.text(a[0]))
}

// commJoin stores the communicator to the rank at the other end of a socket. Both send an
// introduction there, and wait for the other one's within MPI, so that others can go on.
func commJoin(r *rank, a args) {
	fd, self := int(int32(a[0])), r.comm(commSelf).Comm
	fail := func(err error) {
		r.raiseError(mpi.ErrArg, "file descriptor %d, which must be a connected socket: %v", fd, err)
	}
	if _, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_TYPE); err != nil {
		fail(err)
	}
	const size = 64
	mine := self.JoinAddress()
	text := fmt.Sprintf("loggp %d %d", mine.Rank, mine.Context)
	if _, err := syscall.Write(fd, append([]byte(text), make([]byte, size-len(text))...)); err != nil {
		fail(err)
	}
	var record [size]byte
	for n := 0; n < size; {
		switch k, _, err := syscall.Recvfrom(fd, record[n:], syscall.MSG_DONTWAIT); {
		case err == syscall.EAGAIN, err == syscall.EINTR:
			self.Iprobe(0, mpi.MaxTag)
		case err != nil:
			fail(err)
		case k == 0:
			fail(errors.New("the other end was closed"))
		default:
			n += k
		}
	}
	var theirs mpi.JoinAddress
	if _, err := fmt.Sscanf(string(record[:]), "loggp %d %d", &theirs.Rank, &theirs.Context); err != nil {
		fail(fmt.Errorf("the other end does not call MPI_Comm_join: %w", err))
	}
	storeAt(a[1], r.addComm(self.Join(mine, theirs)))
}
