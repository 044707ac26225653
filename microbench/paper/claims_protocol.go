package paper

import (
	"fmt"
	"math"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
)

// Claims about protocols and the models of them.

func gapIsOverhead(r *Results) (bool, []string) {
	return r.everywhere(func(s Subject) (bool, string) {
		g, o := r.burst(s, "send", small), r.send(s, "send", small)
		return math.Abs(g.V-o.V) <= 0.2*o.V, fmt.Sprintf("%v: a burst of sends of %d B has one every %s, o_s = %s", s, small, g.us(), o.us())
	})
}

// simple is the simple model of a message on the T3D: equation (9) with o_s, o_r and L of low-level messages, and G of whole ones, which is
// from other timers than those it is held against.
func (r *Results) simple(k int) Value {
	x := r.timer(t3d, microbench.Message, sample.Timer11, small).plus(r.timer(t3d, microbench.Message, sample.Timer12, small)).plus(r.messageLatency(t3d))
	return x.plus(r.gap(t3d).times(float64(k - 1)))
}

func protocolsNegligible(r *Results) (bool, []string) {
	ok, last := true, math.Inf(1)
	text := "of T_s-r of RTA on T3D all but o_s + o_r + L + (k−1) G is"
	for i, k := range []int{1000, 3000, 10000, 40000, 100000} {
		all := r.get(quantity{t3d, "ssend", model.RTA.Name, sample.OneWay, k})
		share := all.minus(r.simple(k)).over(all)
		ok = ok && share.V < last
		last = share.V
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(" %.1f %% at %d B", 100*share.V, k)
	}
	return ok && math.Abs(last) < 0.05, []string{text}
}

// modelsAgreeShort compares the two equations for parameters of which each has a value that no sum of the others has.
func modelsAgreeShort(*Results) (bool, []string) {
	x := model.Parameters{L: 1, SendO: model.Constant(10), RecvO: model.Constant(100), BigGap: 1000}
	protocol, simple := model.Delivery(model.T, x, 1), x.OneWay(1)
	return protocol == simple, []string{fmt.Sprintf("with L = 1, o_s = 10, o_r = 100, G = 1000 and k = 1 equation (2) gives %d, equation (9) %d", protocol, simple)}
}

// triedBytes is the length of the messages that are sent to a peer that does nothing.
const triedBytes = 2000

func localOrNot(r *Results) (bool, []string) {
	ok := true
	var evidence []string
	for _, s := range []Subject{t3d, now, convexInter, convexIntra} {
		b, y := r.returns(s, "MPI_Bsend", triedBytes), r.returns(s, "MPI_Ssend", triedBytes)
		ok = ok && alone(b) && !alone(y)
		evidence = append(evidence, fmt.Sprintf("%v, the peer receiving after %v: Bsend returns after %s, Ssend after %s", s, letWait, b.us(), y.us()))
	}
	return ok, evidence
}

// senderAndDelivery compares the two times of a protocol. Of the whole call's times, what a call does after its protocol is done belongs to
// neither.
func senderAndDelivery(r *Results) (bool, []string) {
	want := r.messageLatency(t3d).plus(r.timer(t3d, microbench.Message, sample.Timer12, small))
	after := r.get(quantity{t3d, "ssend", auto, afterProtocol, -1})
	const k = 10000
	of := func(p *model.Protocol, timer string) Value { return r.get(quantity{t3d, "ssend", p.Name, timer, k}) }
	rta := of(model.RTA, sample.Sender).minus(of(model.RTA, sample.OneWay)).minus(after)
	rat := of(model.RAT, sample.OneWay).minus(of(model.RAT, sample.Sender)).plus(after)
	ok := r.sure("T_s − T_s-r of RTA", rta, 0.95*want.V, 1.05*want.V)
	ok = r.sure("T_s-r − T_s of RAT", rat, 0.95*want.V, 1.05*want.V) && ok
	return ok, []string{fmt.Sprintf("T3D at %d B, less what the calls do when the protocol is done: T_s − T_s-r of RTA is %s, T_s-r − T_s of RAT %s; L + o_r of low-level messages is %s",
		k, rta.us(), rat.us(), want.us())}
}
