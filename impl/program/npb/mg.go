package npb

import (
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
)

var mgBenchmark = Benchmark{
	Name: "npb-mg", Description: "multigrid: V-cycles for Poisson's equation in a periodic cube, by exchanges of faces at all distances", Classes: "SWA", Run: runMG,
}

// mgClass is a class of MG: 2^log points on a side, V-cycles, and the norm of the residual.
type mgClass struct {
	logPoints, cycles int
	norm              float64
}

const (
	mgSeed      = 314159265
	mgCharges   = 10 // of either sign
	mgTolerance = 1e-8
)

// Coefficients of the operators by the number of coordinates in which a neighbour differs.
// RNR-94-007, section 2.2.2; those that are 0 are left out.
const (
	mgResidualFactor0, mgResidualFactor2, mgResidualFactor3 = -8.0 / 3, 1.0 / 6, 1.0 / 12
	mgSmoothFactor0, mgSmoothFactor1, mgSmoothFactor2       = -3.0 / 8, 1.0 / 32, -1.0 / 64
)

// Operations of a point.
const (
	mgResidualOperations    = 15
	mgSmoothOperations      = 16
	mgProjectOperations     = 24 // of the coarse grid
	mgInterpolateOperations = 20 // of the coarse grid
	mgNormOperations        = 4
)

// grid is a rank's part of a level's grid with a border of one point, the first coordinate fastest.
type grid struct {
	n      [3]int // with the borders
	values []float64
}

func newGrid(n [3]int) grid { return grid{n, make([]float64, n[0]*n[1]*n[2])} }

func (g grid) index(i, j, k int) int { return i + g.n[0]*(j+g.n[1]*k) }

func (g grid) points() int { return (g.n[0] - 2) * (g.n[1] - 2) * (g.n[2] - 2) }

// gridLevel is what a rank has of a grid, and who its neighbours are. Coarse grids have fewer
// points than ranks in an axis: then some ranks have no part, and finer levels give them what they
// need.
type gridLevel struct {
	u, r                                   grid
	isIdle                                 bool      // the rank has no points
	neighbour                              [3][2]int // by axis: in the direction down, up
	givesBorderToIdle, takesBorderWhenIdle [3]bool   // by axis: the rank passes its border to one that is idle on the next coarser level, or gets it
}

// mgRank is a rank's part of the problem.
type mgRank struct {
	comm                               *mpi.Comm
	s                                  Settings
	levels                             []gridLevel // the coarsest first
	v                                  grid        // right-hand side, on the finest level
	first                              [3]int      // first point of the rank in the cube
	side                               int
	sendDownBuffer, sendUpBuffer       []float64 // buffers of what is sent
	receiveUpBuffer, receiveDownBuffer []float64 // of what is received from the neighbours up and down
	nearSums, farSums                  []float64 // partial sums along a row
	receivesFromAnySource              bool      // receives are from any source
	clearedNumbers                     int       // numbers of a receive buffer, which is cleared before it is used
}

// runMG is the kernel of RNR-94-007, section 2.2.2. Class W is that of NPB 2.
func runMG(c *mpi.Comm, s Settings) (Result, error) {
	// Norms: mg.f of NPB 2.3. After 40 cycles, that of class W consists of rounding errors.
	k, err := classOf(s, "npb-mg", mgClass{5, 4, 0.5307707005734e-04}, mgClass{6, 40, 0.250391406439e-17}, mgClass{8, 4, 0.2433365309069e-05})
	if err != nil {
		return Result{}, err
	}
	log, err := log2Ranks(c, "npb-mg", 64)
	if err != nil {
		return Result{}, err
	}
	y := &mgRank{comm: c, s: s, side: 1 << k.logPoints}
	y.placeLevels(k.logPoints, log)
	top := &y.levels[k.logPoints-1]
	start := func() {
		clear(top.u.values)
		y.chargePoints()
	}
	start()
	y.setResidual(top, y.v)
	y.runCycle()
	y.setResidual(top, y.v)
	start()
	norm := 0.0
	time := timeSection(c, func() {
		y.setResidual(top, y.v)
		y.norm(top.r)
		for range k.cycles {
			y.runCycle()
			y.setResidual(top, y.v)
		}
		norm = y.norm(top.r)
	})
	points := float64(y.side * y.side * y.side)
	return Result{
		Class: s.classLetter(), Size: fmt.Sprintf("%dx%dx%d", y.side, y.side, y.side), Iterations: k.cycles, Time: time,
		Operations: 58 * float64(k.cycles) * points, OperationKind: "floating point", IsVerified: isClose(norm, k.norm, mgTolerance),
	}, nil
}

// placeLevels distributes the ranks over the cube, and makes the levels.
func (y *mgRank) placeLevels(levels, log int) {
	side := [3]int{1 << (log / 3), 1 << ((log - log/3) / 2), 0}
	side[2] = y.comm.Size() / (side[0] * side[1])
	me := [3]int{y.comm.Rank() % side[0], y.comm.Rank() / side[0] % side[1], y.comm.Rank() / (side[0] * side[1])}
	rank := func(p [3]int) int { return p[0] + side[0]*(p[1]+side[1]*p[2]) }
	y.levels = make([]gridLevel, levels)
	step := [3]int{1, 1, 1} // to the next rank that is not idle
	for l := levels - 1; l >= 0; l-- {
		v := &y.levels[l]
		var n [3]int
		for a := range 3 {
			// A rank has the same number of points as all others, or one for several ranks.
			own := func(place int) int { return (place+1)<<(l+1)/side[a] - place<<(l+1)/side[a] }
			mine, next := own(me[a]), own(me[a]+step[a])
			if mine == 0 || next == 0 {
				step[a] *= 2
			}
			if l+1 < levels {
				y.levels[l+1].givesBorderToIdle[a] = next == 0 && mine == 1
				y.levels[l+1].takesBorderWhenIdle[a] = next == 1 && mine == 0
			}
			n[a] = mine + 2
			v.isIdle = v.isIdle || mine == 0
		}
		v.u, v.r = newGrid(n), newGrid(n)
		for a := range 3 {
			for d, by := range []int{-step[a], step[a]} {
				p := me
				p[a] = ((p[a]+by)%side[a] + side[a]) % side[a]
				v.neighbour[a][d] = rank(p)
			}
		}
	}
	n := y.levels[levels-1].u.n
	for a := range 3 {
		y.first[a] = me[a] * y.side / side[a]
	}
	y.v = newGrid(n)
	y.receivesFromAnySource = !slices.ContainsFunc(y.levels, func(v gridLevel) bool {
		return v.isIdle || v.givesBorderToIdle != [3]bool{} || v.takesBorderWhenIdle != [3]bool{}
	})
	most := 2 * slices.Max(n[:]) * slices.Max(n[:])
	y.clearedNumbers = most
	y.sendDownBuffer, y.sendUpBuffer, y.receiveDownBuffer, y.receiveUpBuffer = make([]float64, most), make([]float64, most), make([]float64, most), make([]float64, most)
	y.nearSums, y.farSums = make([]float64, n[0]), make([]float64, n[0])
}

// chargePoints sets the right-hand side to +1 at the points with the ten largest random numbers, to
// −1 at those with the ten smallest, and to 0 elsewhere.
func (y *mgRank) chargePoints() {
	g := y.v
	r := randomNumbers{mgSeed}
	r.skipNumbers(y.first[0] + y.side*(y.first[1]+y.side*y.first[2]))
	var least, most []float64 // in ascending order
	for k := 1; k < g.n[2]-1; k++ {
		plane := r
		for j := 1; j < g.n[1]-1; j++ {
			row := plane
			for i := 1; i < g.n[0]-1; i++ {
				x := row.nextNumber()
				g.values[g.index(i, j, k)] = x
				least, most = keepExtremes(least, most, x)
			}
			plane.skipNumbers(y.side)
		}
		r.skipNumbers(y.side * y.side)
	}
	ranks := y.comm.Size()
	all := make([]float64, 2*mgCharges*ranks)
	mpi.Allgather(y.comm, append(padExtremes(least, 1), padExtremes(most, 0)...), all)
	least, most = nil, nil
	for _, x := range all {
		least, most = keepExtremes(least, most, x)
	}
	for i, x := range g.values {
		switch {
		case !g.isInside(i):
			g.values[i] = 0
		case x <= least[mgCharges-1]:
			g.values[i] = -1
		case x >= most[0]:
			g.values[i] = 1
		default:
			g.values[i] = 0
		}
	}
	y.exchangeFaces(&y.levels[len(y.levels)-1], g)
}

// keepExtremes adds a number to the smallest and the largest ones.
func keepExtremes(least, most []float64, x float64) (l, m []float64) {
	if len(least) < mgCharges || x < least[len(least)-1] {
		i, _ := slices.BinarySearch(least, x)
		least = slices.Insert(least, i, x)
		least = least[:min(len(least), mgCharges)]
	}
	if len(most) < mgCharges || x > most[0] {
		i, _ := slices.BinarySearch(most, x)
		most = slices.Insert(most, i, x)
		most = most[max(0, len(most)-mgCharges):]
	}
	return least, most
}

// padExtremes returns numbers with as many of a value as make it complete.
func padExtremes(x []float64, value float64) []float64 {
	x = slices.Clone(x)
	for len(x) < mgCharges {
		x = append(x, value)
	}
	return x
}

// isInside reports whether an index is not on the border.
func (g grid) isInside(at int) bool {
	i, j, k := at%g.n[0], at/g.n[0]%g.n[1], at/(g.n[0]*g.n[1])
	return i > 0 && j > 0 && k > 0 && i < g.n[0]-1 && j < g.n[1]-1 && k < g.n[2]-1
}

// runCycle is a V-cycle: it adds to u an approximate solution for the residual r.
func (y *mgRank) runCycle() {
	top := len(y.levels) - 1
	for l := top; l > 0; l-- {
		y.projectResidual(&y.levels[l], &y.levels[l-1])
	}
	clear(y.levels[0].u.values)
	y.smooth(&y.levels[0])
	for l := 1; l <= top; l++ {
		v, right := &y.levels[l], y.v
		if l < top {
			clear(v.u.values)
			right = v.r
		}
		y.addInterpolated(&y.levels[l-1], v)
		y.setResidual(v, right)
		y.smooth(v)
	}
}

// forEachRow calls do for each row of inner points, with the index of its first point.
func (g grid) forEachRow(do func(at int)) {
	for k := 1; k < g.n[2]-1; k++ {
		for j := 1; j < g.n[1]-1; j++ {
			do(g.index(0, j, k))
		}
	}
}

// neighbourSums adds up, for each point of a row, those beside it in the other two axes: the four
// near ones and the four diagonal ones. NPB adds these by planes or by rows: the norm of class W
// consists of rounding errors, and depends on the order.
func (y *mgRank) neighbourSums(g grid, at int, byRows bool) (near, far []float64) {
	j, k := g.n[0], g.n[0]*g.n[1]
	second, third := j-k, k-j
	if byRows {
		second, third = third, second
	}
	near, far = y.nearSums[:g.n[0]], y.farSums[:g.n[0]]
	v := g.values
	for i := range near {
		p := at + i
		near[i] = v[p-j] + v[p+j] + v[p-k] + v[p+k]
		far[i] = v[p-j-k] + v[p+second] + v[p+third] + v[p+j+k]
	}
	return near, far
}

// setResidual sets r to v − A·u. Conversions keep compilers from fusing operations, which would
// round otherwise.
func (y *mgRank) setResidual(l *gridLevel, v grid) {
	u, r := l.u, l.r
	u.forEachRow(func(at int) {
		near, far := y.neighbourSums(u, at, false)
		for i := 1; i < u.n[0]-1; i++ {
			p := at + i
			r.values[p] = v.values[p] - float64(mgResidualFactor0*u.values[p]) - float64(mgResidualFactor2*(far[i]+near[i-1]+near[i+1])) - float64(mgResidualFactor3*(far[i-1]+far[i+1]))
		}
	})
	y.s.chargeOperations(y.comm, mgResidualOperations*u.points())
	y.exchangeFaces(l, r)
}

// smooth adds C·r to u.
func (y *mgRank) smooth(l *gridLevel) {
	u, r := l.u, l.r
	u.forEachRow(func(at int) {
		near, far := y.neighbourSums(r, at, false)
		for i := 1; i < u.n[0]-1; i++ {
			p := at + i
			u.values[p] = u.values[p] + float64(mgSmoothFactor0*r.values[p]) + mgSmoothFactor1*(r.values[p-1]+r.values[p+1]+near[i]) + mgSmoothFactor2*(far[i]+near[i-1]+near[i+1])
		}
	})
	y.s.chargeOperations(y.comm, mgSmoothOperations*u.points())
	y.exchangeFaces(l, u)
}

// projectionShift returns where the points of a coarse grid are in the finer one: point i is at 2i
// − shift. An axis with one point keeps it.
func projectionShift(fine grid) (d [3]int) {
	for a := range 3 {
		if fine.n[a] == 3 {
			d[a] = 1
		}
	}
	return d
}

// projectResidual sets the coarse r to weighted means of the fine one.
func (y *mgRank) projectResidual(fine, coarse *gridLevel) {
	f, g := fine.r, coarse.r
	d := projectionShift(f)
	for k := 1; k < g.n[2]-1; k++ {
		for j := 1; j < g.n[1]-1; j++ {
			near, far := y.neighbourSums(f, f.index(0, 2*j-d[1], 2*k-d[2]), true)
			for i := 1; i < g.n[0]-1; i++ {
				p := 2*i - d[0]
				q := f.index(p, 2*j-d[1], 2*k-d[2])
				g.values[g.index(i, j, k)] = 0.5*f.values[q] + 0.25*(f.values[q-1]+f.values[q+1]+near[p]) + 0.125*(near[p-1]+near[p+1]+far[p]) + 0.0625*(far[p-1]+far[p+1])
			}
		}
	}
	y.s.chargeOperations(y.comm, mgProjectOperations*g.points())
	y.exchangeFaces(coarse, g)
}

// addInterpolated adds the interpolation of the coarse u to the fine one.
func (y *mgRank) addInterpolated(coarse, fine *gridLevel) {
	z, u := coarse.u, fine.u
	d := projectionShift(u)
	sum := y.nearSums[:z.n[0]]
	zj, zk := z.n[0], z.n[0]*z.n[1]
	// Fine points lie at a coarse one (e = 0) or between two (e = 1), in each axis.
	for ek := range 2 {
		for k := d[2] * (1 - ek); k < z.n[2]-1; k++ {
			for ej := range 2 {
				for j := d[1] * (1 - ej); j < z.n[1]-1; j++ {
					p := z.index(0, j, k)
					for i := range sum {
						q := p + i
						switch {
						case ej == 0 && ek == 0:
							sum[i] = z.values[q]
						case ek == 0:
							sum[i] = z.values[q+zj] + z.values[q]
						case ej == 0:
							sum[i] = z.values[q+zk] + z.values[q]
						default:
							sum[i] = z.values[q+zj+zk] + z.values[q+zk] + (z.values[q+zj] + z.values[q])
						}
					}
					weight := 1 / float64(int(1)<<(ej+ek))
					row := u.index(0, 2*j-d[1]+ej, 2*k-d[2]+ek)
					for i := d[0]; i < z.n[0]-1; i++ {
						u.values[row+2*i-d[0]] += weight * sum[i]
					}
					for i := range z.n[0] - 1 {
						u.values[row+2*i-d[0]+1] += weight / 2 * (sum[i] + sum[i+1])
					}
				}
			}
		}
	}
	y.s.chargeOperations(y.comm, mgInterpolateOperations*z.points())
	y.expandFaces(fine, u)
}

// norm returns the root of the mean square, over all ranks.
func (y *mgRank) norm(g grid) float64 {
	sum, most, got := 0.0, 0.0, make([]float64, 1)
	g.forEachRow(func(at int) {
		for _, x := range g.values[at+1 : at+g.n[0]-1] {
			sum += x * x
			most = max(most, math.Abs(x))
		}
	})
	y.s.chargeOperations(y.comm, mgNormOperations*g.points())
	mpi.Allreduce(y.comm, []float64{most}, got, mpi.Max)
	mpi.Allreduce(y.comm, []float64{sum}, got, mpi.Sum)
	return math.Sqrt(got[0] / float64(y.side*y.side*y.side))
}

// indexBox is a part of a grid, from first to end−1 in each axis.
type indexBox struct{ first, end [3]int }

// faceBox returns a part of a grid across an axis, from first to end−1 there. Axes before it
// include the borders, which earlier exchanges have filled; those behind it do if full.
func (g grid) faceBox(axis, first, end int, full bool) indexBox {
	b := indexBox{end: g.n}
	for a := range 3 {
		if a > axis && !full {
			b.first[a], b.end[a] = 1, g.n[a]-1
		}
	}
	if axis == 0 && full {
		b.first, b.end = [3]int{}, g.n
	}
	b.first[axis], b.end[axis] = first, end
	return b
}

// pack copies a part into a buffer, and returns what is filled of that.
func (g grid) pack(b indexBox, into []float64) []float64 {
	n := 0
	for k := b.first[2]; k < b.end[2]; k++ {
		for j := b.first[1]; j < b.end[1]; j++ {
			n += copy(into[n:], g.values[g.index(b.first[0], j, k):g.index(b.end[0], j, k)])
		}
	}
	return into[:n]
}

// unpack copies a buffer into a part.
func (g grid) unpack(b indexBox, from []float64) {
	width := b.end[0] - b.first[0]
	for k := b.first[2]; k < b.end[2]; k++ {
		for j := b.first[1]; j < b.end[1]; j++ {
			copy(g.values[g.index(b.first[0], j, k):], from[:width])
			from = from[width:]
		}
	}
}

// Tags of messages to the neighbours down and up, by axis.
func faceTag(axis, direction int) int { return 2*axis + direction }

// neighbour is where messages come from, by axis and direction. In NPB 2.3 that is any source, as
// the tag tells the direction. If neighbours differ between levels that is not enough, so that they
// are named then, as in NPB 3.
func (y *mgRank) neighbour(l *gridLevel, axis, direction int) int {
	if y.receivesFromAnySource {
		return mpi.AnySource
	}
	return l.neighbour[axis][direction]
}

// exchangeFaces fills the borders of a grid from the neighbours, axis after axis. A rank may be its
// own neighbour; with one rank that takes no message. NPB clears the whole of both receive buffers
// before that, and with one rank it copies the whole of both send buffers: each number is an
// operation.
func (y *mgRank) exchangeFaces(l *gridLevel, g grid) {
	if l.isIdle {
		clear(g.values)
		return
	}
	for a := range 3 {
		n := g.n[a]
		down, up := g.pack(g.faceBox(a, 1, 2, false), y.sendDownBuffer), g.pack(g.faceBox(a, n-2, n-1, false), y.sendUpBuffer)
		fromUp, from := down, up
		moved := 2*y.clearedNumbers + 2*(len(down)+len(up))
		if y.comm.Size() == 1 {
			moved += 2 * y.clearedNumbers
		}
		y.s.chargeOperations(y.comm, moved)
		if y.comm.Size() > 1 {
			fromUp, from = y.receiveUpBuffer[:len(down)], y.receiveDownBuffer[:len(up)]
			x := mpi.Irecv(y.comm, fromUp, y.neighbour(l, a, 1), faceTag(a, 0))
			z := mpi.Irecv(y.comm, from, y.neighbour(l, a, 0), faceTag(a, 1))
			mpi.Send(y.comm, up, l.neighbour[a][1], faceTag(a, 1))
			mpi.Send(y.comm, down, l.neighbour[a][0], faceTag(a, 0))
			x.Wait()
			z.Wait()
		}
		g.unpack(g.faceBox(a, n-1, n, false), fromUp)
		g.unpack(g.faceBox(a, 0, 1, false), from)
	}
}

// expandFaces passes points to ranks that were idle on the coarser level.
func (y *mgRank) expandFaces(l *gridLevel, g grid) {
	for a := range 3 {
		n := g.n[a]
		if l.takesBorderWhenIdle[a] {
			last, first := g.faceBox(a, n-1, n, true), g.faceBox(a, 0, 2, true)
			size := len(g.values) / n
			fromUp, from := y.receiveUpBuffer[:size], y.receiveDownBuffer[:2*size]
			x := mpi.Irecv(y.comm, fromUp, l.neighbour[a][1], faceTag(a, 0))
			z := mpi.Irecv(y.comm, from, l.neighbour[a][0], faceTag(a, 1))
			x.Wait()
			g.unpack(last, fromUp)
			z.Wait()
			g.unpack(first, from)
		}
		if l.givesBorderToIdle[a] {
			mpi.Send(y.comm, g.pack(g.faceBox(a, n-2, n, true), y.sendUpBuffer), l.neighbour[a][1], faceTag(a, 1))
			mpi.Send(y.comm, g.pack(g.faceBox(a, 1, 2, true), y.sendDownBuffer), l.neighbour[a][0], faceTag(a, 0))
		}
	}
}
