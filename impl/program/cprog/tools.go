//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"slices"
)

// The tool information interface (MPI-4.1, chapter 15): control variables, which say how the run
// was set up, and performance variables, which count what the rank has done. Its functions return
// their errors and call no error handler.

// Errors of mpi.h.
const (
	toolNotInitialized = 1003
	toolInvalid        = 1006
	toolInvalidIndex   = 1007
	toolInvalidSession = 1009
	toolInvalidHandle  = 1010
	toolInvalidName    = 1011
	toolNeverSet       = 1015
	toolNoWrite        = 1016
	toolNoStartStop    = 1017
)

// Constants of mpi.h.
const (
	classLevel    = 2
	classCounter  = 7
	bindNoObject  = 1
	scopeConstant = 1
	userBasic     = 9
	allHandles    = 1

	countHandle   = datatypeNull + 0x02
	unsignedLong  = datatypeNull + 0x0e
	doubleHandle  = datatypeNull + 0x14
	toolCategory  = "loggp"
	categoryText  = "variables of emulated machines and of transports"
	kindTool      = 16 // of handles, which need not fit Fortran's integers: variables, sessions and handles in them
	kindToolGroup = 17
	kindToolCount = 18
)

// toolVariable is a control or performance variable.
type toolVariable struct {
	name, text string
	datatype   uintptr
	class      int
	read       func(r *rank) any // uint64 or float64
}

// controlVariables are constant during a run.
var controlVariables = []toolVariable{
	{"stack_size", "bytes of the stack of each rank", countHandle, 0, func(r *rank) any { return uint64(r.p.Stack) }},
	{"compute_factor", "virtual time of computing between calls, over processor time; 0: computing takes no time", doubleHandle, 0, func(r *rank) any { return r.p.Compute.Factor }},
	{"poll_limit", "seconds after which a rank that only polls ends the run; 0: never", doubleHandle, 0, func(r *rank) any { return r.p.Limit.Seconds() }},
}

// performanceVariables returns the variables of a rank: those of all engines, and the counters of
// its engine.
func (r *rank) performanceVariables() []toolVariable {
	if r.performance == nil {
		r.performance = []toolVariable{
			{"calls", "calls of the library", unsignedLong, classCounter, func(r *rank) any { return r.calls }},
			{"open_requests", "requests that the program holds", unsignedLong, classLevel, func(r *rank) any { return uint64(len(r.requests.slots) - len(r.requests.free)) }},
		}
		for name := range r.world.Counts {
			r.performance = append(r.performance, toolVariable{name, "counter of the engine that carries messages", unsignedLong, classCounter,
				func(r *rank) any { return r.engineCount(name) }})
		}
	}
	return r.performance
}

// engineCount returns the value of a counter of the engine.
func (r *rank) engineCount(name string) uint64 {
	for other, n := range r.world.Counts {
		if other == name {
			return uint64(n)
		}
	}
	return 0
}

// performanceHandle is a performance variable in a session. A counter counts while it is started.
type performanceHandle struct {
	session  uintptr
	variable toolVariable
	started  bool
	begin    uint64 // value of the variable at the start
	before   uint64 // counted in earlier times
}

func (h *performanceHandle) value(r *rank) uint64 {
	now := h.variable.read(r).(uint64)
	switch {
	case h.variable.class == classLevel:
		return now
	case h.started:
		return h.before + now - h.begin
	}
	return h.before
}

func (h *performanceHandle) setStarted(r *rank, on bool) {
	h.before, h.begin, h.started = h.value(r), h.variable.read(r).(uint64), on
}

// toolHandler returns the handler of a function that returns an error code.
func toolHandler(f func(r *rank, a args) int) handler {
	return func(r *rank, a args) {
		if r.toolUsers == 0 {
			r.now.result = toolNotInitialized
			return
		}
		r.now.result = int64(f(r, a))
	}
}

func toolInit(r *rank, a args) {
	if a[1] == 0 {
		r.now.result = toolInvalid
		return
	}
	r.toolUsers++
	storeAt(a[1], int32(min(int(a[0]), threadFunneled)))
}

func toolFinalize(r *rank, _ args) int {
	r.toolUsers--
	return 0
}

// storeOptional stores a result, unless the program does not want it.
func storeOptional[T any](at uintptr, v T) {
	if at != 0 {
		storeAt(at, v)
	}
}

// storeToolText stores a text that is cut off after the length that the program gives, and the
// length that it needs.
func storeToolText(at, length uintptr, s string) {
	if length == 0 {
		return
	}
	if room := int(*pointerAt[int32](length)); at != 0 && room > 0 {
		setText(at, s, room, 0)
	}
	storeAt(length, int32(len(s)+1))
}

// toolIndex stores the index of the variable with a name.
func toolIndex(all []toolVariable, name, at uintptr, class int) int {
	if name == 0 || at == 0 {
		return toolInvalid
	}
	i := slices.IndexFunc(all, func(v toolVariable) bool { return v.name == text(name) && v.class == class })
	if i < 0 {
		return toolInvalidName
	}
	storeAt(at, int32(i))
	return 0
}

// toolCount returns the handler that stores a number.
func toolCount(n func(r *rank) int) handler {
	return toolHandler(func(r *rank, a args) int {
		if a[0] == 0 {
			return toolInvalid
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

func controlInfo(r *rank, a args) int {
	i := int(a[0])
	if i < 0 || i >= len(controlVariables) {
		return toolInvalidIndex
	}
	v := controlVariables[i]
	storeToolText(a[1], a[2], v.name)
	storeOptional(a[3], int32(userBasic))
	storeOptional(a[4], v.datatype)
	storeOptional(a[5], uintptr(0))
	storeToolText(a[6], a[7], v.text)
	storeOptional(a[8], int32(bindNoObject))
	storeOptional(a[9], int32(scopeConstant))
	return 0
}

func controlAlloc(r *rank, a args) int {
	i := int(a[0])
	if i < 0 || i >= len(controlVariables) {
		return toolInvalidIndex
	}
	storeAt(a[2], r.controlHandles.add(kindTool, i))
	storeOptional(a[3], int32(1))
	return 0
}

func controlFree(r *rank, a args) int {
	h := *pointerAt[uintptr](a[0])
	if r.controlHandles.get(kindTool, h) == nil {
		return toolInvalidHandle
	}
	r.controlHandles.remove(h)
	storeAt(a[0], uintptr(0))
	return 0
}

func controlRead(r *rank, a args) int {
	i := r.controlHandles.get(kindTool, a[0])
	if i == nil {
		return toolInvalidHandle
	}
	return storeValue(a[1], controlVariables[*i].read(r))
}

func controlWrite(r *rank, a args) int {
	if r.controlHandles.get(kindTool, a[0]) == nil {
		return toolInvalidHandle
	}
	return toolNeverSet
}

func performanceInfo(r *rank, a args) int {
	i := int(a[0])
	if i < 0 || i >= len(r.performanceVariables()) {
		return toolInvalidIndex
	}
	v := r.performanceVariables()[i]
	storeToolText(a[1], a[2], v.name)
	storeOptional(a[3], int32(userBasic))
	storeOptional(a[4], int32(v.class))
	storeOptional(a[5], v.datatype)
	storeOptional(a[6], uintptr(0))
	storeToolText(a[7], a[8], v.text)
	storeOptional(a[9], int32(bindNoObject))
	storeOptional(a[10], int32(1))
	storeOptional(a[11], intOfBool(v.class == classLevel))
	storeOptional(a[12], int32(0))
	return 0
}

func performanceSession(r *rank, a args) int {
	storeAt(a[0], r.performanceSessions.add(kindToolGroup, true))
	return 0
}

func performanceSessionFree(r *rank, a args) int {
	s := *pointerAt[uintptr](a[0])
	if r.performanceSessions.get(kindToolGroup, s) == nil {
		return toolInvalidSession
	}
	for i, x := range r.performanceHandles.slots {
		if x.used && x.value.session == s {
			r.performanceHandles.remove(uintptr(i))
		}
	}
	r.performanceSessions.remove(s)
	storeAt(a[0], uintptr(0))
	return 0
}

func performanceAlloc(r *rank, a args) int {
	i := int(a[1])
	switch {
	case r.performanceSessions.get(kindToolGroup, a[0]) == nil:
		return toolInvalidSession
	case i < 0 || i >= len(r.performanceVariables()):
		return toolInvalidIndex
	}
	h := &performanceHandle{session: a[0], variable: r.performanceVariables()[i]}
	storeAt(a[3], r.performanceHandles.add(kindToolCount, h))
	storeOptional(a[4], int32(1))
	return 0
}

func performanceFree(r *rank, a args) int {
	h := *pointerAt[uintptr](a[1])
	if h == allHandles {
		return toolInvalidHandle
	}
	if code := r.eachPerformanceHandle(a[0], h, func(*performanceHandle) int { return 0 }); code != 0 {
		return code
	}
	r.performanceHandles.remove(h)
	storeAt(a[1], uintptr(0))
	return 0
}

// eachPerformanceHandle calls f for a handle of a session, or for all of them that f does not
// reject.
func (r *rank) eachPerformanceHandle(session, handle uintptr, f func(h *performanceHandle) int) int {
	if r.performanceSessions.get(kindToolGroup, session) == nil {
		return toolInvalidSession
	}
	if handle == allHandles {
		for _, x := range r.performanceHandles.slots {
			if x.used && x.value.session == session {
				f(x.value)
			}
		}
		return 0
	}
	h := r.performanceHandles.get(kindToolCount, handle)
	if h == nil || (*h).session != session {
		return toolInvalidHandle
	}
	return f(*h)
}

// performanceSwitch returns the handler that starts or stops counters.
func performanceSwitch(on bool) handler {
	return toolHandler(func(r *rank, a args) int {
		return r.eachPerformanceHandle(a[0], a[1], func(h *performanceHandle) int {
			if h.variable.class == classLevel {
				return toolNoStartStop
			}
			if h.started != on {
				h.setStarted(r, on)
			}
			return 0
		})
	})
}

func performanceRead(r *rank, a args) int {
	if a[1] == allHandles {
		return toolInvalidHandle
	}
	return r.eachPerformanceHandle(a[0], a[1], func(h *performanceHandle) int { return storeValue(a[2], h.value(r)) })
}

// Variables are read-only: only the library sets them.
func performanceWrite(r *rank, a args) int {
	return r.eachPerformanceHandle(a[0], a[1], func(*performanceHandle) int { return toolNoWrite })
}

func categoryInfo(r *rank, a args) int {
	if int(a[0]) != 0 {
		return toolInvalidIndex
	}
	storeToolText(a[1], a[2], toolCategory)
	storeToolText(a[3], a[4], categoryText)
	storeOptional(a[5], int32(len(controlVariables)))
	storeOptional(a[6], int32(len(r.performanceVariables())))
	storeOptional(a[7], int32(0))
	return 0
}

func categoryIndex(r *rank, a args) int {
	switch {
	case a[0] == 0 || a[1] == 0:
		return toolInvalid
	case text(a[0]) != toolCategory:
		return toolInvalidName
	}
	storeAt(a[1], int32(0))
	return 0
}

// categoryMembers returns the handler that stores the indices of n members of the category.
func categoryMembers(n func(r *rank) int) handler {
	return toolHandler(func(r *rank, a args) int {
		if int(a[0]) != 0 {
			return toolInvalidIndex
		}
		for i := range min(n(r), max(int(a[1]), 0)) {
			storeAt(a[2]+uintptr(4*i), int32(i))
		}
		return 0
	})
}

func countControl(*rank) int       { return len(controlVariables) }
func countPerformance(r *rank) int { return len(r.performanceVariables()) }
func countNone(*rank) int          { return 0 }
func countCategories(*rank) int    { return 1 }

// There are no enumerations, no events and no sources of them, so no index, name or handle of one
// is valid.
var (
	noToolHandle = toolHandler(func(*rank, args) int { return toolInvalidHandle })
	noToolIndex  = toolHandler(func(*rank, args) int { return toolInvalidIndex })
	noToolCount  = toolCount(func(*rank) int { return 0 })
	noToolName   = toolHandler(func(_ *rank, a args) int { return toolIndex(nil, a[0], a[1], 0) })
)

// categoryEvents stores that the category has no events.
func categoryEvents(_ *rank, a args) int {
	switch {
	case int(a[0]) != 0:
		return toolInvalidIndex
	case a[1] == 0:
		return toolInvalid
	}
	storeAt(a[1], int32(0))
	return 0
}

var toolHandlers = map[string]handler{
	"MPI_T_init_thread": toolInit, "MPI_T_finalize": toolHandler(toolFinalize),
	"MPI_T_enum_get_info": noToolHandle, "MPI_T_enum_get_item": noToolHandle,

	"MPI_T_cvar_get_num": toolCount(countControl), "MPI_T_cvar_get_info": toolHandler(controlInfo),
	"MPI_T_cvar_get_index":    toolHandler(func(_ *rank, a args) int { return toolIndex(controlVariables, a[0], a[1], 0) }),
	"MPI_T_cvar_handle_alloc": toolHandler(controlAlloc), "MPI_T_cvar_handle_free": toolHandler(controlFree),
	"MPI_T_cvar_read": toolHandler(controlRead), "MPI_T_cvar_write": toolHandler(controlWrite),

	"MPI_T_pvar_get_num": toolCount(countPerformance), "MPI_T_pvar_get_info": toolHandler(performanceInfo),
	"MPI_T_pvar_get_index":      toolHandler(func(r *rank, a args) int { return toolIndex(r.performanceVariables(), a[0], a[2], int(a[1])) }),
	"MPI_T_pvar_session_create": toolHandler(performanceSession), "MPI_T_pvar_session_free": toolHandler(performanceSessionFree),
	"MPI_T_pvar_handle_alloc": toolHandler(performanceAlloc), "MPI_T_pvar_handle_free": toolHandler(performanceFree),
	"MPI_T_pvar_start": performanceSwitch(true), "MPI_T_pvar_stop": performanceSwitch(false),
	"MPI_T_pvar_read": toolHandler(performanceRead), "MPI_T_pvar_write": toolHandler(performanceWrite),
	"MPI_T_pvar_reset": toolHandler(performanceWrite), "MPI_T_pvar_readreset": toolHandler(performanceWrite),

	"MPI_T_category_get_num": toolCount(countCategories), "MPI_T_category_get_info": toolHandler(categoryInfo), "MPI_T_category_get_index": toolHandler(categoryIndex),
	"MPI_T_category_get_cvars": categoryMembers(countControl), "MPI_T_category_get_pvars": categoryMembers(countPerformance),
	"MPI_T_category_get_categories": categoryMembers(countNone), "MPI_T_category_changed": noToolCount,
	"MPI_T_category_get_num_events": toolHandler(categoryEvents), "MPI_T_category_get_events": categoryMembers(countNone),

	"MPI_T_source_get_num": noToolCount, "MPI_T_source_get_info": noToolIndex, "MPI_T_source_get_timestamp": noToolIndex,
	"MPI_T_event_get_num": noToolCount, "MPI_T_event_get_info": noToolIndex, "MPI_T_event_get_index": noToolName, "MPI_T_event_handle_alloc": noToolIndex,
	"MPI_T_event_handle_set_info": noToolHandle, "MPI_T_event_handle_get_info": noToolHandle, "MPI_T_event_handle_free": noToolHandle,
	"MPI_T_event_register_callback": noToolHandle, "MPI_T_event_callback_set_info": noToolHandle, "MPI_T_event_callback_get_info": noToolHandle,
	"MPI_T_event_set_dropped_handler": noToolHandle,
	"MPI_T_event_read":                noToolHandle, "MPI_T_event_copy": noToolHandle, "MPI_T_event_get_timestamp": noToolHandle, "MPI_T_event_get_source": noToolHandle,
}
