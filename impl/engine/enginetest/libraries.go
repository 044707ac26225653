package enginetest

import "github.com/loggp/loggp/model"

// Library is a library under which tests run.
type Library struct {
	Name string
	New  func() *model.Library
}

// ProtoLibraries returns libraries of the engine model.ProtoEngine that take its messages all ways.
// Their windows are small, so that messages run out of them.
func ProtoLibraries() []Library {
	all := []Library{{"default", Default}, {"mixed", Mixed}} // the most different first
	for _, protocol := range model.ProtocolNames() {
		all = append(all, Library{protocol, func() *model.Library { return By(protocol) }})
	}
	return all
}

// Default returns the library of the T3D.
func Default() *model.Library {
	l := *Load("t3d").Libraries[0]
	return &l
}

const window = 4096

// By returns a library of one protocol, except for synchronous messages that it cannot send.
func By(protocol string) *model.Library {
	l := &model.Library{Name: "by " + protocol, Proto: model.ProtoSettings{Fallback: "RTA", Window: window, FirstBytes: 300}}
	for m := range model.NumModes {
		l.Proto.Rules = append(l.Proto.Rules, model.ProtocolRule{Mode: m, UpTo: -1, Protocol: protocol})
	}
	if protocol == "T" {
		l.Proto.Rules[model.SynchronousMode].Protocol = "TA"
	}
	return l
}

// Mixed returns a library in which neighbouring sizes go different ways.
func Mixed() *model.Library {
	l := &model.Library{Name: "mixed", Proto: model.ProtoSettings{Fallback: "RAT", Window: window, FirstBytes: 700, Long: model.EveryTier(model.LongMessage{Stage: true, Bounce: 300})}}
	for m := range model.NumModes {
		for _, r := range []model.ProtocolRule{{UpTo: 7, Protocol: "TA"}, {UpTo: 64, Protocol: "T"}, {UpTo: 200, Protocol: "RTA"}, {UpTo: 500, Protocol: "TA"},
			{UpTo: 1000, Protocol: "PTAT"}, {UpTo: 1500, Protocol: "RAT"}, {UpTo: 3000, Protocol: "T"}, {UpTo: -1, Protocol: "RTA"}} {
			if r.Mode = m; m == model.SynchronousMode && r.Protocol == "T" {
				r.Protocol = "RAT"
			}
			l.Proto.Rules = append(l.Proto.Rules, r)
		}
	}
	return l
}
