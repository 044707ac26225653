package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// EquationSymbol is a quantity of the equations.
type EquationSymbol uint8

// The symbols, in the order in which the source prints them.
const (
	SymbolSendOverhead EquationSymbol = iota // o_s
	SymbolL                                  // L
	SymbolRecvOverhead                       // o_r
	SymbolLongBytes                          // (k−1) G
	numSymbols
)

func (s EquationSymbol) String() string { return [...]string{"o_s", "L", "o_r", "(k−1) G"}[s] }

// symbolOccurrence is an occurrence of a symbol in the time of a step.
type symbolOccurrence struct {
	symbol EquationSymbol
	step   Step
}

// Coefficients says how often each symbol occurs in an equation.
type Coefficients [numSymbols]int

// String prints the sum as the source does: 2 o_s + 3 L + 2 o_r + (k−1) G.
func (c Coefficients) String() string {
	var sum []string
	for s, n := range c {
		switch {
		case n == 1:
			sum = append(sum, EquationSymbol(s).String())
		case n != 0:
			sum = append(sum, fmt.Sprintf("%d %v", n, EquationSymbol(s)))
		}
	}
	return strings.Join(sum, " + ")
}

func countSymbols(path []symbolOccurrence) Coefficients {
	var c Coefficients
	for _, f := range path {
		c[f.symbol]++
	}
	return c
}

// Equations are the coefficients of the times of a protocol.
type Equations struct {
	Sender     Coefficients // T_s
	Delivery   Coefficients // T_s-r, as the source prints it
	Completion Coefficients // when the receiver is done. It differs from Delivery for TA
}

// Equations derives equations (1) to (7), and those of PTAT that the source does not print, from
// the steps of the protocol.
func (p *Protocol) Equations() Equations {
	s, r := p.symbolsOnPaths()
	return Equations{countSymbols(s), countSymbols(p.symbolsOfDelivery()), countSymbols(r)}
}

// symbolsOnPaths returns the symbols on the path to the end of each side. A packet costs o_s, L and
// o_r. Pulled data arrives after L and (k−1) G: the request costs nothing. Pushed data costs its
// sender o_s, (k−1) G and L, and the receiver nothing. The packet with the rest of a message is
// long and has (k−1) G as well. A side that waits for a packet continues the path of the packet's
// sender.
func (p *Protocol) symbolsOnPaths() (sender, receiver []symbolOccurrence) {
	var paths [2][]symbolOccurrence
	for _, s := range p.Steps {
		path := &paths[s.From]
		if s.Means == ByGet {
			path = &paths[s.To()]
		}
		add := func(symbols ...EquationSymbol) {
			for _, x := range symbols {
				*path = append(*path, symbolOccurrence{x, s})
			}
		}
		switch s.Means {
		case ByGet:
			add(SymbolL, SymbolLongBytes)
		case ByPut:
			add(SymbolSendOverhead, SymbolLongBytes, SymbolL)
		case ByPacket:
			add(SymbolSendOverhead)
			sent := slices.Clone(*path)
			path = &paths[s.To()]
			*path = sent
			if s.Data == RestData {
				add(SymbolLongBytes)
			}
			add(SymbolL, SymbolRecvOverhead)
		}
	}
	return paths[SenderSide], paths[ReceiverSide]
}

func (p *Protocol) symbolsOfDelivery() []symbolOccurrence {
	s, r := p.symbolsOnPaths()
	if p.HasOneTime {
		return s
	}
	return r
}

// SenderTime returns how long a message of k bytes occupies its sender:
//
//	(1) T_s^T    = o_s
//	(3) T_s-r^TA = 2 o_s + 2 L + 2 o_r                   (both times)
//	(5) T_s^RTA  = 2 o_s + 3 L + 2 o_r + (k−1) G
//	(6) T_s^RAT  = 4 o_s + 3 L + 2 o_r + (k−1) G
//	    T_s^PTAT = 3 o_s + 2 L + 2 o_r
//
// Al-Tawil and Moritz, section 3.2; PTAT follows in the same way. The RM of T and TA has the o_s
// and o_r of k bytes, other packets have those of an empty packet. RTA has the G of pulled data,
// RAT the G of pushed data.
func SenderTime(p *Protocol, x Parameters, k int) unit.Time {
	s, _ := p.symbolsOnPaths()
	return x.sum(s, k)
}

// DeliveryTime returns the time from the start of a send until the message has arrived:
//
//	(2) T_s-r^T   = o_s + L + o_r
//	(3) T_s-r^TA  = 2 o_s + 2 L + 2 o_r
//	(4) T_s-r^RTA = 2 o_s + 2 L + o_r + (k−1) G
//	(7) T_s-r^RAT = 4 o_s + 4 L + 3 o_r + (k−1) G
//	    T_s-r^PTAT = 3 o_s + 3 L + 3 o_r + (k−1) G
//
// Al-Tawil and Moritz, section 3.2; PTAT follows in the same way. Parameters are as for SenderTime.
// (2) and (3) have no G, because they are for short messages.
func DeliveryTime(p *Protocol, x Parameters, k int) unit.Time { return x.sum(p.symbolsOfDelivery(), k) }

// CompletionTime returns the time from the start of a send until the receiver is done. It differs
// from Delivery for TA, whose receiver is done when it has sent the ACK:
//
//	2 o_s + L + o_r
func CompletionTime(p *Protocol, x Parameters, k int) unit.Time {
	_, r := p.symbolsOnPaths()
	return x.sum(r, k)
}

func (x Parameters) sum(path []symbolOccurrence, k int) unit.Time {
	var t unit.Time
	for _, f := range path {
		t += x.value(f, k)
	}
	return t
}

func (x Parameters) value(f symbolOccurrence, k int) unit.Time {
	n := 0
	if f.step.Data == AllData && f.step.Means == ByPacket {
		n = k
	}
	switch {
	case f.symbol == SymbolSendOverhead:
		return x.SendOverhead.Time(n)
	case f.symbol == SymbolRecvOverhead:
		return x.RecvOverhead.Time(n)
	case f.symbol == SymbolL:
		return x.L
	case f.step.Means == ByGet:
		return longMessageTime(cmp.Or(x.GapPerPulledByte, x.GapPerByte), k)
	case f.step.Means == ByPut:
		return longMessageTime(cmp.Or(x.GapPerPushedByte, x.GapPerByte), k)
	}
	return longMessageTime(x.GapPerByte, k)
}
