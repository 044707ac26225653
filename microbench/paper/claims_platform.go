package paper

import (
	"fmt"
	"math"
)

// Claims that set platforms, or the two tiers of one, side by side.

func convexOverheads(r *Results) (bool, []string) {
	return r.within("o_s(inter)/s_s(intra) of isend is", 5, 20, each([]int{100, 10000}, func(k int) Value {
		return r.send(convexInter, "isend", k).over(r.send(convexIntra, "isend", k))
	})...)
}

func convexRates(r *Results) (bool, []string) {
	return r.within("bandwidth(intra)/bandwidth(inter) is", 5, 10, each(between(10000, 100000), func(k int) Value {
		return r.bandwidth(convexIntra, k).over(r.bandwidth(convexInter, k))
	})...)
}

func convexLatencies(r *Results) (bool, []string) {
	inside, between := r.latency(convexIntra), r.latency(convexInter)
	return inside.V < 0.2*between.V, []string{fmt.Sprintf("L(intra) = %s, L(inter) = %s", inside.us(), between.us())}
}

func latencyOrder(r *Results) (bool, []string) {
	a, b, c := r.latency(t3d), r.latency(convexInter), r.latency(now)
	return a.V < b.V && b.V < c.V, []string{fmt.Sprintf("L is %s on T3D, %s on Convex inter, %s on NOW", a.us(), b.us(), c.us())}
}

func intraLowest(r *Results) (bool, []string) {
	ok, worst, where := true, 0.0, ""
	for _, k := range figureSizes {
		inside := r.send(convexIntra, "isend", k)
		for _, s := range []Subject{t3d, convexInter, now} {
			other := r.send(s, "isend", k)
			ok = ok && inside.V < other.V
			if x := inside.V / other.V; x > worst {
				worst, where = x, fmt.Sprintf("%s against %s of %v at %d B", inside.us(), other.us(), s, k)
			}
		}
	}
	return ok, []string{fmt.Sprintf("of %d sizes from 1 to 100000 B o_s(isend) of Convex intra comes nearest to another with %s", len(figureSizes), where)}
}

func interSlightlyAbove(r *Results) (bool, []string) {
	low, high := sized{0, exactly(math.Inf(1))}, sized{}
	for _, k := range between(1, 10000) {
		v := r.send(convexInter, "isend", k).over(r.send(t3d, "isend", k))
		if v.V < low.V {
			low = sized{k, v}
		}
		if v.V > high.V {
			high = sized{k, v}
		}
	}
	ok := r.inside(fmt.Sprintf("%v at %d B", low.Value, low.k), low.Value, 1, 2)
	ok = r.inside(fmt.Sprintf("%v at %d B", high.Value, high.k), high.Value, 1, 2) && ok
	return ok, []string{fmt.Sprintf("o_s(isend) of Convex inter over that of T3D is from %v at %d B to %v at %d B", low.Value, low.k, high.Value, high.k)}
}

func intraFastest(r *Results) (bool, []string) {
	inside := r.gap(convexIntra)
	ok, text := true, fmt.Sprintf("1/S of Convex is %v MB/s; 1/G is", inside.inverse(1))
	for i, s := range []Subject{t3d, convexInter, now} {
		g := r.gap(s)
		ok = ok && 1/inside.V > 1/g.V
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(" %v MB/s on %v", g.inverse(1), s)
	}
	return ok, []string{text}
}

func latencyIsBound(r *Results) (bool, []string) {
	return r.everywhere(func(s Subject) (bool, string) {
		l, wire := r.latency(s), r.wire(s)
		return l.V >= wire.V, fmt.Sprintf("%v: timer21 − timer12 = %s, the way of a first byte is configured as %s", s, l.us(), wire.us())
	})
}

func overheadsDominate(r *Results) (bool, []string) {
	ok := true
	var evidence []string
	for _, x := range []struct {
		Subject
		k int
	}{{t3d, 16}, {now, 16}, {convexInter, 100}} {
		o, l := r.send(x.Subject, "isend", x.k).plus(r.receive(x.Subject, "send", x.k)), r.latency(x.Subject)
		ok = ok && o.V > l.V
		evidence = append(evidence, fmt.Sprintf("%v: o_s + o_r = %s at %d B, L = %s", x.Subject, o.us(), x.k, l.us()))
	}
	return ok, evidence
}
