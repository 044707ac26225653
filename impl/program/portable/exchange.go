package portable

import (
	"fmt"
	"math/bits"

	"github.com/loggp/loggp/model/unit"
)

var exchangeProgram = Program{
	Name: "exchange-all", Description: "each rank exchanges messages with each other, one after the other", Items: "messages",
	SizeUnit: "bytes of a message", Defaults: Settings{Size: 1024, Rounds: 1}, Run: runExchange,
}

// runExchange has a step for each other rank. In step i the partner is rank xor i if the number of
// ranks is a power of two; else a rank sends to the one i above and receives from the one i below.
// The content of a message tells its sender and round.
func runExchange(p Process, s Settings) (Result, error) {
	n := p.Size()
	out, in := make([]byte, s.Size), make([]byte, s.Size)
	var wrong error
	p.Barrier()
	begin := p.Now()
	for round := range s.Rounds {
		fillMessage(out, p.Rank(), round)
		for i := 1; i < n; i++ {
			to, from := (p.Rank()+i)%n, (p.Rank()-i+n)%n
			if bits.OnesCount(uint(n)) == 1 {
				to = p.Rank() ^ i
				from = to
			}
			p.Exchange(to, out, from, in)
			if at := findWrongByte(in, from, round); at >= 0 && wrong == nil {
				wrong = fmt.Errorf("rank %d: byte %d of the message of rank %d in round %d is wrong", p.Rank(), at, from, round)
			}
		}
	}
	p.Barrier()
	took := p.Now() - begin
	return Result{Rounds: s.Rounds, Items: n * (n - 1), Time: took / unit.Time(s.Rounds)}, agreeOnError(p, wrong)
}

// fillMessage fills a message with what only its sender has, in its first bytes and its last.
func fillMessage(b []byte, rank, round int) {
	for i := range b {
		b[i] = messageByte(i, rank, round)
	}
}

func messageByte(i, rank, round int) byte {
	x := uint64(rank)<<20 ^ uint64(round)
	return byte(x>>(8*(i%5))) ^ byte(i/5)
}

// findWrongByte returns the first of a message's outer 16 bytes that is not its sender's, or -1.
func findWrongByte(b []byte, rank, round int) int {
	for i := range b {
		if i == 8 && len(b) > 16 {
			return findWrongEndByte(b, rank, round)
		}
		if b[i] != messageByte(i, rank, round) {
			return i
		}
	}
	return -1
}

func findWrongEndByte(b []byte, rank, round int) int {
	for i := len(b) - 8; i < len(b); i++ {
		if b[i] != messageByte(i, rank, round) {
			return i
		}
	}
	return -1
}
