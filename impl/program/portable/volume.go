package portable

import (
	"fmt"
	"math"
)

var volumeProgram = Program{
	Name: "volume", Description: "volume rendering: ranks cast rays through slabs of a cube, and binary swap composites their pictures", Items: FrameItems,
	SizeUnit: "voxels on an edge", Defaults: Settings{Size: 32, Rounds: 2}, DrawsPicture: true, ChargesOperations: true, Run: runVolume,
}

// operationsPerSample is how many operations a sample takes: its place, opacity and colour, and the
// accumulation.
const operationsPerSample = 20

// runVolume has slabs of equal thickness, the first ranks in front. The cube turns by a few degrees
// from frame to frame, so little that the order of slabs remains that of ranks (Ma et al. 1994).
func runVolume(p Process, s Settings) (Result, error) {
	if p.Size() > s.Size {
		return Result{}, fmt.Errorf("rank %d: %d slices of voxels are too few for %d ranks: take a larger problem, or fewer ranks", p.Rank(), s.Size, p.Size())
	}
	c := voxelCube{n: s.Size}
	edge := 2 * s.Size
	part := func(frame, rank, ranks int) ([]Pixel, int) {
		from, to := rank*s.Size/ranks, (rank+1)*s.Size/ranks
		return c.castRays(edge, from, to, frameAngle(frame))
	}
	return renderFrames(p, s, edge, 1, part, blendOver)
}

// frameAngle returns by how much the cube is turned.
func frameAngle(frame int) float64 { return float64(frame%10) * 3 * math.Pi / 180 }

// blendOver puts colours in front of others: both are multiplied by their opacity (Porter and Duff
// 1984).
func blendOver(front, back, result []Pixel) {
	for i, f := range front {
		b := back[i]
		t := 1 - f[3]
		result[i] = Pixel{f[0] + t*b[0], f[1] + t*b[1], f[2] + t*b[2], f[3] + t*b[3]}
	}
}

// voxelCube is a cube of n³ voxels: shells of a few blobs.
type voxelCube struct{ n int }

// density returns the density at a voxel, from 0 to 1.
func (c voxelCube) density(i, j, k int) float32 {
	at := func(v int) float64 { return (float64(v)+0.5)/float64(c.n) - 0.5 }
	x, y, z := at(i), at(j), at(k)
	d := 0.0
	for _, b := range [...][4]float64{{-0.15, -0.1, -0.2, 0.2}, {0.2, 0.1, 0.05, 0.17}, {-0.05, 0.2, 0.25, 0.15}} {
		r := math.Sqrt((x-b[0])*(x-b[0])+(y-b[1])*(y-b[1])+(z-b[2])*(z-b[2])) / b[3]
		d += math.Exp(-30 * (r - 0.8) * (r - 0.8))
	}
	return float32(math.Min(1, d))
}

// castRays casts parallel rays, one a pixel and from front to back, through the slab of slices from
// to to-1 of the turned cube. The samples are those of rays through the whole cube.
func (c voxelCube) castRays(edge, from, to int, angle float64) (x []Pixel, operations int) {
	slab := make([]float32, (to-from)*c.n*c.n)
	for k := from; k < to; k++ {
		for j := range c.n {
			for i := range c.n {
				slab[((k-from)*c.n+j)*c.n+i] = c.density(i, j, k)
			}
		}
	}
	x = make([]Pixel, edge*edge)
	samples := 0
	shift := math.Tan(angle) // of a ray from slice to slice
	for v := range edge {
		j := v * c.n / edge
		for u := range edge {
			p := &x[v*edge+u]
			at := (float64(u)+0.5)/float64(edge)*float64(c.n) + shift*(float64(from)+0.5-float64(c.n)/2)
			for k := from; k < to; k, at = k+1, at+shift {
				i := int(math.Floor(at))
				if i < 0 || i >= c.n {
					continue
				}
				samples++
				d := slab[((k-from)*c.n+j)*c.n+i]
				a := d * 4 / float32(c.n) * 8
				if a > 1 {
					a = 1
				}
				t := (1 - p[3]) * a
				depth := float32(k) / float32(c.n)
				p[0] += t * (1 - 0.6*depth)
				p[1] += t * (0.3 + 0.7*d)
				p[2] += t * (0.2 + 0.8*depth)
				p[3] += t
			}
		}
	}
	return x, samples * operationsPerSample
}
