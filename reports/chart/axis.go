package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"

	"github.com/loggp/loggp/reports/format"
)

// roundUp returns the least of 1, 2 and 5 times a power of ten that is not below x.
func roundUp(x float64) float64 {
	base := math.Pow10(format.PowerOfTen(x))
	for _, f := range []float64{1, 2, 5} {
		if base*f >= x*(1-1e-9) {
			return base * f
		}
	}
	return base * 10
}

// axisEnds returns the ends of an axis, at some distance from the values.
func axisEnds(low, high float64) (bottom, top float64) {
	return 1 / roundUp(1.1/low), roundUp(1.15 * high)
}

// tickStep returns the distance of ticks from 0 to high, for at most room of them.
func tickStep(high float64, room int) float64 { return roundUp(high / float64(max(room, 2)-1)) }

// linearTicks puts ticks at equal distances.
func linearTicks(max, step float64) []plot.Tick {
	var ticks []plot.Tick
	for i := 0; float64(i)*step <= max*1.001; i++ {
		y := float64(i) * step
		ticks = append(ticks, plot.Tick{Value: y, Label: strconv.FormatFloat(y, 'f', -min(format.PowerOfTen(step), 0), 64)})
	}
	return ticks
}

// signedTicks puts them on both sides of 0, with their signs.
func signedTicks(max, step float64) []plot.Tick {
	ticks := linearTicks(max, step)
	for _, t := range ticks[1:] {
		ticks = append(ticks, plot.Tick{Value: -t.Value, Label: "−" + t.Label})
	}
	for i := range ticks {
		if ticks[i].Value > 0 {
			ticks[i].Label = "+" + ticks[i].Label
		}
	}
	return ticks
}

// sizeTicks puts a tick at each power of ten, and names as many as there is room for.
func sizeTicks(min, max, zero float64, withZero bool, room int, name func(int) string) []plot.Tick {
	var ticks []plot.Tick
	if withZero {
		ticks = append(ticks, plot.Tick{Value: zero, Label: "0"})
	}
	every := namedPowerStep(min, max, room)
	for e := 0; math.Pow10(e) <= max; e++ {
		for f := 1.0; f < 10; f++ {
			t := plot.Tick{Value: math.Pow10(e) * f}
			if f == 1 && e%every == 0 {
				t.Label = name(int(t.Value))
			}
			if t.Value >= min && t.Value <= max && (!withZero || t.Value > zero*1.5) && (f == 1 || every == 1) {
				ticks = append(ticks, t)
			}
		}
	}
	return ticks
}

// namedTicks puts a tick at each of the values 1, 2, 3, ... and names as many as there is room for.
func namedTicks(names []string, room int) []plot.Tick {
	every := (len(names) + max(room, 1) - 1) / max(room, 1)
	var ticks []plot.Tick
	for i, name := range names {
		if i%every == 0 {
			ticks = append(ticks, plot.Tick{Value: float64(i + 1), Label: name})
		}
	}
	return ticks
}

// namedPowerStep returns which powers of ten are named, every so many, for at most room of them.
func namedPowerStep(min, max float64, room int) int {
	decades := int(math.Log10(max/min)) + 1
	for every := 1; ; every++ {
		if decades <= every*room || every > decades {
			return every
		}
	}
}

// valueTicks puts a tick at each power of ten, and names as many as there is room for; if these are
// few, 2 and 5 times them too.
func valueTicks(min, max float64, room int) []plot.Tick {
	every := namedPowerStep(min, max, room)
	few := 3*int(math.Log10(max/min)+1) <= room
	var ticks []plot.Tick
	for e := format.PowerOfTen(min); math.Pow10(e) <= max*1.001; e++ {
		places := 0
		if e < 0 {
			places = -e
		}
		for f := 1.0; f < 10; f++ {
			t := plot.Tick{Value: math.Pow10(e) * f}
			if f == 1 && e%every == 0 || few && (f == 2 || f == 5) {
				t.Label = strconv.FormatFloat(t.Value, 'f', places, 64)
			}
			if t.Value >= min*0.999 && t.Value <= max*1.001 && (f == 1 || every == 1) {
				ticks = append(ticks, t)
			}
		}
	}
	return ticks
}
