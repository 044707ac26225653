package engine

// receiveMismatch says how a message differs from its receive.
type receiveMismatch struct {
	truncated                          bool      // too long; otherwise of another type
	receiveBytes                       int       // bytes of the receive's buffer
	messageSignature, receiveSignature Signature // of the message, and of the receive
}

// SetHandlesErrors says that the program has an error handler and continues after errors. A message
// that does not fit its receive is then received completely, into memory of the rank, so that its
// sender can continue. The call that completes the receive raises the error. Otherwise the error
// ends the rank at once.
func (r *Rank) SetHandlesErrors() { r.handlesErrors = true }

// HandlesErrors reports whether SetHandlesErrors was called.
func (r *Rank) HandlesErrors() bool { return r.handlesErrors }

// SetReceiveErrorsInStatus makes receives store an error of the message in the status. The caller
// raises it.
func (r *Rank) SetReceiveErrorsInStatus() { r.receiveErrorsInStatus = true }

// HasReceiveErrorsInStatus reports whether SetReceiveErrorsInStatus was called.
func (r *Rank) HasReceiveErrorsInStatus() bool { return r.receiveErrorsInStatus }

// CheckMessage fails if a message, given by source, tag, size and signature, does not fit a
// receive.
func (r *Rank) CheckMessage(o *Op, context uint32, src, tag int32, size int, s Signature) {
	if size <= len(o.Buf) && s == o.Signature || o.mismatch != nil {
		return
	}
	x := receiveMismatch{truncated: size > len(o.Buf), receiveBytes: len(o.Buf), messageSignature: s, receiveSignature: o.Signature}
	if o.layout != nil {
		x.receiveSignature = o.layout.Signature(size)
	}
	if !x.truncated && (s == x.receiveSignature || s == 0 || x.receiveSignature == 0 || size == 0) {
		return
	}
	r.stopTrackingMemory(o)
	if isCollective(context) {
		r.checkSameCollective(context, src, tag)
	}
	if !r.handlesErrors {
		panic(r.mismatchError(&x, context, src, tag, size))
	}
	if o.isBufOfRank {
		r.ReleaseScratch(o.Buf)
		o.isBufOfRank = false
	}
	o.Buf, o.layout, o.mismatch = make([]byte, size), nil, &x
}

// isCollective reports whether a context is for collective operations, whose tags are not the
// program's.
func isCollective(context uint32) bool { return context%2 == 1 }

// mismatchError returns the error of a message that does not fit its receive.
func (r *Rank) mismatchError(x *receiveMismatch, context uint32, src, tag int32, size int) *Error {
	switch {
	case isCollective(context) && x.truncated:
		return r.NewErrorWithOtherCall(int(src), ErrTruncate, "%s sent %d bytes where %d were expected: the ranks do not give as much as they take", r.PeerName(src, context), size, x.receiveBytes)
	case isCollective(context):
		return r.NewErrorWithOtherCall(int(src), ErrType, "%s gives %s, and this one takes %s", r.PeerName(src, context), r.typeNames(x.messageSignature), r.typeNames(x.receiveSignature))
	case x.truncated:
		return r.newError(ErrTruncate, "the message from %s with tag %d has %d bytes, the receive has room for %d", r.PeerName(src, context), tag, size, x.receiveBytes)
	}
	return r.newError(ErrType, "the message from %s with tag %d is of %s, the receive of %s", r.PeerName(src, context), tag, r.typeNames(x.messageSignature), r.typeNames(x.receiveSignature))
}

// ReceiveError returns the error of a finished receive whose message does not fit, or nil.
func (r *Rank) ReceiveError(o *Op) *Error {
	if o.mismatch == nil {
		return nil
	}
	x := o.mismatch
	o.mismatch = nil
	return r.mismatchError(x, o.Context, o.Peer, o.Tag, o.Size)
}
