package engine

// receiveMismatch is what is wrong with the message of a receive.
type receiveMismatch struct {
	truncated                          bool      // it is too long; otherwise it is of other elements
	receiveBytes                       int       // of the receive, in bytes
	messageSignature, receiveSignature Signature // of the message, and of the receive
}

// SetHandlesErrors says that the program has a handler of errors and goes on after them. A message
// that is not what its receive wants is then received to the end, into memory of the rank, so that
// its sender goes on as well, and the error is that of the call that completes the receive.
// Otherwise it ends the rank at once.
func (r *Rank) SetHandlesErrors() { r.handlesErrors = true }

// HandlesErrors says whether HandleErrors was called.
func (r *Rank) HandlesErrors() bool { return r.handlesErrors }

// SetReceiveErrorsInStatus leaves what is wrong with a message that was received to its status,
// where the caller raises it.
func (r *Rank) SetReceiveErrorsInStatus() { r.receiveErrorsInStatus = true }

// HasReceiveErrorsInStatus says whether KeepReceiveErrors was called.
func (r *Rank) HasReceiveErrorsInStatus() bool { return r.receiveErrorsInStatus }

// CheckMessage fails if a message, by its sender, tag, size and signature, is not what a receive
// wants.
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

// isCollective reports whether a context is of collective operations, whose tags are not the
// program's.
func isCollective(context uint32) bool { return context%2 == 1 }

// mismatchError is the error of a message.
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

// ReceiveError returns the error of a finished receive whose message is not what it wants, or nil.
func (r *Rank) ReceiveError(o *Op) *Error {
	if o.mismatch == nil {
		return nil
	}
	x := o.mismatch
	o.mismatch = nil
	return r.mismatchError(x, o.Context, o.Peer, o.Tag, o.Size)
}
