package proto

import "github.com/loggp/loggp/model"

// Sign stands for the kinds of the elements of some data: what is sent and what is received have the same. Zero goes with all.
type Sign uint32

// Shape is data that has gaps, or elements of several kinds.
type Shape interface {
	Len() int                // bytes that travel
	Flat() ([]byte, bool)    // where they lie, if they lie as they travel
	Gather(to []byte)        // copies them from where they lie
	Scatter(from []byte)     // puts the first ones to where they lie
	Runs(yield func([]byte)) // calls yield for each run of bytes where they lie, in the order in which they travel
	Sign(n int) Sign         // of the first n bytes
}

// SendShape is Send of data with a shape.
func (e *Engine) SendShape(mode model.Mode, x Shape, dst int, context uint32, tag int) {
	buf, gathered := e.gather(x)
	e.Send(mode, buf, x.Sign(len(buf)), dst, context, tag)
	if gathered {
		e.giveBack(buf)
	}
}

// IsendShape is likewise Isend.
func (e *Engine) IsendShape(mode model.Mode, x Shape, dst int, context uint32, tag int) *Op {
	buf, gathered := e.gather(x)
	s := e.Isend(mode, buf, x.Sign(len(buf)), dst, context, tag)
	switch {
	case gathered && mode == model.Buffered: // has been copied once more
		e.giveBack(buf)
	case gathered:
		s.gathered = true
	}
	return s
}

// RecvShape is Recv into data with a shape.
func (e *Engine) RecvShape(x Shape, src int, context uint32, tag int) Status {
	return e.recv(e.intoShape(x), src, context, tag)
}

// IrecvShape is likewise Irecv.
func (e *Engine) IrecvShape(x Shape, src int, context uint32, tag int) *Op {
	return e.irecv(e.intoShape(x), src, context, tag)
}

// gather returns data that is sent, as it travels, and whether that is memory of the engine's.
func (e *Engine) gather(x Shape) ([]byte, bool) {
	if flat, ok := x.Flat(); ok {
		return flat, false
	}
	if e.watch != nil {
		e.reads(runs(x, nil)...)
	}
	buf := e.room(x.Len())
	x.Gather(buf)
	return buf, true
}

// intoShape returns an operation that is to receive data with a shape.
func (e *Engine) intoShape(x Shape) *Op {
	r := e.newOp()
	e.lay(r, x)
	return r
}

// lay lets an operation receive data with a shape.
func (e *Engine) lay(r *Op, x Shape) {
	flat, ok := x.Flat()
	if !ok {
		flat = e.room(x.Len())
	}
	r.receive, r.buf, r.sign = true, flat, 0
	r.shape, r.gathered = x, !ok
}

// compare complains of a message whose elements are others than its receive's.
func (e *Engine) compare(r *Op, m *msg) {
	want := r.sign
	if r.shape != nil {
		want = r.shape.Sign(m.size)
	}
	if m.sign == want || m.sign == 0 || want == 0 || m.size == 0 {
		return
	}
	if r.Context%2 == 1 {
		e.mustMatch(r, m)
		e.FailWith(int(m.src), ErrType, "%s gives %s, and this one takes %s", e.named(m.src, r.Context), e.job.kinds(m.sign), e.job.kinds(want))
	}
	e.Fail(ErrType, "the message from %s with tag %d is of %s, the receive of %s", e.named(m.src, r.Context), m.tag, e.job.kinds(m.sign), e.job.kinds(want))
}
