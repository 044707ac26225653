package portable

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"

	"github.com/loggp/loggp/model/unit"
)

// Picture is a square of pixels. Their colours are multiplied by their opacity.
type Picture struct {
	Edge   int
	Pixels []Pixel
}

// Write writes the picture as PNG, in front of black.
func (x *Picture) Write(w io.Writer) error {
	m := image.NewNRGBA(image.Rect(0, 0, x.Edge, x.Edge))
	for i, p := range x.Pixels {
		m.SetNRGBA(i%x.Edge, i/x.Edge, color.NRGBA{colourLevel(p[0]), colourLevel(p[1]), colourLevel(p[2]), 255})
	}
	return png.Encode(w, m)
}

// colourLevel returns a value from 0 to 1 as one of 256.
func colourLevel(v float32) uint8 {
	return uint8(math.Round(255 * math.Min(1, math.Max(0, float64(v)))))
}

// pixelTolerance is how much a pixel may differ from that of a picture that one rank alone has
// made: sums of single precision in another order.
const pixelTolerance = 1e-5

// checkEqualTo returns an error unless two pictures are the same.
func (x *Picture) checkEqualTo(want *Picture) error {
	for i, p := range x.Pixels {
		for j, v := range p {
			if d := math.Abs(float64(v - want.Pixels[i][j])); !(d <= pixelTolerance) {
				return fmt.Errorf("wrong result: value %d of the pixel at %d, %d is %v, and %v if one rank makes the picture", j, i%x.Edge, i/x.Edge, v, want.Pixels[i][j])
			}
		}
	}
	return nil
}

// renderFrames makes a picture in each round: a rank draws its part, and the parts are combined in
// the order of ranks. Rank 0 compares the last with what it draws alone, which takes no time of its
// clock.
func renderFrames(p Process, s Settings, edge, items int, part func(frame, rank, ranks int) (x []Pixel, operations int), combine func(lower, higher, result []Pixel)) (Result, error) {
	c, ok := p.(Compositor)
	if !ok {
		return Result{}, fmt.Errorf("rank %d: this way of sending has no reduction of pixels", p.Rank())
	}
	p.Barrier()
	begin := p.Now()
	var x []Pixel
	for frame := range s.Rounds {
		var operations int
		x, operations = part(frame, p.Rank(), p.Size())
		chargeOperations(p, s, operations)
		c.Composite(x, combine)
	}
	r := Result{Rounds: s.Rounds, Items: items}
	var wrong error
	if p.Rank() == 0 {
		r.Time = (p.Now() - begin) / unit.Time(s.Rounds)
		r.Picture = &Picture{edge, x}
		alone, _ := part(s.Rounds-1, 0, 1)
		wrong = r.Picture.checkEqualTo(&Picture{edge, alone})
	}
	return r, agreeOnError(p, wrong)
}
