package mpi_test

import "github.com/loggp/loggp/impl/library/mpi"

// Programs that are wrong, some of which docs/errors.md shows as they stand here.

func allReceiveFirst(c *mpi.Comm) {
	right, left := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	in, out := make([]float64, 100), make([]float64, 100)
	mpi.Recv(c, in, left, 0)
	mpi.Send(c, out, right, 0)
}

func bothSendFirst(c *mpi.Comm) {
	other := 1 - c.Rank()
	in, out := make([]float64, 100000), make([]float64, 100000)
	mpi.Send(c, out, other, 0)
	mpi.Recv(c, in, other, 0)
}

func sendsToItself(c *mpi.Comm) {
	x, y := make([]int32, 10), make([]int32, 10)
	mpi.Ssend(c, x, c.Rank(), 0)
	mpi.Recv(c, y, c.Rank(), 0)
}

func anotherTag(c *mpi.Comm) {
	x, y := make([]int32, 10), make([]int32, 10)
	if c.Rank() == 0 {
		mpi.Send(c, x, 1, 1)
		mpi.Send(c, y, 1, 2)
		return
	}
	first := mpi.Irecv(c, x, 0, 1)
	second := mpi.Irecv(c, y, 0, 3)
	third := mpi.Irecv(c, make([]int32, 10), 0, 2)
	fourth := mpi.Irecv(c, y[:0], mpi.AnySource, 4)
	mpi.WaitAll([]mpi.Request{first, second, third, fourth}, nil)
}

func oneLeavesEarly(c *mpi.Comm) {
	x := []int32{int32(c.Rank())}
	if c.Rank() == 2 {
		return
	}
	mpi.Allreduce(c, x, make([]int32, 1), mpi.Sum)
}

func oneIsElsewhere(c *mpi.Comm) {
	x := make([]int32, 10)
	if c.Rank() == 0 {
		mpi.Recv(c, x, 1, 0)
	}
	mpi.Bcast(c, x, 0)
}

func withinAGroup(c *mpi.Comm) {
	half := c.Split(c.Rank()%2, 0) // ranks 1 and 3 of the job are 0 and 1 of theirs
	if c.Rank() == 3 {
		mpi.Recv(half, make([]byte, 8), 0, 7)
	}
	half.Barrier()
}

func anotherOperation(c *mpi.Comm) {
	x, sum := make([]int32, 4), make([]int32, 4)
	if c.Rank() == 0 {
		mpi.Bcast(c, x, 0)
	} else {
		mpi.Scan(c, x, sum, mpi.Sum)
	}
}

func anotherRoot(c *mpi.Comm) {
	x := make([]int32, 4)
	if c.Rank() == 2 {
		mpi.Bcast(c, x, 1)
	} else {
		mpi.Bcast(c, x, 0)
	}
}

func onlyOneCalls(c *mpi.Comm) {
	if c.Rank() == 0 {
		mpi.Bcast(c, make([]int32, 4), 0)
	}
}

func eachItsOwnRoot(c *mpi.Comm) {
	mpi.Bcast(c, make([]int32, 4), c.Rank())
}

func noReceive(c *mpi.Comm) {
	if c.Rank() == 0 {
		mpi.Send(c, make([]int32, 4), 1, 0)
		mpi.Send(c, make([]int32, 4), 2, 0)
	}
	if c.Rank() == 1 {
		mpi.Recv(c, make([]int32, 4), 0, 0)
	}
}

func anotherReduction(c *mpi.Comm) {
	x, y := []int32{int32(c.Rank())}, make([]int32, 1)
	if c.Rank() == 0 {
		mpi.Reduce(c, x, y, mpi.Max, 0)
	} else {
		mpi.Reduce(c, x, y, mpi.Sum, 0)
	}
}

func anotherLength(c *mpi.Comm) {
	x := make([]int32, 4+c.Rank())
	mpi.Bcast(c, x, 0)
}

func anotherKind(c *mpi.Comm) {
	if c.Rank() == 0 {
		mpi.Bcast(c, make([]float64, 4), 0)
	} else {
		mpi.Bcast(c, make([]int64, 4), 0)
	}
}

func tooLong(c *mpi.Comm) {
	if c.Rank() == 0 {
		mpi.Send(c, make([]byte, 1000), 1, 5)
	} else {
		mpi.Recv(c, make([]byte, 999), 0, 5)
	}
}

func otherElements(c *mpi.Comm) {
	if c.Rank() == 0 {
		mpi.Send(c, make([]float32, 10), 1, 5)
	} else {
		mpi.Recv(c, make([]int32, 10), 0, 5)
	}
}

func readyTooEarly(c *mpi.Comm) {
	x := make([]byte, 8)
	if c.Rank() == 0 {
		mpi.Rsend(c, x, 1, 5)
	} else {
		c.Probe(0, 5)
		mpi.Recv(c, x, 0, 5)
	}
}

func noSuchRank(c *mpi.Comm) {
	next := c.Rank() + 1 // the last has none
	mpi.Send(c, make([]byte, 8), next, 0)
}

func noSuchTag(c *mpi.Comm) {
	mpi.Send(c, make([]byte, 8), 1-c.Rank(), mpi.AnyTag)
}

func bufferTooShort(c *mpi.Comm) {
	b := mpi.Buffer{Bytes: make([]byte, 100), Count: 20, Type: mpi.Float64}
	c.Bcast(b, 0)
}

func noBuffer(c *mpi.Comm) {
	mpi.Bsend(c, make([]byte, 8), 1-c.Rank(), 0)
}

func notCommitted(c *mpi.Comm) {
	matrix := mpi.BufferOf(make([]float64, 100))
	matrix.Count, matrix.Type = 1, mpi.Vector(10, 1, 10, mpi.Float64)
	c.Bcast(matrix, 0)
}

func elementsOverlap(c *mpi.Comm) {
	twice := mpi.Hvector(2, 1, 4, mpi.Float64).Commit() // of 8 bytes each
	b := mpi.Buffer{Bytes: make([]byte, 12), Count: 1, Type: twice}
	c.Irecv(b, 1-c.Rank(), 0)
}

func afterFree(c *mpi.Comm) {
	d := c.Dup()
	d.Free()
	d.Barrier()
}

func completedTwice(c *mpi.Comm) {
	x := make([]byte, 8)
	r := mpi.Isend(c, x, c.Rank(), 0)
	mpi.Recv(c, make([]byte, 8), c.Rank(), 0)
	again := r
	r.Wait()
	again.Wait()
}

func receivesOverlap(c *mpi.Comm) {
	x := make([]int32, 100)
	other := 1 - c.Rank()
	low := mpi.Irecv(c, x[:60], other, 0)
	high := mpi.Irecv(c, x[50:], other, 1)
	mpi.Send(c, make([]int32, 60), other, 0)
	mpi.Send(c, make([]int32, 50), other, 1)
	mpi.WaitAll([]mpi.Request{low, high}, nil)
}

func sendsWhatIsReceived(c *mpi.Comm) {
	x := make([]int32, 100)
	other := 1 - c.Rank()
	r := mpi.Irecv(c, x, other, 0)
	mpi.Send(c, x[:10], other, 0)
	r.Wait()
}

func inPlace(c *mpi.Comm) {
	x := make([]float64, 8)
	mpi.Allreduce(c, x, x, mpi.Sum)
}

func partsOverlap(c *mpi.Comm) {
	x := mpi.BufferOf(make([]int32, 7))
	c.Allgatherv(mpi.BufferOf(make([]int32, 4)), x, []int{4, 4}, []int{0, 3})
}

func takesLess(c *mpi.Comm) {
	mpi.Allreduce(c, make([]int32, 4), make([]int32, 3), mpi.Sum)
}

func leavesRequests(c *mpi.Comm) {
	x := make([]byte, 8)
	mpi.Irecv(c, x, (c.Rank()+1)%c.Size(), 7)
	c.Barrier()
}

func leavesMessage(c *mpi.Comm) {
	if c.Rank() == 0 {
		mpi.Send(c, []float64{1, 2}, 1, 7)
	}
	c.Barrier()
}

func fromElsewhere(c *mpi.Comm) {
	failed := make(chan any)
	go func() {
		defer func() { failed <- recover() }()
		mpi.Send(c, make([]byte, 8), c.Rank(), 0)
	}()
	panic(<-failed)
}

func notInIt(c *mpi.Comm) {
	first := c.Create(c.Group().Include([]int{0})) // nil at rank 1
	first.Barrier()
	mpi.Send(first, make([]byte, 1), mpi.ProcNull, 0)
}
