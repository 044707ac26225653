//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/unit"
)

// Programs that a program starts, and connections between groups of ranks (MPI-4.1, sections 11.7
// to 11.10). Of the hints, wdir and path of commands and timeout of connections are used.

// spawnRequest lists the programs to start together.
type spawnRequest struct {
	ID       string // identifies the request in a process that has all ranks
	Commands []spawnCommand
}

// spawnCommand is a program to start, with its number of ranks.
type spawnCommand struct {
	Path      string
	Arguments []string
	Ranks     int
	Directory string // current directory of the ranks; "": that of the process

	searched []string // directories of the info key path
}

// commandOf returns the index of the command that a rank of the request runs.
func (q spawnRequest) commandOf(rank int) int {
	for i, c := range q.Commands {
		if rank -= c.Ranks; rank < 0 {
			return i
		}
	}
	panic("cprog: more ranks than were started")
}

// spawnedPrograms has the spawned programs that run in this process, by request and command.
type spawnedPrograms struct {
	requests int // number of requests so far
	running  map[string]*spawnedProgram
}

type spawnedProgram struct {
	Program
	ranks int // number of ranks that have not ended
}

// spawnOrigin says how the program of a rank was started.
type spawnOrigin struct {
	parent    *mpi.Comm // communicator to the group that started it
	appNumber int       // MPI_APPNUM
	directory string    // current directory; "": that of the process
}

// RunSpawned runs a program that another program has started: it is mpi.Options.SpawnedProgram.
func (p *Program) RunSpawned(world, parent *mpi.Comm, start []byte) error {
	var q spawnRequest
	if err := json.Unmarshal(start, &q); err != nil {
		return err
	}
	i := q.commandOf(world.Rank())
	return p.runSpawned(world, &spawnOrigin{parent, i, q.Commands[i].Directory}, q)
}

func (p *Program) runSpawned(world *mpi.Comm, o *spawnOrigin, q spawnRequest) error {
	key, c := fmt.Sprintf("%s/%d", q.ID, o.appNumber), q.Commands[o.appNumber]
	p.mu.Lock()
	s := p.spawned.running[key]
	var err error
	if s == nil {
		s = &spawnedProgram{ranks: c.Ranks}
		if p.RanksAreProcesses {
			s.ranks = 1 // in this process
		}
		s.Path, s.Arguments, s.initial = c.Path, c.Arguments, p
		s.StackBytes, s.Compute, s.RanksAreProcesses, s.Stdout, s.Stderr, s.TagOutput = p.StackBytes, p.Compute, p.RanksAreProcesses, p.Stdout, p.Stderr, p.TagOutput
		s.SizeOnlyMessages = p.SizeOnlyMessages
		s.StallLimit, s.Context, s.AvailableMemory = p.StallLimit, p.Context, p.AvailableMemory
		if _, err = s.Main(); err == nil {
			if p.spawned.running == nil {
				p.spawned.running = map[string]*spawnedProgram{}
			}
			p.spawned.running[key] = s
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
		delete(p.spawned.running, key)
		p.computeNanoseconds.Add(s.computeNanoseconds.Load())
		p.interruptedNanoseconds.Add(s.interruptedNanoseconds.Load())
		s.Close()
	}
	return nil
}

// initialProgram returns the program that started the job.
func (p *Program) initialProgram() *Program {
	if p.initial != nil {
		return p.initial
	}
	return p
}

// findCommand returns the path of a command, and fails if it cannot be started. Commands without a
// slash are searched in the directories of the info key path first.
func (r *rank) findCommand(name string, searched []string, p *Program) (string, error) {
	path := name
	if !strings.Contains(name, "/") {
		i := slices.IndexFunc(searched, func(d string) bool {
			f, err := os.Stat(filepath.Join(d, name))
			return err == nil && f.Mode().IsRegular()
		})
		found, err := exec.LookPath(name)
		switch {
		case i >= 0:
			found = filepath.Join(searched[i], name)
		case errors.Is(err, exec.ErrNotFound):
			found = "./" + name
		}
		path = found
	}
	path = r.absolutePath(path)
	image, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	x := Program{Path: path, Context: p.Context}
	x.image = image
	return path, x.prepareImage()
}

// stringsAt returns the strings of a list that ends with NULL. The list itself may be NULL.
func (r *rank) stringsAt(at uintptr) (all []string) {
	for ; at != 0; at += 8 {
		s := *pointerAt[uintptr](at)
		if s == 0 {
			break
		}
		all = append(all, cString(s))
	}
	return all
}

// readCommand reads a command, its number of ranks and the hints for it.
func (r *rank) readCommand(path string, arguments []string, ranks int, hints uintptr) spawnCommand {
	r.checkInfo(hints)
	c := spawnCommand{Path: path, Arguments: arguments, Ranks: ranks, Directory: r.directory()}
	if wdir, ok := r.hint(hints, "wdir"); ok {
		c.Directory, _ = filepath.Abs(r.absolutePath(wdir))
	}
	if list, ok := r.hint(hints, "path"); ok {
		for _, d := range filepath.SplitList(list) {
			c.searched = append(c.searched, r.absolutePath(d))
		}
	}
	return c
}

func commSpawn(r *rank, a args) {
	r.spawnPrograms(int(int32(a[4])), a[6], a[7], func() []spawnCommand {
		return []spawnCommand{r.readCommand(r.stringAt(a[0]), r.stringsAt(a[1]), int(int32(a[2])), a[3])}
	})
}

func commSpawnMultiple(r *rank, a args) {
	r.spawnPrograms(int(int32(a[5])), a[7], a[8], func() (all []spawnCommand) {
		n := int(int32(a[0]))
		if n < 1 {
			r.raiseError(mpi.ErrArg, "%d commands: there must be one at least", n)
		}
		names, ranks, infos := sliceAt[uintptr](a[1], n), sliceAt[int32](a[3], n), sliceAt[uintptr](a[4], n)
		for i := range n {
			var arguments []string
			if a[2] != 0 {
				arguments = r.stringsAt(sliceAt[uintptr](a[2], n)[i])
			}
			all = append(all, r.readCommand(r.stringAt(names[i]), arguments, int(ranks[i]), infos[i]))
		}
		return all
	})
}

// spawnPrograms starts programs and stores the intercommunicator to them and an error code per
// rank.
func (r *rank) spawnPrograms(root int, at, codesAt uintptr, read func() []spawnCommand) {
	inter, wanted, err := r.currentCall.comm.Spawn(root, func() (ranks int, program []byte, problem *mpi.Error) {
		defer func() { // the other ranks wait for the root's error
			if v := recover(); v != nil {
				e, ok := v.(*mpi.Error)
				if wrong, is := v.(addressError); is {
					e, ok = r.callError(mpi.ErrArg, "an argument that must be an address is %s", textOrNull(wrong.address)), true
				}
				if !ok {
					panic(v)
				}
				problem = e
			}
		}()
		first := r.program.initialProgram()
		q := spawnRequest{ID: fmt.Sprintf("%d.%d", r.world.JobRank(), first.nextSpawnNumber()), Commands: read()}
		for _, c := range q.Commands {
			ranks += max(c.Ranks, 0)
		}
		for i := range q.Commands {
			c := &q.Commands[i]
			if c.Ranks < 1 {
				r.raiseError(mpi.ErrArg, "maxprocs %d of %s: it must be 1 at least", c.Ranks, c.Path)
			}
			if f, err := os.Stat(c.Directory); c.Directory != "" && (err != nil || !f.IsDir()) {
				r.raiseError(mpi.ErrSpawn, "%s cannot be started in %s, which the info key wdir names: it is not a directory", c.Path, c.Directory)
			}
			path, err := r.findCommand(c.Path, c.searched, first)
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
		code = classNumbers[err.Class]
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
	r.comm(h).toSpawned = true
	storeAt(at, h)
}

// nextSpawnNumber returns a new number for a spawn request of this process.
func (p *Program) nextSpawnNumber() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spawned.requests++
	return p.spawned.requests
}

// commGetParent stores the intercommunicator to the group that started the program.
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

// noteDisconnect records that spawned programs are about to end, when they or their parents free
// the communicator between them.
func (r *rank) noteDisconnect(c *comm) {
	switch {
	case c.handle == r.parent:
		r.world.AnnounceExit()
	case c.toSpawned:
		c.AnnounceRemoteExit()
	}
}

// setOrigin records how the program was started.
func (r *rank) setOrigin(o *spawnOrigin) {
	if o == nil {
		return
	}
	r.wasSpawned, r.parent, r.appNumber = true, r.addComm(o.parent), o.appNumber
	r.comm(r.parent).name = "MPI_COMM_PARENT"
}

const maxPortName = 1024

func openPort(r *rank, a args) {
	r.checkInfo(a[0])
	storeText(a[1], r.world.OpenPort(), maxPortName, 0)
}

func closePort(r *rank, a args) { r.world.ClosePort(r.stringAt(a[0])) }

func commAccept(r *rank, a args) { r.storeConnection(a, (*mpi.Comm).Accept) }

func commConnect(r *rank, a args) {
	r.storeConnection(a, func(c *mpi.Comm, port string, root int) *mpi.Comm {
		timeout := mpi.DefaultConnectTimeout
		if text, ok := r.hint(a[1], "timeout"); ok && c.Rank() == root {
			seconds, err := strconv.Atoi(text)
			if err != nil || seconds < 0 || seconds > math.MaxInt32 {
				r.raiseError(errInfoValue, "timeout %q: it is a whole number of seconds", text)
			}
			timeout = unit.Second.Times(seconds)
		}
		return c.Connect(port, root, timeout)
	})
}

// storeConnection stores the communicator of a connection. Port and hints are significant at the
// root only.
func (r *rank) storeConnection(a args, connect func(c *mpi.Comm, port string, root int) *mpi.Comm) {
	c, root := r.currentCall.comm, int(int32(a[2]))
	port := ""
	if c.Rank() == root {
		r.checkInfo(a[1])
		port = r.stringAt(a[0])
	}
	storeAt(a[4], r.addComm(connect(c, port, root)))
}

func publishName(r *rank, a args) {
	r.checkInfo(a[1])
	r.world.PublishName(r.stringAt(a[0]), r.stringAt(a[2]))
}

func lookupName(r *rank, a args) {
	r.checkInfo(a[1])
	storeText(a[2], r.world.LookupName(r.stringAt(a[0])), maxPortName, 0)
}

func unpublishName(r *rank, a args) {
	r.checkInfo(a[1])
	r.stringAt(a[2])
	r.world.UnpublishName(r.stringAt(a[0]))
}

// commJoin stores the intercommunicator to the rank at the other end of a socket. Both ranks send a
// JoinAddress through the socket, and wait for the other's within MPI so that other ranks can
// continue.
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
