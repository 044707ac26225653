package mpi_test

import (
	"testing"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// emulateMeeting runs a meeting between two ranks, long after whatever began the job.
func emulateMeeting(t testing.TB, x model.Meeting) (e model.Ends) {
	t.Helper()
	const zero = unit.Second
	err := mpi.Run(world(t, x.Machine, x.Library, 2), mpi.Options{Engine: carry, Library: x.Library, Protocol: x.Protocol.Name}, func(c *mpi.Comm) error {
		b := make([]byte, x.Bytes)
		var r mpi.Request
		if c.Rank() == 0 {
			c.AttachBuffer(make([]byte, x.Bytes+mpi.BsendOverhead))
			c.Compute(zero + x.Sends - c.Wtime())
			r = call(c, x.Transfer, b, 1)
			e.Send = c.Wtime() - zero
			r.Wait()
			e.Sent = c.Wtime() - zero
			c.DetachBuffer()
			return nil
		}
		if x.Posted {
			r = mpi.Irecv(c, b, 0, 7)
		}
		c.Compute(zero + x.Receives - c.Wtime())
		switch {
		case x.Posted:
		case x.Blocking:
			mpi.Recv(c, b, 0, 7)
		default:
			r = mpi.Irecv(c, b, 0, 7)
		}
		e.Receive = c.Wtime() - zero
		r.Wait()
		e.Received = c.Wtime() - zero
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestExactMeeting lets the receive begin long before the send, with it, at odd moments after it,
// and when the message has been there for long.
func TestExactMeeting(t *testing.T) {
	for _, m := range []*model.Machine{machine(), copyingLogGP(model.LogGP{L: 5 * us, SendO: 2 * us, RecvO: 3 * us, Gap: 4 * us, BigGap: 9876.5})} {
		for _, l := range []*model.Library{odd(true, 1024), odd(false, 0)} {
			for _, k := range []int{0, 16, 1025, 5000} {
				eachWay(t, m, l, k, pair{2, 0, 1}, func(t *testing.T, x model.Transfer, _ pair) {
					for _, apart := range []unit.Time{-unit.Millisecond, 0, 3*us + 1, 7*us + 1, 11*us + 1, 400*us + 1, 3 * unit.Millisecond} {
						y := model.Meeting{Transfer: x, Sends: unit.Millisecond, Receives: unit.Millisecond + apart}
						for _, y.Blocking = range []bool{false, true} {
							y.Posted = false
							exactMeeting(t, y)
						}
						y.Posted = true
						exactMeeting(t, y)
					}
				})
			}
		}
	}
}

func exactMeeting(t *testing.T, x model.Meeting) {
	t.Helper()
	if got, want := emulateMeeting(t, x), x.Ends(); got != want {
		t.Fatalf("%s, receive %v after the send, blocking %v, posted %v: emulated %+v, closed form %+v", describeTransfer(x.Transfer, pair{2, 0, 1}),
			x.Receives-x.Sends, x.Blocking, x.Posted, got, want)
	}
}
