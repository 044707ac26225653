package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/papers"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// The models predict the benchmark itself, by algebra: its rounds are meetings of one message each,
// which take the clocks of both ranks from call to call. The timers then go through the same fit as
// those that were measured. Nothing varies and nothing contends. Segments that TCP has not yet
// acknowledged are carried from message to message; other work that a message leaves behind when
// both calls have returned costs nothing here.

// predictTimers returns the timers of an experiment, with one sample for each root of the barrier;
// of low-level messages none.
func predictTimers(e *papers.Experiment, s *papers.Site) []sample.Series {
	var all []sample.Series
	for _, cell := range e.Plan(s).Cells() {
		if cell.Mode == microbench.LowLevelMode {
			continue
		}
		x := newAlgebraicBenchmark(s, cell, e.Protocol)
		for _, t := range x.timers() {
			series := sample.Series{Key: sample.Key{Mode: cell.Mode, Bytes: cell.Bytes, Timer: t.name}, Times: t.times}
			s.Label(&series, e.Protocol)
			all = append(all, series)
		}
	}
	return all
}

// timerSamples is a timer with its samples.
type timerSamples struct {
	name  string
	times []unit.Time
}

// algebraicBenchmark is the benchmark of a mode and a size.
type algebraicBenchmark struct {
	messageToP2, messageToP1                     model.Transfer // the message, from P1 to P2 and from P2 to P1
	barrierMessageToRoot, barrierMessageFromRoot model.Transfer // the barrier's messages when its root is P1: to it, and from it
	isBlocking                                   bool
	isReadyMode                                  bool

	p1, p2 rankState
}

// rankState is a rank of the pair: its clock, and what its transport keeps from message to message.
type rankState struct {
	clock  unit.Time
	socket model.Socket
}

// modeNames are the blocking calls of the modes, as the benchmark names them.
var modeNames = [model.NumModes]string{model.StandardMode: "send", model.SynchronousMode: "ssend", model.ReadyMode: "rsend", model.BufferedMode: "bsend"}

func newAlgebraicBenchmark(s *papers.Site, cell microbench.Cell, protocol string) *algebraicBenchmark {
	name, nonblocking := strings.CutPrefix(cell.Mode, "i")
	mode := model.Mode(slices.Index(modeNames[:], name))
	there, back := s.Paths()
	message := model.Transfer{Machine: s.Job.Platform.Machine, Library: s.Job.Library, Mode: mode, Bytes: cell.Bytes, IsNonblocking: nonblocking}
	if protocol != "" {
		message.Protocol = model.FindProtocol(protocol)
	}
	barrier := model.Transfer{Machine: message.Machine, Library: message.Library}
	return &algebraicBenchmark{
		messageToP2: withPath(message, there), messageToP1: withPath(message, back), barrierMessageToRoot: withPath(barrier, back), barrierMessageFromRoot: withPath(barrier, there),
		isBlocking: !nonblocking, isReadyMode: mode == model.ReadyMode,
	}
}

// withPath returns a message on a path.
func withPath(t model.Transfer, p model.Path) model.Transfer {
	t.Path = p
	return t
}

// timers returns timers 11, 12 and 21 with both roots (timer22 has P1's wait in it where the send
// waits), the burst of sends that block as far as it fits the receiver's window, and T_s and T_s-r
// of a protocol that is forced.
func (x *algebraicBenchmark) timers() []timerSamples {
	all := []timerSamples{{name: sample.Timer11}, {name: sample.Timer12}, {name: sample.Timer21}}
	for root := range 2 {
		for i, t := range x.predictRound(root == 0) {
			all[i].times = append(all[i].times, t)
		}
	}
	if x.messageToP2.Mode == model.StandardMode && x.isBlocking && microbench.MessagesPerBurst*x.messageToP2.Bytes <= x.messageToP2.Library.Proto.WindowBytes {
		t := x.predictBurst()
		all = append(all, timerSamples{sample.TimerTrain, []unit.Time{t, t}})
	}
	if x.messageToP2.Protocol != nil {
		c := x.messageToP2.Cost()
		all = append(all, timerSamples{sample.TimerSender, slices.Repeat([]unit.Time{c.Sender.Sum()}, 2)}, timerSamples{sample.TimerOneWay, slices.Repeat([]unit.Time{c.Delivery.Sum()}, 2)})
	}
	return all
}

// roundsToSteadyState are enough for the two ranks to come to each barrier as far apart as in the
// round before.
const roundsToSteadyState = 4

// predictRound returns timer11, timer12 and timer21 of a late round.
func (x *algebraicBenchmark) predictRound(rootAtP1 bool) (t [3]unit.Time) {
	x.p1, x.p2 = rankState{}, rankState{}
	for range roundsToSteadyState {
		t[0], t[2] = x.predictHalfRound(x.messageToP2, rootAtP1, &x.p1, &x.p2, 0)
		_, t[1] = x.predictHalfRound(x.messageToP1, rootAtP1, &x.p2, &x.p1, unit.Second)
	}
	return t
}

// predictHalfRound is a barrier, a wait of the receiver, and a message. It returns how long the
// calls take.
func (x *algebraicBenchmark) predictHalfRound(message model.Transfer, rootAtP1 bool, sender, receiver *rankState, wait unit.Time) (send, receive unit.Time) {
	var posting unit.Time
	if x.isReadyMode {
		posting = x.postingTime()
		receiver.clock += posting
	}
	if rootAtP1 {
		predictBarrier(x.barrierMessageToRoot, x.barrierMessageFromRoot, &x.p1, &x.p2)
	} else {
		predictBarrier(x.barrierMessageFromRoot, x.barrierMessageToRoot, &x.p2, &x.p1)
	}
	receiver.clock += wait
	m := newBlockingMeeting(message, sender, receiver)
	m.IsBlocking, m.IsPosted = x.isBlocking, x.isReadyMode
	e := m.ReturnTimes()
	send, receive = e.SendCall-m.SendStart, e.ReceiveCall-m.ReceiveStart
	if x.isReadyMode {
		receive = posting
		if x.isBlocking {
			receive += e.ReceiveWait - m.ReceiveStart
		}
	}
	sender.clock, receiver.clock = e.SendWait, e.ReceiveWait
	return send, receive
}

// newBlockingMeeting sets up a message from one rank to the other, whose calls begin now and block.
func newBlockingMeeting(message model.Transfer, sender, receiver *rankState) model.TimedTransfer {
	return model.TimedTransfer{Transfer: message, SendStart: sender.clock, ReceiveStart: receiver.clock, IsBlocking: true, Sockets: [2]*model.Socket{&sender.socket, &receiver.socket}}
}

// postingTime is what it costs to post a receive.
func (x *algebraicBenchmark) postingTime() unit.Time {
	w := x.messageToP2.Library.Software
	return w[model.ProtoReceiveCost] + w[model.ProtoMatchCost] + w[model.ProtoNonblockingReceiveCost]
}

// predictBarrier lets the root receive a message from the other rank and send one back.
func predictBarrier(up, down model.Transfer, root, other *rankState) {
	e := newBlockingMeeting(up, other, root).ReturnTimes()
	root.clock, other.clock = e.ReceiveWait, e.SendWait
	e = newBlockingMeeting(down, root, other).ReturnTimes()
	root.clock, other.clock = e.SendWait, e.ReceiveWait
}

// predictBurst returns the mean interval between the ends of consecutive sends, to a receiver that
// receives as fast as it can.
func (x *algebraicBenchmark) predictBurst() unit.Time {
	var from, to rankState
	var first unit.Time
	for i := range microbench.MessagesPerBurst {
		e := newBlockingMeeting(x.messageToP2, &from, &to).ReturnTimes()
		from.clock, to.clock = e.SendWait, e.ReceiveWait
		if i == 0 {
			first = from.clock
		}
	}
	return (from.clock - first) / (microbench.MessagesPerBurst - 1)
}

// platformQuantities are quantities that the platform's file says: the time of the first byte on
// the wire, and what a call that waits does after its protocol is done, at the sender longer than
// at the receiver.
var platformQuantities = map[string]int{"wire": 1, "after_protocol": 2}

// platformTexts are the texts that answer to published ones, with the number of their arguments.
var platformTexts = map[string]int{"description": 1, "clock": 1, "interconnect": 1, "ranks": 1, "equation": 2}

// addPlatformValues adds what the platform's file says of a subject. H and P of the file are
// predictions.
func (x *reproduction) addPlatformValues(s *papers.Site) {
	m, library := s.Job.Platform.Machine, s.Job.Library
	there, _ := s.Paths()
	x.measured[expr.QuantityKey("wire", s.ID)] = expr.ExactValue(model.LowLevelParameters(m, library, there).L.Micros())
	x.measured[expr.QuantityKey("after_protocol", s.ID, "ssend")] = expr.ExactValue((library.Software[model.ProtoSynchronousSendCost] - library.Software[model.ProtoCompleteCost]).Micros())
	if n, ok := m.Network.(*model.Hypernodes); ok {
		x.predicted[expr.QuantityKey("H", s.ID)] = expr.ExactValue(float64(len(n.Sizes)))
		x.predicted[expr.QuantityKey("P", s.ID)] = expr.ExactValue(float64(n.Sizes[0]))
	}
	for name, text := range map[string]string{
		"description":  m.Description,
		"clock":        fmt.Sprintf("programs read a clock of %s MHz", expr.FormatDigits(float64(unit.Microsecond)/float64(m.TimerResolution))),
		"interconnect": m.Interconnect(),
		"ranks":        fmt.Sprintf("%d ranks run", s.Job.Ranks),
	} {
		x.textsByCell[expr.QuantityKey(name, s.ID)] = text
	}
}

// addEquations adds the texts equation(protocol, symbol): the sums of the models for T_s and T_s-r.
func (x *reproduction) addEquations() {
	for _, p := range model.Protocols {
		e := p.Equations()
		x.textsByCell[expr.QuantityKey("equation", p.Name, "T_s")] = formatSum(e.Sender[:])
		x.textsByCell[expr.QuantityKey("equation", p.Name, "T_s-r")] = formatSum(e.Delivery[:])
	}
	// One parameter of the model of long messages is 1 and all others are 0.
	const one = unit.Microsecond
	half := []model.Parameters{{SendOverhead: model.ConstantCurve(one)}, {L: one}, {RecvOverhead: model.ConstantCurve(one)}, {GapPerByte: unit.PerByte(one)}}
	for _, inside := range []bool{false, true} {
		var n []int
		for _, h := range half {
			n = append(n, int(model.LoGH{BetweenHypernodes: h}.OneWayTime(inside, 2)/one))
		}
		for _, i := range []int{0, 2, 3} {
			n = append(n, int(model.LoGH{InsideHypernode: half[i]}.OneWayTime(inside, 2)/one))
		}
		where := map[bool]string{false: "inter-hypernode, long", true: "intra-hypernode, long"}[inside]
		x.textsByCell[expr.QuantityKey("equation", where, "T_s-r")] = formatSum(n)
	}
}

// formatSum prints coefficients of o_s, L, o_r, (k−1) G, s_s, s_r and (k−1) S, without those that
// are zero.
func formatSum(coefficients []int) string {
	symbols := []string{"o_s", "L", "o_r", "(k−1) G", "s_s", "s_r", "(k−1) S"}
	text := ""
	for i, n := range coefficients {
		text += fmt.Sprintf(" + %d %s", n, symbols[i])
	}
	return simplifySum(text[len(" + "):])
}

// claimFunctions are the checks that no expression can state. They say whether the claim holds, and
// by what.
var claimFunctions = map[string]func() (holds bool, evidence string){
	// Each parameter has a value that no sum of the others has.
	"simple_model_is_protocol_model": func() (bool, string) {
		x := model.Parameters{L: 1, SendOverhead: model.ConstantCurve(10), RecvOverhead: model.ConstantCurve(100), GapPerByte: 1000}
		protocol, simple := model.DeliveryTime(model.ProtocolT, x, 1), x.OneWayTime(1)
		return protocol == simple, fmt.Sprintf("with L = 1, o_s = 10, o_r = 100, G = 1000 and k = 1 the protocol T takes %d, the simple model %d", protocol, simple)
	},
}
