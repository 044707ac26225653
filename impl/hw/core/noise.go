package core

import (
	"math"

	"github.com/loggp/loggp/model/unit"
)

// Noise is a source of random numbers of one processor (SplitMix64: Steele, Lea and Flood 2014).
type Noise struct {
	relativeDeviation float64 // standard deviation divided by the mean; 0: no noise
	generatorState    uint64
}

// NewNoise returns the noise source of a processor.
func NewNoise(seed uint64, rank int, relative float64) Noise {
	n := Noise{relative, seed}
	n.Uint64()
	n.generatorState ^= uint64(rank) * 0xd1342543de82ef95
	n.Uint64()
	return n
}

// Uint64 returns 64 random bits.
func (n *Noise) Uint64() uint64 {
	n.generatorState += 0x9e3779b97f4a7c15
	z := n.generatorState
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

const sqrt6 = 2.449489742783178

// addNoise returns a random time with mean d and the noise's relative standard deviation: the sum
// of two uniform variables. It stays within 2.45 standard deviations, so it is positive for
// deviations below 40 %. It is not inlined, so that its caller is.
//
//go:noinline
func (n *Noise) addNoise(d unit.Time) unit.Time {
	r := n.Uint64()
	u := (float64(r>>32) + float64(r&0xffffffff)) / (1 << 32) // 0 to 2, standard deviation 1/√6
	return unit.Time(math.RoundToEven(float64(d) * max(0, 1+n.relativeDeviation*sqrt6*(u-1))))
}
