//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"slices"
)

// The tool information interface (MPI-4.1, chapter 15): control variables, which describe the
// configuration of the run, and performance variables, which count what the rank has done. Its
// functions return errors and call no error handler.

// Error codes of mpi.h.
const (
	toolErrNotInitialized  = 1003
	toolErrInvalid         = 1006
	toolErrInvalidIndex    = 1007
	toolErrInvalidSession  = 1009
	toolErrInvalidHandle   = 1010
	toolErrInvalidName     = 1011
	toolErrCvarSetNever    = 1015
	toolErrPvarNoWrite     = 1016
	toolErrPvarNoStartStop = 1017
)

// Constants of mpi.h.
const (
	pvarClassLevel     = 2
	pvarClassCounter   = 7
	bindNoObject       = 1
	scopeConstant      = 1
	verbosityUserBasic = 9
	allHandles         = 1

	countHandle         = datatypeNull + 0x02
	unsignedLongHandle  = datatypeNull + 0x0e
	doubleHandle        = datatypeNull + 0x14
	toolCategory        = "loggp"
	categoryDescription = "variables of emulated machines and of transports"
	kindCvarHandle      = 16 // variables, sessions and their handles, which need not fit a Fortran INTEGER
	kindPvarSession     = 17
	kindPvarHandle      = 18
)

// toolVariable is a control or performance variable.
type toolVariable struct {
	name, description string
	datatype          uintptr
	class             int
	value             func(r *rank) any // returns uint64 or float64
}

// cvars are constant during a run.
var cvars = []toolVariable{
	{"stack_size", "bytes of the stack of each rank", countHandle, 0, func(r *rank) any { return uint64(r.program.StackBytes) }},
	{"compute_factor", "virtual time of computing between calls, over processor time; 0: computing takes no time", doubleHandle, 0, func(r *rank) any { return r.program.Compute.Factor }},
	{"poll_limit", "seconds after which a rank that only polls ends the run; 0: never", doubleHandle, 0, func(r *rank) any { return r.program.StallLimit.Seconds() }},
}

// pvars returns the performance variables of a rank: those of all engines, and the counters of its
// engine.
func (r *rank) pvars() []toolVariable {
	if r.pvarTable == nil {
		r.pvarTable = []toolVariable{
			{"calls", "calls of the library", unsignedLongHandle, pvarClassCounter, func(r *rank) any { return r.callCount }},
			{"open_requests", "requests that the program holds", unsignedLongHandle, pvarClassLevel, func(r *rank) any { return uint64(len(r.requests.slots) - len(r.requests.free)) }},
		}
		for name := range r.world.Counts {
			r.pvarTable = append(r.pvarTable, toolVariable{name, "counter of the engine that carries messages", unsignedLongHandle, pvarClassCounter,
				func(r *rank) any { return r.engineCounter(name) }})
		}
	}
	return r.pvarTable
}

// engineCounter returns the value of a counter of the engine.
func (r *rank) engineCounter(name string) uint64 {
	for other, n := range r.world.Counts {
		if other == name {
			return uint64(n)
		}
	}
	return 0
}

// pvarHandle is a performance variable in a session. A counter counts while it is started.
type pvarHandle struct {
	session      uintptr
	variable     toolVariable
	isStarted    bool
	startValue   uint64 // value at the last start
	earlierCount uint64 // counted in earlier periods
}

func (h *pvarHandle) count(r *rank) uint64 {
	now := h.variable.value(r).(uint64)
	switch {
	case h.variable.class == pvarClassLevel:
		return now
	case h.isStarted:
		return h.earlierCount + now - h.startValue
	}
	return h.earlierCount
}

func (h *pvarHandle) setStarted(r *rank, on bool) {
	h.earlierCount, h.startValue, h.isStarted = h.count(r), h.variable.value(r).(uint64), on
}

// errorCodeHandler returns the handler of a function that returns an error code.
func errorCodeHandler(f func(r *rank, a args) int) handler {
	return func(r *rank, a args) {
		if r.toolInitCount == 0 {
			r.currentCall.result = toolErrNotInitialized
			return
		}
		r.currentCall.result = int64(f(r, a))
	}
}

func toolInit(r *rank, a args) {
	if a[1] == 0 {
		r.currentCall.result = toolErrInvalid
		return
	}
	r.toolInitCount++
	storeAt(a[1], int32(r.providedThreadLevel(int(int32(a[0])))))
}

func toolFinalize(r *rank, _ args) int {
	r.toolInitCount--
	return 0
}

// storeOptional stores a result unless the address is NULL.
func storeOptional[T any](at uintptr, v T) {
	if at != 0 {
		storeAt(at, v)
	}
}

// storeToolText stores a text, truncated to the length of the program's buffer, and the length that
// it needs.
func storeToolText(at, length uintptr, s string) {
	if length == 0 {
		return
	}
	if room := int(*pointerAt[int32](length)); at != 0 && room > 0 {
		storeText(at, s, room, 0)
	}
	storeAt(length, int32(len(s)+1))
}

// toolIndex stores the index of the variable with a name.
func toolIndex(all []toolVariable, name, at uintptr, class int) int {
	if name == 0 || at == 0 {
		return toolErrInvalid
	}
	i := slices.IndexFunc(all, func(v toolVariable) bool { return v.name == cString(name) && v.class == class })
	if i < 0 {
		return toolErrInvalidName
	}
	storeAt(at, int32(i))
	return 0
}

// countHandler returns the handler that stores a number.
func countHandler(n func(r *rank) int) handler {
	return errorCodeHandler(func(r *rank, a args) int {
		if a[0] == 0 {
			return toolErrInvalid
		}
		storeAt(a[0], int32(n(r)))
		return 0
	})
}

// storeValue stores the value of a variable.
func storeValue(at uintptr, v any) int {
	switch v := v.(type) {
	case uint64:
		storeAt(at, v)
	case float64:
		storeAt(at, v)
	}
	return 0
}

func cvarGetInfo(r *rank, a args) int {
	i := int(a[0])
	if i < 0 || i >= len(cvars) {
		return toolErrInvalidIndex
	}
	v := cvars[i]
	storeToolText(a[1], a[2], v.name)
	storeOptional(a[3], int32(verbosityUserBasic))
	storeOptional(a[4], v.datatype)
	storeOptional(a[5], uintptr(0))
	storeToolText(a[6], a[7], v.description)
	storeOptional(a[8], int32(bindNoObject))
	storeOptional(a[9], int32(scopeConstant))
	return 0
}

func cvarHandleAlloc(r *rank, a args) int {
	i := int(a[0])
	if i < 0 || i >= len(cvars) {
		return toolErrInvalidIndex
	}
	storeAt(a[2], r.cvarHandles.add(kindCvarHandle, i))
	storeOptional(a[3], int32(1))
	return 0
}

func cvarHandleFree(r *rank, a args) int {
	h := *pointerAt[uintptr](a[0])
	if r.cvarHandles.get(kindCvarHandle, h) == nil {
		return toolErrInvalidHandle
	}
	r.cvarHandles.remove(h)
	storeAt(a[0], uintptr(0))
	return 0
}

func cvarRead(r *rank, a args) int {
	i := r.cvarHandles.get(kindCvarHandle, a[0])
	if i == nil {
		return toolErrInvalidHandle
	}
	return storeValue(a[1], cvars[*i].value(r))
}

func cvarWrite(r *rank, a args) int {
	if r.cvarHandles.get(kindCvarHandle, a[0]) == nil {
		return toolErrInvalidHandle
	}
	return toolErrCvarSetNever
}

func pvarGetInfo(r *rank, a args) int {
	i := int(a[0])
	if i < 0 || i >= len(r.pvars()) {
		return toolErrInvalidIndex
	}
	v := r.pvars()[i]
	storeToolText(a[1], a[2], v.name)
	storeOptional(a[3], int32(verbosityUserBasic))
	storeOptional(a[4], int32(v.class))
	storeOptional(a[5], v.datatype)
	storeOptional(a[6], uintptr(0))
	storeToolText(a[7], a[8], v.description)
	storeOptional(a[9], int32(bindNoObject))
	storeOptional(a[10], int32(1))
	storeOptional(a[11], intOfBool(v.class == pvarClassLevel))
	storeOptional(a[12], int32(0))
	return 0
}

func pvarSessionCreate(r *rank, a args) int {
	storeAt(a[0], r.pvarSessions.add(kindPvarSession, true))
	return 0
}

func pvarSessionFree(r *rank, a args) int {
	s := *pointerAt[uintptr](a[0])
	if r.pvarSessions.get(kindPvarSession, s) == nil {
		return toolErrInvalidSession
	}
	for i, x := range r.pvarHandles.slots {
		if x.inUse && x.value.session == s {
			r.pvarHandles.remove(uintptr(i))
		}
	}
	r.pvarSessions.remove(s)
	storeAt(a[0], uintptr(0))
	return 0
}

func pvarHandleAlloc(r *rank, a args) int {
	i := int(a[1])
	switch {
	case r.pvarSessions.get(kindPvarSession, a[0]) == nil:
		return toolErrInvalidSession
	case i < 0 || i >= len(r.pvars()):
		return toolErrInvalidIndex
	}
	h := &pvarHandle{session: a[0], variable: r.pvars()[i]}
	storeAt(a[3], r.pvarHandles.add(kindPvarHandle, h))
	storeOptional(a[4], int32(1))
	return 0
}

func pvarHandleFree(r *rank, a args) int {
	h := *pointerAt[uintptr](a[1])
	if h == allHandles {
		return toolErrInvalidHandle
	}
	if code := r.eachPvarHandle(a[0], h, func(*pvarHandle) int { return 0 }); code != 0 {
		return code
	}
	r.pvarHandles.remove(h)
	storeAt(a[1], uintptr(0))
	return 0
}

// eachPvarHandle calls f for a handle of a session. For MPI_T_PVAR_ALL_HANDLES it calls f for all
// handles, and ignores those that f rejects.
func (r *rank) eachPvarHandle(session, handle uintptr, f func(h *pvarHandle) int) int {
	if r.pvarSessions.get(kindPvarSession, session) == nil {
		return toolErrInvalidSession
	}
	if handle == allHandles {
		for _, x := range r.pvarHandles.slots {
			if x.inUse && x.value.session == session {
				f(x.value)
			}
		}
		return 0
	}
	h := r.pvarHandles.get(kindPvarHandle, handle)
	if h == nil || (*h).session != session {
		return toolErrInvalidHandle
	}
	return f(*h)
}

// pvarStartOrStopHandler returns the handler that starts or stops counters.
func pvarStartOrStopHandler(on bool) handler {
	return errorCodeHandler(func(r *rank, a args) int {
		return r.eachPvarHandle(a[0], a[1], func(h *pvarHandle) int {
			if h.variable.class == pvarClassLevel {
				return toolErrPvarNoStartStop
			}
			if h.isStarted != on {
				h.setStarted(r, on)
			}
			return 0
		})
	})
}

func pvarRead(r *rank, a args) int {
	if a[1] == allHandles {
		return toolErrInvalidHandle
	}
	return r.eachPvarHandle(a[0], a[1], func(h *pvarHandle) int { return storeValue(a[2], h.count(r)) })
}

// pvarWrite fails: only the library sets performance variables.
func pvarWrite(r *rank, a args) int {
	return r.eachPvarHandle(a[0], a[1], func(*pvarHandle) int { return toolErrPvarNoWrite })
}

func categoryInfo(r *rank, a args) int {
	if int(a[0]) != 0 {
		return toolErrInvalidIndex
	}
	storeToolText(a[1], a[2], toolCategory)
	storeToolText(a[3], a[4], categoryDescription)
	storeOptional(a[5], int32(len(cvars)))
	storeOptional(a[6], int32(len(r.pvars())))
	storeOptional(a[7], int32(0))
	return 0
}

func categoryIndex(r *rank, a args) int {
	switch {
	case a[0] == 0 || a[1] == 0:
		return toolErrInvalid
	case cString(a[0]) != toolCategory:
		return toolErrInvalidName
	}
	storeAt(a[1], int32(0))
	return 0
}

// categoryMembersHandler returns the handler that stores the indices of all n members of a
// category.
func categoryMembersHandler(n func(r *rank) int) handler {
	return errorCodeHandler(func(r *rank, a args) int {
		if int(a[0]) != 0 {
			return toolErrInvalidIndex
		}
		for i := range min(n(r), max(int(a[1]), 0)) {
			storeAt(a[2]+uintptr(4*i), int32(i))
		}
		return 0
	})
}

func cvarCount(*rank) int     { return len(cvars) }
func pvarCount(r *rank) int   { return len(r.pvars()) }
func zeroCount(*rank) int     { return 0 }
func categoryCount(*rank) int { return 1 }

// There are no enumerations, events or event sources, so no index, name or handle of one is valid.
var (
	noToolHandle = errorCodeHandler(func(*rank, args) int { return toolErrInvalidHandle })
	noToolIndex  = errorCodeHandler(func(*rank, args) int { return toolErrInvalidIndex })
	noToolCount  = countHandler(func(*rank) int { return 0 })
	noToolName   = errorCodeHandler(func(_ *rank, a args) int { return toolIndex(nil, a[0], a[1], 0) })
)

// categoryEvents stores that the category has no events.
func categoryEvents(_ *rank, a args) int {
	switch {
	case int(a[0]) != 0:
		return toolErrInvalidIndex
	case a[1] == 0:
		return toolErrInvalid
	}
	storeAt(a[1], int32(0))
	return 0
}

var toolHandlers = map[string]handler{
	"MPI_T_init_thread": toolInit, "MPI_T_finalize": errorCodeHandler(toolFinalize),
	"MPI_T_enum_get_info": noToolHandle, "MPI_T_enum_get_item": noToolHandle,

	"MPI_T_cvar_get_num": countHandler(cvarCount), "MPI_T_cvar_get_info": errorCodeHandler(cvarGetInfo),
	"MPI_T_cvar_get_index":    errorCodeHandler(func(_ *rank, a args) int { return toolIndex(cvars, a[0], a[1], 0) }),
	"MPI_T_cvar_handle_alloc": errorCodeHandler(cvarHandleAlloc), "MPI_T_cvar_handle_free": errorCodeHandler(cvarHandleFree),
	"MPI_T_cvar_read": errorCodeHandler(cvarRead), "MPI_T_cvar_write": errorCodeHandler(cvarWrite),

	"MPI_T_pvar_get_num": countHandler(pvarCount), "MPI_T_pvar_get_info": errorCodeHandler(pvarGetInfo),
	"MPI_T_pvar_get_index":      errorCodeHandler(func(r *rank, a args) int { return toolIndex(r.pvars(), a[0], a[2], int(a[1])) }),
	"MPI_T_pvar_session_create": errorCodeHandler(pvarSessionCreate), "MPI_T_pvar_session_free": errorCodeHandler(pvarSessionFree),
	"MPI_T_pvar_handle_alloc": errorCodeHandler(pvarHandleAlloc), "MPI_T_pvar_handle_free": errorCodeHandler(pvarHandleFree),
	"MPI_T_pvar_start": pvarStartOrStopHandler(true), "MPI_T_pvar_stop": pvarStartOrStopHandler(false),
	"MPI_T_pvar_read": errorCodeHandler(pvarRead), "MPI_T_pvar_write": errorCodeHandler(pvarWrite),
	"MPI_T_pvar_reset": errorCodeHandler(pvarWrite), "MPI_T_pvar_readreset": errorCodeHandler(pvarWrite),

	"MPI_T_category_get_num": countHandler(categoryCount), "MPI_T_category_get_info": errorCodeHandler(categoryInfo), "MPI_T_category_get_index": errorCodeHandler(categoryIndex),
	"MPI_T_category_get_cvars": categoryMembersHandler(cvarCount), "MPI_T_category_get_pvars": categoryMembersHandler(pvarCount),
	"MPI_T_category_get_categories": categoryMembersHandler(zeroCount), "MPI_T_category_changed": noToolCount,
	"MPI_T_category_get_num_events": errorCodeHandler(categoryEvents), "MPI_T_category_get_events": categoryMembersHandler(zeroCount),

	"MPI_T_source_get_num": noToolCount, "MPI_T_source_get_info": noToolIndex, "MPI_T_source_get_timestamp": noToolIndex,
	"MPI_T_event_get_num": noToolCount, "MPI_T_event_get_info": noToolIndex, "MPI_T_event_get_index": noToolName, "MPI_T_event_handle_alloc": noToolIndex,
	"MPI_T_event_handle_set_info": noToolHandle, "MPI_T_event_handle_get_info": noToolHandle, "MPI_T_event_handle_free": noToolHandle,
	"MPI_T_event_register_callback": noToolHandle, "MPI_T_event_callback_set_info": noToolHandle, "MPI_T_event_callback_get_info": noToolHandle,
	"MPI_T_event_set_dropped_handler": noToolHandle,
	"MPI_T_event_read":                noToolHandle, "MPI_T_event_copy": noToolHandle, "MPI_T_event_get_timestamp": noToolHandle, "MPI_T_event_get_source": noToolHandle,
}
