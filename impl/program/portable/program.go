package portable

import (
	"fmt"

	"github.com/loggp/loggp/model/unit"
)

// Program is a program for any library. Run is its code for each rank. It returns an error if the
// result is wrong or the settings are invalid.
type Program struct {
	Name, Description string
	SizeUnit          string // what Settings.Size counts
	Defaults          Settings
	Items             string // what Result.Items counts
	DrawsPicture      bool   // and needs a Compositor
	ChargesOperations bool   // it charges the time of operations
	Run               func(p Process, s Settings) (Result, error)
}

// Settings are the amount of work of a program.
type Settings struct {
	Size          int       // of the problem, in units of Program.Size
	Rounds        int       // repetitions
	OperationTime unit.Time // average time of an arithmetic operation or comparison, with its memory accesses
}

// Result is what rank 0 knows at the end of a program.
type Result struct {
	Rounds  int
	Items   int       // in a round
	Time    unit.Time // of a round, the mean: until rank 0 has its result
	Picture *Picture  // the last; nil: none
}

// FrameItems is Program.Items of a program whose items are its pictures.
const FrameItems = "frames"

// Programs are all programs.
var Programs = []Program{exchangeProgram, volumeProgram, spheresProgram}

// chargeOperations occupies the processor for a number of operations.
func chargeOperations(p Process, s Settings, operations int) {
	p.Compute(s.OperationTime.Times(operations))
}

// agreeOnError returns an error on every rank if any rank has one, so that all ranks stop together.
func agreeOnError(p Process, err error) error {
	bad := []float64{0}
	if err != nil {
		bad[0] = 1
	}
	p.Reduce(bad, Sum)
	word := []byte{0}
	if p.Rank() == 0 && bad[0] > 0 {
		word[0] = 1
	}
	p.Broadcast(word)
	if err == nil && word[0] != 0 {
		err = fmt.Errorf("rank %d: the result of other ranks is wrong", p.Rank())
	}
	return err
}
