package proto

// Data is what is sent, or room for what is received.
type Data struct {
	Bytes []byte // as they travel; nil where they have to be gathered first
	Sign  Sign
	Shape Shape // of data that has gaps, or elements of several kinds; nil: it has neither
}

// Sign stands for the kinds of the elements of some data: what is sent and what is received have the same. Zero goes with all.
type Sign uint32

// Shape is data that does not lie as it travels, or whose kinds depend on how much of it there is.
type Shape interface {
	Len() int            // bytes that travel
	Gather(to []byte)    // copies them from where they lie
	Scatter(from []byte) // puts the first ones to where they lie
	Sign(n int) Sign     // of the first n bytes
}

// gather gathers data that is sent, if it has gaps, and reports whether it had.
func (e *Engine) gather(d *Data) bool {
	if d.Shape == nil {
		return false
	}
	return e.gatherShape(d)
}

func (e *Engine) gatherShape(d *Data) bool {
	n := d.Shape.Len()
	d.Sign = d.Shape.Sign(n)
	if d.Bytes != nil || n == 0 {
		return false
	}
	d.Bytes = e.room(n)
	d.Shape.Gather(d.Bytes)
	return true
}

// shape notes the shape of what a receive receives, and makes room for it if it has gaps.
func (e *Engine) shape(r *Op, x Shape) {
	r.shape = x
	if n := x.Len(); r.buf == nil && n > 0 {
		r.buf, r.gathered = e.room(n), true
	}
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
	e.Fail(ErrType, "the message from rank %d with tag %d is of %s, the receive of %s", m.src, m.tag, e.job.kinds(m.sign), e.job.kinds(want))
}
