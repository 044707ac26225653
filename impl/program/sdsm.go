package program

import (
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
)

var sdsmProgram = Program{
	Name: "sdsm", Description: "software distributed shared memory: each node writes to pages of its own, and a barrier makes all copies consistent",
	SizeUnit: "pages that each node writes to", Defaults: Settings{Size: 8, Rounds: 10}, MaxSize: 4096, Parameters: operationParameters, Run: withoutResult(runSDSM),
}

// SharedMemory is software distributed shared memory. Each node has a copy: pages, each with a
// home, and a barrier that makes all copies consistent. The protocol is eager and home-based: at
// the barrier writers send the pages that they have written to their homes, and homes send them to
// all others, each by one exchange among all nodes. As each node is home to some page, none leaves
// the second exchange before all others have entered it. Which node writes to which pages between
// two barriers is agreed upon before, so that all nodes know what is exchanged. Page p is at home
// on node p modulo their number, and node i writes to the pages from i times their number on.
//
// A. V. Karwande, CC-MPI (Florida State University, 2003), section 4.3 has such a protocol and
// program, and does not give the size of a page, the homes, or who shares what.
type SharedMemory struct {
	c            *mpi.Comm
	pageBytes    int
	pagesPerNode int // pages by each node
	bytes        []byte

	writtenPages, receivedHomePages BlocksByRank // pages that this node has written, and those that it is the home of
	ownHomePages, pagesOfOtherHomes BlocksByRank // the latter, to be sent, and those of other homes
	sendToHomes                     func()
	sendFromHomes                   func()
}

// sdsmPageBytes is what the program's memory moves at a time, in bytes: a page of the processor.
const sdsmPageBytes = 4096

// BlocksByRank is data that a rank has for each other rank, or gets of it: Counts[i] bytes from
// Offsets[i] on.
type BlocksByRank struct {
	Bytes           []byte
	Counts, Offsets []int
}

// NewBlocks returns memory for a number of bytes for each rank.
func NewBlocks(ranks int, count func(rank int) int) BlocksByRank {
	b := BlocksByRank{Counts: make([]int, ranks), Offsets: make([]int, ranks)}
	total := 0
	for i := range ranks {
		b.Counts[i], b.Offsets[i] = count(i), total
		total += b.Counts[i]
	}
	b.Bytes = make([]byte, total)
	return b
}

// ForEachBlock calls a function with the block of each rank.
func (b BlocksByRank) ForEachBlock(do func(rank int, block []byte)) {
	for i, n := range b.Counts {
		do(i, b.Bytes[b.Offsets[i]:b.Offsets[i]+n])
	}
}

// NewSharedMemory returns the copy of this rank, of pages of some bytes. prepare returns what
// exchanges blocks that have
// these places, of a pattern that says how many bytes each rank sends to each other one.
func NewSharedMemory(c *mpi.Comm, pageBytes, written int, prepare func(pattern [][]int, out, in BlocksByRank) func()) *SharedMemory {
	n, me := c.Size(), c.Rank()
	m := &SharedMemory{c: c, pageBytes: pageBytes, pagesPerNode: written, bytes: make([]byte, n*written*pageBytes)}
	pattern := func(pages func(from, to int) []int) [][]int {
		all := make([][]int, n)
		for i := range all {
			all[i] = make([]int, n)
			for j := range all[i] {
				if i != j {
					all[i][j] = len(pages(i, j)) * pageBytes
				}
			}
		}
		return all
	}
	exchange := func(pattern [][]int) (out, in BlocksByRank, call func()) {
		out, in = NewBlocks(n, func(i int) int { return pattern[me][i] }), NewBlocks(n, func(i int) int { return pattern[i][me] })
		return out, in, prepare(pattern, out, in)
	}
	m.writtenPages, m.receivedHomePages, m.sendToHomes = exchange(pattern(m.pagesWrittenForHome))
	m.ownHomePages, m.pagesOfOtherHomes, m.sendFromHomes = exchange(pattern(func(from, _ int) []int { return m.homePages(from) }))
	return m
}

// Page returns a page, to read or to write to.
func (m *SharedMemory) Page(p int) []byte { return m.bytes[p*m.pageBytes : (p+1)*m.pageBytes] }

// PageCount returns how many pages there are.
func (m *SharedMemory) PageCount() int { return m.c.Size() * m.pagesPerNode }

// WrittenPages returns the pages that this rank writes to: from, from + 1 … to - 1.
func (m *SharedMemory) WrittenPages() (from, to int) {
	return m.c.Rank() * m.pagesPerNode, (m.c.Rank() + 1) * m.pagesPerNode
}

// pagesWrittenForHome returns the pages that a node writes to and that are at home on another.
func (m *SharedMemory) pagesWrittenForHome(by, home int) (list []int) {
	for p := by * m.pagesPerNode; p < (by+1)*m.pagesPerNode; p++ {
		if p%m.c.Size() == home {
			list = append(list, p)
		}
	}
	return list
}

// homePages returns the pages that are at home on a node.
func (m *SharedMemory) homePages(home int) (list []int) {
	for p := home; p < m.PageCount(); p += m.c.Size() {
		list = append(list, p)
	}
	return list
}

// Barrier makes all copies consistent: what any rank wrote before it all ranks read behind it.
func (m *SharedMemory) Barrier() {
	me := m.c.Rank()
	m.writtenPages.ForEachBlock(func(home int, b []byte) { m.copyToBlock(b, m.pagesWrittenForHome(me, home)) })
	m.sendToHomes()
	m.receivedHomePages.ForEachBlock(func(by int, b []byte) { m.copyFromBlock(b, m.pagesWrittenForHome(by, me)) })
	m.ownHomePages.ForEachBlock(func(_ int, b []byte) { m.copyToBlock(b, m.homePages(me)) })
	m.sendFromHomes()
	m.pagesOfOtherHomes.ForEachBlock(func(home int, b []byte) { m.copyFromBlock(b, m.homePages(home)) })
}

// copyToBlock copies pages to a block, and scatter from it. That of the rank itself is empty.
func (m *SharedMemory) copyToBlock(block []byte, pages []int) {
	for i := 0; i*m.pageBytes < len(block); i++ {
		copy(block[i*m.pageBytes:], m.Page(pages[i]))
	}
}

func (m *SharedMemory) copyFromBlock(block []byte, pages []int) {
	for i := 0; i*m.pageBytes < len(block); i++ {
		copy(m.Page(pages[i]), block[i*m.pageBytes:])
	}
}

// runSDSM lets each node write to all of its pages what it reads in those of the node behind it, by
// MPI_Alltoallv: so values go around the ring of nodes.
func runSDSM(c *mpi.Comm, s *Settings) error {
	m := NewSharedMemory(c, sdsmPageBytes, s.Size, func(_ [][]int, out, in BlocksByRank) func() {
		return func() {
			c.Alltoallv(mpi.BufferOf(out.Bytes), out.Counts, out.Offsets, mpi.BufferOf(in.Bytes), in.Counts, in.Offsets)
		}
	})
	from, to := m.WrittenPages()
	value := func(page, turn int) byte { return byte(7*((page+turn*s.Size)%m.PageCount()) + 3) }
	for p := range m.PageCount() {
		fillPage(m.Page(p), value(p, 0))
	}
	var err error
	for turn := range s.Rounds {
		for p := from; p < to; p++ {
			fillPage(m.Page(p), m.Page((p + s.Size) % m.PageCount())[sdsmPageBytes-1])
		}
		chargeOperations(c, s, s.Size*sdsmPageBytes)
		m.Barrier()
		for p := range m.PageCount() {
			if v := value(p, turn+1); err == nil && slices.ContainsFunc(m.Page(p), func(b byte) bool { return b != v }) {
				err = resultError(c, "page %d is not consistent behind barrier %d", p, turn)
			}
		}
	}
	return agreeOnError(c, err)
}

func fillPage(page []byte, v byte) {
	for i := range page {
		page[i] = v
	}
}
