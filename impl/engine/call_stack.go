package engine

import (
	"runtime"
	"slices"
	"sync"
)

// CallStack is a stack from the library to the program. It does not change.
type CallStack struct {
	count int
	pcs   [20]uintptr
	next  *CallStack // another one with the same hash
}

// Frames returns the program counters, innermost first; of nil, none.
func (s *CallStack) Frames() []uintptr {
	if s == nil {
		return nil
	}
	return s.pcs[:s.count]
}

// stackTable has the stacks of a job. A program has few different ones, and each of a million ranks
// refers to some.
//
// Note: package unique and a map by stacks need several copies of a stack on the rank's own stack,
// which Go then doubles.
type stackTable struct {
	mu      sync.Mutex
	byHash  map[uintptr]*CallStack
	current CallStack // the stack that is looked up
}

// record returns the stack of the caller's caller. It is fast if that is last, which may be nil.
// Only serialized ranks (device.SerializedPort) need no lock.
func (t *stackTable) record(last *CallStack, isSerialized bool) *CallStack {
	if !isSerialized {
		t.mu.Lock()
		defer t.mu.Unlock()
	}
	t.current.count = runtime.Callers(3, t.current.pcs[:])
	s := last
	if s == nil || !slices.Equal(s.Frames(), t.current.Frames()) {
		s = t.findCurrent()
	}
	return s
}

// findCurrent returns the stack equal to the current one, and adds it if there is none.
func (t *stackTable) findCurrent() *CallStack {
	h := uintptr(0)
	for _, pc := range t.current.Frames() {
		h = (h ^ pc) * 0x9E3779B1 // the constant of the golden ratio, as in match
	}
	for s := t.byHash[h]; s != nil; s = s.next {
		if slices.Equal(s.Frames(), t.current.Frames()) {
			return s
		}
	}
	return t.addCurrent(h)
}

// addCurrent adds the current stack, which has a hash.
func (t *stackTable) addCurrent(hash uintptr) *CallStack {
	s := &CallStack{count: t.current.count, pcs: t.current.pcs, next: t.byHash[hash]}
	if t.byHash == nil {
		t.byHash = map[uintptr]*CallStack{}
	}
	t.byHash[hash] = s
	return s
}
