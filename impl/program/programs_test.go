package program

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/proto"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

func library() *model.Library {
	l := &model.Library{Name: "test", Proto: model.ProtoSettings{Fallback: "RTA", WindowBytes: 1 << 16}}
	for m := range model.NumModes {
		l.Proto.Rules = append(l.Proto.Rules, model.ProtocolRule{Mode: m, MaxBytes: -1, Protocol: "T"})
	}
	l.Proto.Rules[model.SynchronousMode].Protocol = "TA"
	return l
}

// Programs get the right results on any number of ranks, also with less work than ranks.
func TestPrograms(t *testing.T) {
	for _, p := range mpiPrograms() {
		for _, ranks := range []int{1, 2, 3, 4, 6, 9} {
			for _, size := range []int{1, 5, 9, 20} {
				err := mpi.Run(loop.New(ranks), mpi.Options{Engine: proto.New, Library: library()}, func(c *mpi.Comm) error {
					err := p.Run(c, &Settings{Size: size, Rounds: p.Defaults.Rounds}, new(Result))
					return err
				})
				if few := p.Name == "cg" && size < ranks || p.Name == "stencil" && size == 1 && ranks > 1; few {
					if err == nil || !strings.Contains(err.Error(), "larger") {
						t.Errorf("%s of %d on %d ranks: %v", p.Name, size, ranks, err)
					}
				} else if err != nil {
					t.Errorf("%s of %d on %d ranks: %v", p.Name, size, ranks, err)
				}
			}
		}
	}
}

// Large matrices have rank one; the data of their columns is checked, too.
func TestColumnsOfRankOne(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		for _, world := range []device.World{loop.New(ranks), &altered{World: loop.New(ranks), n: 1}} {
			_, bad := world.(*altered)
			err := mpi.Run(world, mpi.Options{Engine: proto.New, Library: library()}, func(c *mpi.Comm) error {
				return runColumns(c, &Settings{Size: maxFullMatrixOrder + 1, Rounds: 1})
			})
			if fails := err != nil; fails != (bad && ranks > 1) {
				t.Errorf("%d ranks, data changed on its way: %v: %v", ranks, bad, err)
			}
		}
	}
}

// altered is a world in which one bit changes in the n-th packet of rank 1 that has at least 8
// bytes of data.
type altered struct {
	device.World
	n    int
	done bool
}

func (w *altered) Run(program func(device.Port) error) error {
	return w.World.Run(func(p device.Port) error {
		if p.Rank() == 1 {
			p = &alteringPort{Port: p, altered: w, left: w.n}
		}
		return program(p)
	})
}

type alteringPort struct {
	device.Port
	*altered
	left int
}

// Memory is none, so that all bytes go by packets.
func (p *alteringPort) Memory() device.Memory { return nil }

func (p *alteringPort) Send(dst int, q *device.Packet) {
	if len(q.Data) >= 8 {
		if p.left == 0 {
			q = &device.Packet{Head: q.Head, Data: bytes.Clone(q.Data)}
			q.Data[6] ^= 4
			p.done = true
		}
		p.left--
	}
	p.Port.Send(dst, q)
}

// An altered message makes the result wrong, and a rank reports it.
func TestPlantedFaults(t *testing.T) {
	for _, p := range mpiPrograms() {
		changed := 0
		for nth := range 40 {
			w := &altered{World: loop.New(4), n: nth}
			err := mpi.Run(w, mpi.Options{Engine: proto.New, Library: library()}, func(c *mpi.Comm) error {
				err := p.Run(c, &Settings{Size: 9, Rounds: 3}, new(Result))
				return err
			})
			if !w.done {
				break
			}
			if changed++; err == nil {
				t.Errorf("%s: message %d was changed, and the result was accepted", p.Name, nth)
			}
		}
		if changed < 3 {
			t.Errorf("%s: only %d messages were changed", p.Name, changed)
		}
	}
}

// The largest singular values are those of gonum, on any number of ranks, where there are as many
// steps as rows.
func TestSingularValues(t *testing.T) {
	const n = 25
	dense := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range min(n, maxRowElements) {
			column, value := sparseElement(n, i, j)
			dense.Set(i, column, dense.At(i, column)+value)
		}
	}
	var known mat.SVD
	if !known.Factorize(dense, mat.SVDNone) {
		t.Fatal("no singular values")
	}
	want := known.Values(nil)[:singularValues]
	for _, ranks := range []int{1, 3, 4} {
		err := mpi.Run(loop.New(ranks), mpi.Options{Engine: proto.New, Library: library()}, func(c *mpi.Comm) error {
			got, err := newLanczos(c, &Settings{Size: n}).leadingSingularValues()
			if err == nil && !floats.EqualApprox(got, want, 1e-9) {
				err = resultError(c, "%v, want %v", got, want)
			}
			return err
		})
		if err != nil {
			t.Errorf("%d ranks: %v", ranks, err)
		}
	}
}

// An iteration of a random matrix of order 10,000 with a million elements takes so many products as
// docs/mpi-start.md says: 824 is the median that table 5 of MPI-StarT is scaled up to.
func TestProductsOfLargeMatrices(t *testing.T) {
	if os.Getenv("LOGGP_SOAK") == "" {
		t.Skip("LOGGP_SOAK is not set")
	}
	const n = 10_000
	var products []int
	for seed := range uint64(7) {
		err := mpi.Run(loop.New(1), mpi.Options{Engine: proto.New, Library: library()}, func(c *mpi.Comm) error {
			y := newLanczos(c, &Settings{Size: n})
			y.fillRows()
			if r := rand.New(rand.NewPCG(seed-1, 0)); seed > 0 { // the first is the program's own
				for i := range y.values {
					y.columns[i], y.values[i] = int32(r.IntN(n)), r.Float64()
				}
			}
			_, err := y.leadingSingularValues()
			products = append(products, y.productCount)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(products)
	if products[0] != 552 || products[3] != 824 || products[6] != 1821 {
		t.Errorf("%d products, want 552 to 1821 and 824 in the middle", products)
	}
}

// A matrix that is too large to be held takes a sample of the products.
func TestSample(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		err := mpi.Run(loop.New(ranks), mpi.Options{Engine: proto.New, Library: library()}, func(c *mpi.Comm) error {
			y := newLanczos(c, &Settings{Size: maxHeldRows + 1})
			_, err := y.leadingSingularValues()
			if err == nil && (y.productCount != productsWithoutElements || y.columns != nil) {
				err = resultError(c, "%d products of %d elements, want %d of none", y.productCount, len(y.columns), productsWithoutElements)
			}
			return err
		})
		if err != nil {
			t.Errorf("%d ranks: %v", ranks, err)
		}
	}
}
