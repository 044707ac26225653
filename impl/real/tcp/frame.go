package tcp

import (
	"encoding/binary"
	"fmt"

	"github.com/loggp/loggp/impl/device"
)

// A frame is a header of words in little-endian order, and the bytes that it counts. The first word
// has in its bits
//
//	0-39   bytes behind the header
//	40-47  the kind of the frame, of those below
//	48-63  a mark that distinguishes a frame from other data
//
// and the others are the head of the packet.
const headerSize = 8 * (1 + device.HeadWords)

const (
	lengthBits = 40
	kindShift  = lengthBits
	markShift  = kindShift + 8
	frameMark  = 'G'<<8 | 'L'
)

// frameKind is the kind of a frame.
type frameKind uint8

const (
	packetFrame frameKind = iota + 1
	waitFrame             // to rank 0: the rank waits, and its progress
	endFrame              // the rank has ended, and its progress; nothing follows
)

// maxPacketData is the most bytes of data in a packet.
const maxPacketData = 1<<lengthBits - 1

// encodeHeader writes a header.
func encodeHeader(b *[headerSize]byte, k frameKind, head *device.Head, n int) {
	binary.LittleEndian.PutUint64(b[:], frameMark<<markShift|uint64(k)<<kindShift|uint64(n))
	for i, w := range head {
		binary.LittleEndian.PutUint64(b[8+8*i:], w)
	}
}

// parseFirstWord reads the first word of a header. The error says why it cannot be that of a frame
// in a job of that many ranks.
func parseFirstWord(b []byte, ranks int) (frameKind, int, error) {
	w := binary.LittleEndian.Uint64(b)
	k, n := frameKind(w>>kindShift), int(w&maxPacketData)
	switch {
	case w>>markShift != frameMark:
		return 0, 0, fmt.Errorf("it begins with %#016x, which is no frame of this program", w)
	case k < packetFrame || k > endFrame:
		return 0, 0, fmt.Errorf("it is of an unknown kind %d", k)
	case k != packetFrame && n != progressSize(ranks):
		return 0, 0, fmt.Errorf("it is a frame of kind %d with %d bytes in place of %d", k, n, progressSize(ranks))
	}
	return k, n, nil
}

// decodeHead reads the head of a packet from a header.
func decodeHead(b []byte, head *device.Head) {
	for i := range head {
		head[i] = binary.LittleEndian.Uint64(b[8+8*i:])
	}
}
