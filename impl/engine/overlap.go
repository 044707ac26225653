package engine

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/loggp/loggp/model"
)

// overlap keeps account of the memory of operations that are under way, for programs that are
// checked: what a receive may write nothing else may read or write, until the program has completed
// the receive (MPI-1.2, section 3.7.2).
type overlap struct {
	owner           uintptr // the rank's goroutine
	receives, sends intervals
	calls           map[*Op]*call
	peers           map[int][2]int // messages sent to each rank and received from it
}

// call is what a program has called.
type call struct {
	name string
	at   Site
	runs []interval // its memory
}

// interval is memory from one address to another.
type interval struct {
	from, to uintptr
	of       *call
	first    int // of its data, the byte that is there
}

// intervals are in the order in which they begin. None is longer than longest.
type intervals struct {
	list    []interval
	longest uintptr
}

// memory returns where n bytes of data are, of which the first ones were before them.
func memory(b []byte, before int, of *call) interval {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return interval{at, at + uintptr(len(b)), of, before}
}

// runs returns where the data with a layout is.
func runs(x Layout, of *call) []interval {
	var all []interval
	before := 0
	x.Runs(func(b []byte) {
		all = append(all, memory(b, before, of))
		before += len(b)
	})
	return all
}

// watchReceive begins to watch a receive, which nothing under way may meet.
func (r *Rank) watchReceive(o *Op) {
	c := r.called()
	c.runs = []interval{memory(o.Buf, 0, c)}
	if o.gathered {
		c.runs = runs(o.layout, c)
	}
	w := r.overlap
	for _, x := range c.runs {
		if y, ok := w.receives.meets(x); ok {
			r.shared(x, y, "both would be written there")
		}
		if y, ok := w.sends.meets(x); ok {
			r.shared(x, y, "what is sent may be written over before it has left")
		}
	}
	w.receives.add(c.runs)
	w.calls[o] = c
}

// watchSend begins to watch a send, which no receive under way may meet. The data of a buffered one
// is copied before the call returns.
func (r *Rank) watchSend(o *Op) {
	c := r.called()
	c.runs = []interval{memory(o.Buf, 0, c)}
	r.reads(c.runs...)
	if o.Mode == model.Buffered {
		return
	}
	r.overlap.sends.add(c.runs)
	r.overlap.calls[o] = c
}

// reads complains if memory that is read now meets a receive under way.
func (r *Rank) reads(all ...interval) {
	for _, x := range all {
		if y, ok := r.overlap.receives.meets(x); ok {
			r.shared(x, y, "what is sent may have been written over already")
		}
	}
}

// called returns the call that the program is in.
func (r *Rank) called() *call {
	c := &call{name: r.call}
	if r.cfg.Site != nil {
		c.at = r.cfg.Site()
	}
	return c
}

// shared complains of memory of two calls.
func (r *Rank) shared(x, y interval, why string) {
	from, to := max(x.from, y.from), min(x.to, y.to)
	r.Fail(ErrBuffer, "%s of this call and %s of %s%s, which is not complete, are the same memory: %s",
		x.bytes(from, to), y.bytes(from, to), y.of.name, y.of.at.Beside(), why)
}

// bytes says which of its data are from one address to another.
func (x interval) bytes(from, to uintptr) string {
	first := x.first + int(from-x.from)
	return fmt.Sprintf("bytes %d to %d", first, first+int(to-from)-1)
}

// forget ends the watch of an operation.
func (w *overlap) forget(o *Op) {
	c := w.calls[o]
	if c == nil {
		return
	}
	delete(w.calls, o)
	if o.Receive {
		w.receives.remove(c)
	} else {
		w.sends.remove(c)
	}
}

// meets returns an interval that shares a byte with x.
func (l *intervals) meets(x interval) (interval, bool) {
	for i := l.search(x.from - min(l.longest, x.from)); i < len(l.list) && l.list[i].from < x.to; i++ {
		if y := l.list[i]; y.to > x.from && x.to > x.from {
			return y, true
		}
	}
	return interval{}, false
}

// search returns the first of those that begin at an address or later.
func (l *intervals) search(from uintptr) int {
	i, _ := slices.BinarySearchFunc(l.list, from, func(x interval, from uintptr) int {
		if x.from < from {
			return -1
		}
		return 1
	})
	return i
}

// add adds those that are not empty.
func (l *intervals) add(runs []interval) {
	for _, x := range runs {
		if x.to > x.from {
			l.list = slices.Insert(l.list, l.search(x.from), x)
			l.longest = max(l.longest, x.to-x.from)
		}
	}
}

// remove takes out those of a call.
func (l *intervals) remove(c *call) {
	for _, x := range c.runs {
		if x.to == x.from {
			continue
		}
		i := l.search(x.from)
		for l.list[i].of != c {
			i++
		}
		l.list = slices.Delete(l.list, i, i+1)
	}
	if len(l.list) == 0 {
		l.longest = 0
	}
}
