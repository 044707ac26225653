package proto

import (
	"testing"

	"github.com/loggp/loggp/model"
)

// The head of a packet is read as it was written, also with the largest values.
func TestHead(t *testing.T) {
	for _, h := range []head{
		{},
		{kind: kindRemainder, protocol: 255, mode: model.BufferedMode, tag: 1<<31 - 1, context: 1<<32 - 1, credit: 1<<32 - 1, size: 1<<62 + 1, from: 1<<32 - 1, to: 1<<32 - 2, key: 1<<64 - 1},
	} {
		w := h.words()
		var got head
		if got.decode(&w); got != h {
			t.Errorf("read %+v, written %+v", got, h)
		}
	}
	for _, off := range []int{0, 1, 1<<31 - 1, 1 << 31, 1<<32 + 5, 1<<62 + 1, -1} {
		h := head{kind: kindGetRequest}
		h.setOffset(off)
		w := h.words()
		var got head
		if got.decode(&w); got.offset() != off {
			t.Errorf("read offset %d, written %d", got.offset(), off)
		}
	}
}
