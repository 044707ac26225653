package aclmpl

import (
	"github.com/loggp/loggp/impl/library/pvm"
)

// pvmTransport is the port to PVM, for portability: both groups are psend and precv, so that a
// synchronous send does not wait for its receive. Painter et al. 1995, section 4.4.
type pvmTransport struct {
	*PE
	task *pvm.Task
}

func newPVMTransport(e *PE) *pvmTransport {
	t := &pvmTransport{e, pvm.NewTask(e.port, pvm.Options{})}
	t.task.Barrier()
	return t
}

// Tags of synchronous messages, and of asynchronous ones with tag 0.
const (
	syncTag  = 0
	asyncTag = 1
)

func (t *pvmTransport) send(dst int, b []byte) { t.task.Send(dst, syncTag, b) }

func (t *pvmTransport) receive(src int, b []byte) int {
	s, _ := t.receiveWhere(func(s pvm.Status) bool { return s.Source == src && s.Tag == syncTag }, b, true)
	return s.Bytes
}

func (t *pvmTransport) exchange(dst int, out []byte, src int, in []byte) int {
	t.send(dst, out)
	t.awaitedPE = src
	return t.receive(src, in)
}

func (t *pvmTransport) sendAsync(dst, tag int, b []byte) { t.task.Send(dst, asyncTag+tag, b) }

func (t *pvmTransport) receiveAsync(src, tag int, b []byte, wait bool) (Status, bool) {
	s, ok := t.receiveWhere(func(s pvm.Status) bool {
		return s.Tag >= asyncTag && (src == AnyPE || s.Source == src) && (tag == AnyTag || s.Tag == asyncTag+tag)
	}, b, wait)
	if !ok {
		return Status{}, false
	}
	return Status{s.Source, s.Tag - asyncTag, s.Bytes}, true
}

// receiveWhere receives a message. What PVM refuses is an error of the call.
func (t *pvmTransport) receiveWhere(matches func(pvm.Status) bool, b []byte, wait bool) (pvm.Status, bool) {
	defer func() {
		if v := recover(); v != nil {
			if x, ok := v.(*pvm.Error); ok {
				t.failCall("%s", x.Text)
			}
			panic(v)
		}
	}()
	return t.task.ReceiveWhere(matches, b, wait)
}

func (t *pvmTransport) barrier() { t.task.Barrier() }

func (t *pvmTransport) countUnreceived() (n int, first Status) {
	for s := range t.task.ForEachPending {
		if s.Tag == syncTag {
			continue
		}
		if n++; n == 1 {
			first = Status{s.Source, s.Tag - asyncTag, s.Bytes}
		}
	}
	return n, first
}
