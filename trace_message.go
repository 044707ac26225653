package loggp

import (
	"fmt"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// sendTime is the time of the sender's call: long after the start of the job, and after the receive
// was posted.
const sendTime = 100 * unit.Millisecond

// tracedMessage is one message between two ranks.
type tracedMessage struct {
	pair  [2]int
	call  string
	bytes int
	late  *unit.Time // nil: the receiver posts its receive first
}

// messageSubject is one message.
func (o *TraceOptions) messageSubject(j *job.Job, pair [2]int) (*traceSubject, error) {
	mode, _ := SendMode(o.Mode)
	if mode == model.ReadyMode && o.Late != nil {
		return nil, optionErrorf("Late", "%s may only be called when the receive has been posted", o.Mode)
	}
	if p := model.FindProtocol(o.Protocol); p != nil && mode == model.SynchronousMode && !p.IsSynchronous() {
		return nil, &OptionError{"Protocol", o.Protocol, errNotSynchronous}
	}
	m := tracedMessage{pair, o.Mode, o.Size, o.Late}
	protocol := ""
	if o.Protocol != "" {
		protocol = " by " + o.Protocol
	}
	title := fmt.Sprintf("%s of %d bytes on %s, %s, from rank %d to rank %d%s", m.call, m.bytes, j.Platform.Machine.Name, j.Library.Name, pair[0], pair[1], protocol)
	if m.late != nil {
		title += fmt.Sprintf(", whose receiver is %v late", *m.late)
	}
	return &traceSubject{job: j, name: m.call, title: title, begin: sendTime, run: func(c *mpi.Comm) error {
		switch c.Rank() {
		case pair[0]:
			m.send(c)
		case pair[1]:
			m.receive(c)
		}
		return nil
	}}, nil
}

func (m *tracedMessage) send(c *mpi.Comm) {
	b := make([]byte, m.bytes)
	if mode, _ := SendMode(m.call); mode == model.BufferedMode {
		c.AttachBuffer(make([]byte, m.bytes+mpi.BsendOverhead))
	}
	c.Compute(sendTime)
	send := map[string]func(mpi.Buffer, int, int){"send": c.Send, "ssend": c.Ssend, "rsend": c.Rsend, "bsend": c.Bsend}
	isend := map[string]func(mpi.Buffer, int, int) mpi.Request{"isend": c.Isend, "issend": c.Issend, "irsend": c.Irsend, "ibsend": c.Ibsend}
	if f := send[m.call]; f != nil {
		f(mpi.BufferOf(b), m.pair[1], 0)
		return
	}
	r := isend[m.call](mpi.BufferOf(b), m.pair[1], 0)
	r.Wait()
}

func (m *tracedMessage) receive(c *mpi.Comm) {
	b := make([]byte, m.bytes)
	if m.late == nil {
		r := mpi.Irecv(c, b, m.pair[0], 0)
		r.Wait()
		return
	}
	c.Compute(sendTime + *m.late)
	mpi.Recv(c, b, m.pair[0], 0)
}
