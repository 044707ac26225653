package schedule

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
)

// writeBinary writes what txt2bin does, as the comment in binary.go has it.
func (s *Schedule) writeBinary() []byte {
	var out, table bytes.Buffer
	le := binary.LittleEndian
	put := func(b *bytes.Buffer, x any) {
		if err := binary.Write(b, le, x); err != nil {
			panic(err) // a buffer takes all
		}
	}
	start := 6 + 16*uint64(s.CountRanks())
	for r := range s.CountRanks() {
		put(&table, start+uint64(out.Len()))
		from, to := s.firstOpOfRank[r], s.firstOpOfRank[r+1]
		waits := make([]uint32, to-from)
		roots := []uint32{}
		for _, d := range s.dependants[s.firstDependant[from]:s.firstDependant[to]] {
			waits[d>>1-from]++
		}
		for i, n := range waits {
			if n == 0 {
				roots = append(roots, uint32(i))
			}
		}
		put(&out, []uint32{to - from, uint32(len(roots))})
		put(&out, roots)
		var list []uint32
		for op := from; op < to; op++ {
			o := s.ops[op]
			put(&out, waits[op-from])
			put(&out, uint8(o.Kind)+1)
			put(&out, o.Peer)
			put(&out, o.Size)
			put(&out, o.Tag)
			put(&out, [2]uint8{o.CPU, o.NIC})
			for start := range uint32(2) {
				at := uint32(len(list))
				for _, d := range s.dependants[s.firstDependant[op]:s.firstDependant[op+1]] {
					if d&1 == start {
						list = append(list, d>>1-from)
					}
				}
				put(&out, [2]uint32{uint32(len(list)) - at, at})
			}
		}
		put(&out, list)
		put(&table, start+uint64(out.Len()))
	}
	var all bytes.Buffer
	put(&all, uint64(binaryCookie))
	put(&all, uint32(s.CountRanks()))
	put(&all, [2]uint8{uint8(s.cpus - 1), uint8(s.nics - 1)})
	all.Write(table.Bytes())
	all.Write(out.Bytes())
	return all.Bytes()
}

// Schedules are read from the binary form as from text, and one that was cut anywhere, or in which
// a byte is wrong, is an error or another schedule, and never a crash.
func TestReadBinary(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		s := random(rnd)
		file := s.writeBinary()
		got, err := Read(bytes.NewReader(file), "x", 0)
		if err != nil {
			t.Fatal(err)
		}
		// Text keeps the order of what waits for the start and for the end of an operation.
		for d := LogGP; d <= LGS; d++ {
			want, err := s.Simulate(Options{Params: DefaultParams, Dialect: d})
			again, errAgain := got.Simulate(Options{Params: DefaultParams, Dialect: d})
			if (err == nil) != (errAgain == nil) || err == nil && want.LastFinish != again.LastFinish {
				t.Fatalf("seed %d: %v, %v\n%s\n%s", seed, err, errAgain, text0(s), text0(got))
			}
		}
		for range 50 {
			cut := file[:binaryCookieBytes+rnd.IntN(len(file)-binaryCookieBytes)]
			var e *Error
			if _, err := Read(bytes.NewReader(cut), "x", 0); !errors.As(err, &e) || e.Line != 0 {
				t.Fatalf("seed %d: cut to %d of %d bytes: %v", seed, len(cut), len(file), err)
			}
			wrong := bytes.Clone(file)
			wrong[binaryCookieBytes+rnd.IntN(len(file)-binaryCookieBytes)] ^= 1 << rnd.IntN(8)
			Read(bytes.NewReader(wrong), "x", 1<<20)
		}
	}
	one := parse(t, "num_ranks 2\nrank 0 {\na: calc 5\nb: send 8b to 1\nb requires a\n}\nrank 1 {\nrecv 8b from 0\n}\n").writeBinary()
	for _, c := range []struct {
		at   int
		to   byte
		want string
	}{
		{8, 0, "x: byte 8: it has 0 ranks: a schedule has 1 to 268435456"},
		{12 + 2, 200, "x: byte 14: rank 0 stands at 200 to 132 of 183 bytes: the file was cut, or this is wrong"},
		{8 + 38 + 12 + 4, 9, "x: byte 62: rank 0, operation 0: kind 9 is none of 1, 2 and 3"},
		{8 + 38 + 12 + 9 + 7, 1, "x: byte 67: rank 0, operation 0: calc 72057594037927941: the number is too large"},
		{8 + 38 + 12 + 39 + 5, 2, "x: byte 102: rank 0, operation 1: rank 2, and there are 2 ranks"},
		{8 + 38 + 12 + 23, 9, "x: byte 81: rank 0, operation 0: dependants 0 to 9 of 1"},
		{8 + 38 + 12 + 78, 0, "x: byte 46: rank 0 waits for itself: operation 0 is in a cycle of dependencies"},
		{8 + 38 + 12 + 78, 7, "x: byte 136: rank 0: operation 7 waits, and there are 2"},
	} {
		bad := bytes.Clone(one)
		bad[c.at] = c.to
		if _, err := Read(bytes.NewReader(bad), "x", 0); err == nil || err.Error() != c.want {
			t.Errorf("byte %d is %d: %v, want %s", c.at, c.to, err, c.want)
		}
	}
}

func FuzzReadBinary(f *testing.F) {
	for seed := range uint64(5) {
		f.Add(random(rand.New(rand.NewPCG(seed, 6))).writeBinary())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := readBinary(bytes.NewReader(b), "x", 1<<20); err == nil {
			if again, err := readBinary(bytes.NewReader(s.writeBinary()), "x", 1<<24); err != nil || text0(again) != text0(s) {
				t.Fatalf("%v\n%s", err, text0(s))
			}
		}
	})
}
