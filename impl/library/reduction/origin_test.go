package reduction

import (
	"testing"

	"github.com/loggp/loggp/impl/library/datatype"
)

func TestApplyHonoursTheOriginOfEachOperand(t *testing.T) {
	in := datatype.Buffer{Bytes: raw[int32](1, 2), Count: 1, Type: datatype.Int32}
	inout := datatype.Buffer{Bytes: raw[int32](10, 20), Origin: 4, Count: 1, Type: datatype.Int32}
	Sum.Apply(in, inout)
	if got := elementsOf[int32](inout.Bytes); got[0] != 10 || got[1] != 21 {
		t.Errorf("result %v: want [10 21]", got)
	}
}

func TestCheckRejectsAFreedOperation(t *testing.T) {
	o := New(func(in, inout datatype.Buffer) {}, true)
	if err := o.Check(datatype.Int32); err != nil {
		t.Fatal(err)
	}
	if err := o.Free(); err != nil {
		t.Fatal(err)
	}
	if o.Check(datatype.Int32) == nil {
		t.Error("no error for a freed operation")
	}
}
