package devicetest

import (
	"errors"
	"fmt"

	"github.com/loggp/loggp/impl/device"
)

// Long data is worth no copy: a port may put it where its receiver will want it. It has to be all
// there when the packet is received, if the packet says that it is there, and nothing else may be:
// not data for which no place was named, nor that of other packets, even if it came while the rank
// sent.
func checkDataPlacement(open func(int) device.World) error {
	const n = 3
	sizes := []int{0, 8, 5000, 70000, 40000, 1, 200000, 300000, 1 << 20, 65536}
	return runWithinLimit(open(n), func(p *rank) error {
		port, ok := p.Port.(device.DirectPlacer)
		if !ok {
			return errors.New(missingCapabilityPrefix + "places for data")
		}
		var rooms [n][][]byte // for each packet; every other one is named
		for src := range rooms {
			for _, size := range sizes {
				rooms[src] = append(rooms[src], make([]byte, size))
			}
		}
		var wrong error
		port.SetPlacement(func(src int, head *device.Head, size int) []byte {
			if *head == barrierHead {
				return nil
			}
			i := head[0]
			if src < 0 || src >= n || head[1] != uint64(src) || i >= uint64(len(sizes)) || size != sizes[i] {
				wrong = fmt.Errorf("rank %d: asked where %d bytes of rank %d go whose head is %v", p.Rank(), size, src, head)
				return nil
			}
			if i%2 == 0 {
				return nil
			}
			return rooms[src][i]
		})
		for i, size := range sizes {
			for dst := range n {
				p.Send(dst, &device.Packet{Head: device.Head{uint64(i), uint64(p.Rank())}, Data: randomBytes(size, p.Rank(), i)})
			}
		}
		for range n * len(sizes) {
			q := p.recvNext()
			i := q.Head[0]
			if err := checkSameBytes(q.Data, randomBytes(sizes[i], q.Src, int(i))); err != nil {
				return fmt.Errorf("rank %d: packet %d of rank %d: %w", p.Rank(), i, q.Src, err)
			}
			for k, b := range rooms[q.Src] {
				if k%2 == 0 {
					if err := checkSameBytes(b, make([]byte, len(b))); err != nil {
						return fmt.Errorf("rank %d: the place of packet %d of rank %d, which was not named: %w", p.Rank(), k, q.Src, err)
					}
				}
			}
		}
		if wrong != nil {
			return wrong
		}
		return p.checkNoPacketLeft()
	})
}
