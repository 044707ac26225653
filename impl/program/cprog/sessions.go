//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/cprog/toolchain"
)

// Sessions (MPI-4.0, section 11.3). All sessions of a rank share its resources. There are two
// process sets: all ranks, and the rank itself.

const sessionNull = 0x120

// session is an open session.
type session struct {
	comm           *mpi.Comm // a communicator of this rank alone, for error handler and buffer
	attachedBuffer uintptr   // for buffered sends; 0: none
}

var processSets = []string{"mpi://WORLD", "mpi://SELF"}

// session returns an open session. Errors of the call then go to its error handler.
func (r *rank) session(h uintptr) *session {
	s := r.sessions.get(kindSession, h)
	if s == nil {
		r.raiseError(errSession, "invalid session: it is MPI_SESSION_NULL, or was finalized")
	}
	r.currentCall.comm = (*s).comm
	return *s
}

// handlerParameter has the index of the error handler argument of functions whose errors go to that
// handler, because their object does not exist yet.
var handlerParameter = map[string]int{"MPI_Session_init": 1, "MPI_Comm_create_from_group": 3, "MPI_Intercomm_create_from_groups": 6}

// useHandlerOfCall makes errors of the call go to the error handler among its arguments.
func (r *rank) useHandlerOfCall() {
	i, ok := handlerParameter[toolchain.Functions[r.currentCall.number].Name]
	if !ok || r.currentCall.args[i] == errhandlerNull {
		return
	}
	h := r.errorHandlerOf(r.currentCall.args[i])
	if r.callScopes[h] == nil {
		if r.callScopes == nil {
			r.callScopes = map[*mpi.ErrorHandler]*mpi.Comm{}
		}
		r.callScopes[h] = r.newErrorScope(h)
	}
	r.currentCall.comm = r.callScopes[h]
}

// newErrorScope returns a communicator of this rank alone that only holds an error handler.
func (r *rank) newErrorScope(h *mpi.ErrorHandler) *mpi.Comm {
	c := r.world.Self().DupWithNumber(r.world.ReserveNumber())
	c.SetErrorHandler(h)
	return c
}

func sessionInit(r *rank, a args) {
	r.useHandlerOfCall()
	r.checkInfo(a[0])
	handler := mpi.ErrorsAreFatal
	if a[1] != errhandlerNull {
		handler = r.errorHandlerOf(a[1])
	}
	s := &session{comm: r.newErrorScope(handler)}
	if a[0] != infoNull {
		r.provideThreadLevel(r.requestedThreadLevel(r.info(a[0])))
	}
	r.openSessions++
	r.hadSession = true
	storeAt(a[2], r.sessions.add(kindSession, s))
}

func sessionFinalize(r *rank, a args) {
	h := *pointerAt[uintptr](a[0])
	r.session(h)
	r.sessions.remove(h)
	storeAt(a[0], uintptr(sessionNull))
	if r.openSessions--; r.openSessions == 0 && (!r.initialized || r.finalized) {
		r.world.DrainOperations()
	}
}

func sessionGetNumPsets(r *rank, a args) {
	r.session(a[0])
	storeAt(a[2], int32(len(processSets)))
}

func sessionGetNthPset(r *rank, a args) {
	r.session(a[0])
	n := int(a[2])
	if n < 0 || n >= len(processSets) {
		r.raiseError(mpi.ErrArg, "process set %d: there are %d, counted from 0", n, len(processSets))
	}
	if room := int(*pointerAt[int32](a[3])); room > 0 {
		if a[4] == 0 {
			r.raiseError(mpi.ErrArg, "the name is a null pointer, and its length is %d: a length of 0 asks for that of the name", room)
		}
		storeText(a[4], processSets[n], room, 0)
	}
	storeAt(a[3], int32(len(processSets[n])+1))
}

func sessionGetInfo(r *rank, a args) {
	r.session(a[0])
	storeAt(a[1], r.infos.add(kindInfo, &info{threadLevelKeys, []string{levelNames[r.providedLevel], levelNames[r.providedLevel]}}))
}

// processSet returns the ranks of a process set.
func (r *rank) processSet(session, name uintptr) mpi.Group {
	r.session(session)
	s := r.stringAt(name)
	switch { // names are case insensitive
	case strings.EqualFold(s, processSets[0]):
		return r.world.Group()
	case strings.EqualFold(s, processSets[1]):
		return r.world.Group().Include([]int{r.world.Rank()})
	}
	r.raiseError(mpi.ErrArg, "there is no process set %q: there are %q", s, processSets)
	return mpi.Group{}
}

func sessionGetPsetInfo(r *rank, a args) {
	size := strconv.Itoa(r.processSet(a[0], a[1]).Size())
	storeAt(a[2], r.infos.add(kindInfo, &info{[]string{"mpi_size"}, []string{size}}))
}

func groupFromSessionPset(r *rank, a args) {
	h := r.addGroup(r.processSet(a[0], a[1]))
	if r.groupSessions == nil {
		r.groupSessions = map[uintptr]*session{}
	}
	r.groupSessions[h] = r.session(a[0])
	storeAt(a[2], h)
}

// nestBuffers makes a communicator created from a group use the buffer of its session: the one that
// created the group, or the only open one.
func (r *rank) nestBuffers(c *mpi.Comm, group uintptr) {
	s := r.groupSessions[group]
	if s == nil && r.sessions.length() == 1 {
		for _, slot := range r.sessions.slots {
			if slot.inUse {
				s = slot.value
			}
		}
	}
	if c != nil && s != nil {
		c.NestBuffers(s.comm)
	}
}

func commCreateFromGroup(r *rank, a args) {
	r.useHandlerOfCall()
	r.checkInfo(a[2])
	c := r.world.CreateGroup(r.group(a[0]), tagOfString(a[1]))
	r.nestBuffers(c, a[0])
	r.storeFromGroup(a[4], c, a[3])
}

// tagOfString returns a message tag for a string tag, so that threads can create communicators
// concurrently.
func tagOfString(at uintptr) int {
	hash := fnv.New32a()
	hash.Write([]byte(cString(at)))
	return int(hash.Sum32() >> 1)
}

// storeFromGroup stores a communicator created from a group, and sets its error handler.
func (r *rank) storeFromGroup(at uintptr, c *mpi.Comm, handler uintptr) {
	if c != nil && handler != errhandlerNull {
		c.SetErrorHandler(r.errorHandlerOf(handler))
	}
	storeAt(at, r.addComm(c))
}

// leaderTag is the tag with which the leaders of two groups exchange their members.
const leaderTag = firstPartitionTag - 1

func intercommCreateFromGroups(r *rank, a args) {
	r.useHandlerOfCall()
	own, other, leader, remote := r.group(a[0]), r.group(a[2]), int(a[1]), int(a[3])
	r.checkInfo(a[5])
	if leader < 0 || leader >= own.Size() || remote < 0 || remote >= other.Size() {
		r.raiseError(mpi.ErrRank, "local leader %d and remote leader %d: they are ranks of their groups, which have %d and %d", leader, remote, own.Size(), other.Size())
	}
	local := r.world.CreateGroup(own, tagOfString(a[4]))
	if local == nil {
		r.raiseError(mpi.ErrGroup, "the rank is not in its group")
	}
	peer := other.TranslateRanks([]int{remote}, r.world.Group())[0]
	r.storeFromGroup(a[7], local.CreateInter(leader, r.world.InternalComm(), peer, leaderTag), a[6])
}
