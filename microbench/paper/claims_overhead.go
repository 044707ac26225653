package paper

import (
	"fmt"
	"math"
	"strings"
)

// Claims about what the calls cost.

// at prints values of a size that are set side by side: "at 16 B bsend 30.08 us, ssend 34.63 us".
func at(s Subject, k int, values ...named) string {
	text := fmt.Sprintf("%v at %d B:", s, k)
	for i, v := range values {
		if i > 0 {
			text += ","
		}
		text += " " + v.name + " " + v.us()
	}
	return text
}

// named is a value with what it is called.
type named struct {
	name string
	Value
}

// sendsAt are the overheads of sends at a size.
func (r *Results) sendsAt(s Subject, k int, modes ...string) []named {
	var all []named
	for _, m := range modes {
		all = append(all, named{m, r.send(s, m, k)})
	}
	return all
}

func t3dVariesLittle(r *Results) (bool, []string) {
	low, high := sized{0, exactly(math.Inf(1))}, sized{}
	for _, k := range between(16, 10000) {
		v := r.send(t3d, "isend", k)
		if v.V < low.V {
			low = sized{k, v}
		}
		if v.V > high.V {
			high = sized{k, v}
		}
	}
	ratio := high.over(low.Value)
	return r.inside(fmt.Sprintf("a factor of %v", ratio), ratio, 1, 5), []string{fmt.Sprintf("o_s(isend) from %s at %d B to %s at %d B: a factor of %v", low.us(), low.k, high.us(), high.k, ratio)}
}

// between returns the sizes of the figures from one to another.
func between(from, to int) []int {
	var all []int
	for _, k := range figureSizes {
		if from <= k && k <= to {
			all = append(all, k)
		}
	}
	return all
}

func synchronousContainsLatency(r *Results) (bool, []string) {
	return r.everywhere(func(s Subject) (bool, string) {
		d, l := r.send(s, "ssend", small).minus(r.send(s, "issend", small)), r.latency(s)
		return d.V >= l.V, fmt.Sprintf("%v: o_s(ssend) − o_s(issend) = %s, L = %s", s, d.us(), l.us())
	})
}

func standardLikeBuffered(r *Results) (bool, []string) {
	ok := true
	var evidence []string
	for _, k := range tableSizes {
		a, b := r.send(t3d, "isend", k), r.send(t3d, "ibsend", k)
		ok = ok && math.Abs(a.V-b.V) < 0.2*a.V
		evidence = append(evidence, at(t3d, k, named{"isend", a}, named{"ibsend", b}))
	}
	return ok, evidence
}

func nowSynchronousCosts(r *Results) (bool, []string) {
	v := r.sendsAt(now, small, "ssend", "send", "bsend")
	return v[0].V > v[1].V && v[0].V > v[2].V, []string{at(now, small, v...)}
}

func bufferedCheaperShort(r *Results) (bool, []string) {
	return r.everywhere(func(s Subject) (bool, string) {
		v := r.sendsAt(s, small, "bsend", "ssend")
		return v[0].V < v[1].V, at(s, small, v...)
	})
}

func bufferedLikeSynchronousLong(r *Results) (bool, []string) {
	return r.everywhere(func(s Subject) (bool, string) {
		holds, text := r.within(fmt.Sprintf("%v: o_s(bsend)/o_s(ssend) is", s), 0.5, 2, each(between(10000, 100000), func(k int) Value {
			return r.send(s, "bsend", k).over(r.send(s, "ssend", k))
		})...)
		return holds, strings.Join(text, "; ")
	})
}

func nowGrows(r *Results) (bool, []string) {
	first, last := r.send(now, "isend", 1), r.send(now, "isend", 100000)
	ratio := last.over(first)
	return r.inside(fmt.Sprintf("a factor of %v", ratio), ratio, 5, 15), []string{fmt.Sprintf("o_s(isend) is %s at 1 B, %s at 100000 B: a factor of %v", first.us(), last.us(), ratio)}
}

func nowOverT3D(r *Results) (bool, []string) {
	ratio := func(k int) Value { return r.send(now, "isend", k).over(r.send(t3d, "isend", k)) }
	long := ratio(10000)
	return r.inside(fmt.Sprintf("%v at 10000 B", long), long, 5, 15), []string{fmt.Sprintf("o_s(isend) of NOW over that of T3D is %v at 10000 B, %v at 16 B", long, ratio(16))}
}

func readyIsStandard(r *Results) (bool, []string) {
	ok := true
	var evidence []string
	for _, k := range tableSizes {
		a, b := r.send(t3d, "send", k), r.send(t3d, "rsend", k)
		ok = ok && math.Abs(a.V-b.V) <= max(a.Spread, b.Spread)
		evidence = append(evidence, fmt.Sprintf("%s; 95 %% of the repetitions are within %s of them", at(t3d, k, named{"send", a}, named{"rsend", b}),
			exactly(max(a.Spread, b.Spread)).us()))
	}
	return ok, evidence
}

func synchronousOnFastNetwork(r *Results) (bool, []string) {
	ratio := func(s Subject) Value { return r.send(s, "ssend", small).over(r.send(s, "send", small)) }
	fast, slow := ratio(t3d), ratio(now)
	return fast.V < slow.V, []string{fmt.Sprintf("o_s(ssend)/o_s(send) at %d B is %v on T3D, %v on NOW", small, fast, slow)}
}

func synchronousNotDearer(r *Results) (bool, []string) {
	ok := true
	var evidence []string
	for _, k := range tableSizes {
		v := r.sendsAt(t3d, k, "issend", "isend")
		ok = ok && v[0].V <= v[1].V
		evidence = append(evidence, at(t3d, k, v...))
	}
	return ok, evidence
}

func librariesAlike(r *Results) (bool, []string) {
	ok := true
	var evidence []string
	for _, k := range tableSizes {
		for _, mode := range []string{"send", "ssend", "isend"} {
			o, p := r.send(nowMPICH, mode, k).over(r.send(now, mode, k)), r.receive(nowMPICH, mode, k).over(r.receive(now, mode, k))
			for _, v := range []Value{o, p} {
				ok = ok && 0.5 <= v.V && v.V <= 2
			}
			evidence = append(evidence, fmt.Sprintf("%s at %d B: o_s of mpich over chimp %v, o_r %v", mode, k, o, p))
		}
	}
	return ok, append([]string{"on NOW"}, evidence...)
}
