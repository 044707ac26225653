package portable

import (
	"math"
	"math/rand/v2"
)

var spheresProgram = Program{
	Name: "spheres", Description: "rendering of spheres: ranks draw equal shares of them, and pictures are combined by depth", Items: "spheres",
	SizeUnit: "spheres", Defaults: Settings{Size: 4096, Rounds: 1}, DrawsPicture: true, ChargesOperations: true, Run: runSpheres,
}

// spheresPictureEdge is the pixels on a side of the picture, and operationsPerSphere and
// operationsPerPixel what a sphere and each of its pixels take: projection, and normal, depth and
// shading.
const (
	spheresPictureEdge  = 128
	operationsPerSphere = 30
	operationsPerPixel  = 12
)

// runSpheres draws spheres at random places in a cube, seen from the front. The last value of a
// pixel is greater the nearer it is, and 0 where nothing is. Of equal depths the sphere
// that comes first counts, so the order of ranks is kept.
func runSpheres(p Process, s Settings) (Result, error) {
	part := func(frame, rank, ranks int) ([]Pixel, int) {
		return drawSpheres(s.Size, rank*s.Size/ranks, (rank+1)*s.Size/ranks, frame)
	}
	return renderFrames(p, s, spheresPictureEdge, s.Size, part, combineNearest)
}

// combineNearest takes of two pictures what is nearer at each pixel.
func combineNearest(lower, higher, result []Pixel) {
	for i, l := range lower {
		if higher[i][3] > l[3] {
			l = higher[i]
		}
		result[i] = l
	}
}

// drawSpheres draws the spheres from first to end-1 of n.
func drawSpheres(n, first, end, frame int) (x []Pixel, operations int) {
	x = make([]Pixel, spheresPictureEdge*spheresPictureEdge)
	radius := 0.5 / math.Cbrt(float64(n)) // as far apart as they are large
	for i := first; i < end; i++ {
		r := rand.New(rand.NewPCG(uint64(i), uint64(frame)))
		at := [3]float64{r.Float64(), r.Float64(), r.Float64()}
		hue := [3]float32{r.Float32(), r.Float32(), r.Float32()}
		operations += operationsPerSphere + operationsPerPixel*drawSphere(x, at, radius, hue)
	}
	return x, operations
}

// drawSphere draws a sphere and returns how many pixels it covers.
func drawSphere(x []Pixel, at [3]float64, radius float64, hue [3]float32) (covered int) {
	const edge = spheresPictureEdge
	low := func(v float64) int { return max(0, int(math.Ceil((v-radius)*edge-0.5))) }
	high := func(v float64) int { return min(edge-1, int(math.Floor((v+radius)*edge-0.5))) }
	for v := low(at[1]); v <= high(at[1]); v++ {
		for u := low(at[0]); u <= high(at[0]); u++ {
			dx, dy := ((float64(u)+0.5)/edge-at[0])/radius, ((float64(v)+0.5)/edge-at[1])/radius
			h := 1 - dx*dx - dy*dy
			if h < 0 {
				continue
			}
			covered++
			h = math.Sqrt(h)
			near := float32((3 - (at[2] - radius*h)) / 4) // from 0.5 to 1
			if p := &x[v*edge+u]; near > p[3] {
				light := float32(0.2 + 0.8*h)
				*p = Pixel{light * hue[0], light * hue[1], light * hue[2], near}
			}
		}
	}
	return covered
}
