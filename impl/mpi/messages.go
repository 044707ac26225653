package mpi

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
)

// Messages sends low-level messages: single packets without matching, as protocols are made of. They are for measuring what
// protocols are made of, and may not be mixed with other communication that is under way.
type Messages struct{ c *Comm }

// Messages returns the low-level messages of the communicator's ranks.
func (c *Comm) Messages() Messages { return Messages{c} }

func (m Messages) direct() engine.Direct {
	d := m.c.e.Direct()
	if d == nil {
		m.c.e.Fail(ErrOther, "the library's engine has no low-level messages")
	}
	return d
}

// Send sends one low-level message.
func (m Messages) Send(b []byte, dst int) {
	m.c.e.Enter("Messages.Send")
	m.c.checkRank(dst)
	m.direct().SendPacket(m.c.world(dst), b)
}

// Recv receives the next one, whoever sent it, and returns its length.
func (m Messages) Recv(b []byte) int {
	m.c.e.Enter("Messages.Recv")
	return m.direct().RecvPacket(b)
}

// Key names memory that a rank has exposed.
type Key = device.Key

// Remote reports whether the machine has remote memory access. Where it has not, the other methods go by packets, and need the
// other rank to be in a call.
func (m Messages) Remote() bool { return m.direct().Remote() }

// Expose lets other ranks access b until Withdraw.
func (m Messages) Expose(b []byte) Key { return m.direct().Expose(b) }

// Withdraw ends that.
func (m Messages) Withdraw(k Key) { m.direct().Withdraw(k) }

// Get reads memory that rank src has exposed into b, and returns when the bytes are there.
func (m Messages) Get(b []byte, src int, k Key) {
	m.c.e.Enter("Messages.Get")
	m.c.checkRank(src)
	m.direct().Get(m.c.world(src), k, b)
}

// Put writes b into memory that rank dst has exposed, and returns when the bytes are known to be there.
func (m Messages) Put(b []byte, dst int, k Key) {
	m.c.e.Enter("Messages.Put")
	m.c.checkRank(dst)
	m.direct().Put(m.c.world(dst), k, b)
}
