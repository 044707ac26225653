package portable

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/engine/proto"
	"github.com/loggp/loggp/impl/library/aclmpl"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model"
)

// libraries are those that have all calls, without remote memory's costs.
func libraries() []*Library {
	l := &model.Library{Name: "test", Proto: model.ProtoSettings{Fallback: "RTA", WindowBytes: 1 << 16}}
	for m := range model.NumModes {
		l.Proto.Rules = append(l.Proto.Rules, model.ProtocolRule{Mode: m, MaxBytes: -1, Protocol: "T"})
	}
	l.Proto.Rules[model.SynchronousMode].Protocol = "TA"
	return append(ACLMPLLibraries("aclmpl", aclmpl.Options{MinBinarySwapElements: 100}), MPILibraries("mpi", mpi.Options{Engine: proto.New, Library: l})...)
}

// run runs a program by a library between goroutines.
func run(t *testing.T, l *Library, p Program, ranks, size int, of func(Process) Process) (r Result, err error) {
	t.Helper()
	err = l.Run(loop.New(ranks), size, func(x Process) error {
		got, err := p.Run(of(x), Settings{Size: size, Rounds: 2})
		if x.Rank() == 0 {
			r = got
		}
		return err
	})
	return r, err
}

func itself(p Process) Process { return p }

// Programs get the right results by each library on any number of ranks.
func TestPrograms(t *testing.T) {
	for _, p := range Programs {
		for _, l := range libraries() {
			for _, ranks := range []int{1, 2, 3, 7, 8} {
				for _, size := range []int{1, 8, 30} {
					r, err := run(t, l, p, ranks, size, itself)
					if few := p.Name == "volume" && size < ranks; few {
						if err == nil || !strings.Contains(err.Error(), "larger") {
							t.Errorf("%s of %d on %d ranks: %v", p.Name, size, ranks, err)
						}
						continue
					}
					if err != nil {
						t.Errorf("%s %s: %s of %d on %d ranks: %v", l.Name, l.Mode, p.Name, size, ranks, err)
					} else if p.DrawsPicture {
						var b bytes.Buffer
						if err := r.Picture.Write(&b); err != nil {
							t.Error(err)
						}
						if x, err := png.Decode(&b); err != nil || x.Bounds().Dx() != r.Picture.Edge {
							t.Errorf("%s: the picture: %v, %v", p.Name, x.Bounds(), err)
						}
					}
				}
			}
		}
	}
}

// swapped combines operands in the wrong order, or loses those of a rank, or damages a message.
type swapped struct {
	Process
	fault string
}

func (s swapped) Composite(x []Pixel, combine func(lower, higher, result []Pixel)) {
	if s.fault == "lost" && s.Rank() == 1 {
		clear(x)
	}
	s.Process.(Compositor).Composite(x, func(lower, higher, result []Pixel) {
		if s.fault == "order" {
			lower, higher = higher, lower
		}
		combine(lower, higher, result)
	})
}

func (s swapped) Exchange(dst int, out []byte, src int, in []byte) {
	s.Process.Exchange(dst, out, src, in)
	if s.fault == "damaged" && s.Rank() == 2 {
		in[len(in)-1]++
	}
}

// Programs find results that are wrong.
func TestProgramsFindFaults(t *testing.T) {
	for _, l := range libraries() {
		for fault, p := range map[string]Program{"order": volumeProgram, "lost": spheresProgram, "damaged": exchangeProgram} {
			_, err := run(t, l, p, 4, 30, func(p Process) Process { return swapped{p, fault} })
			if err == nil || !strings.Contains(err.Error(), "wrong") {
				t.Errorf("%s: a fault, %s, is not found: %v", p.Name, fault, err)
			}
		}
	}
}
