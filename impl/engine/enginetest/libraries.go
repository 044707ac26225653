package enginetest

import "github.com/loggp/loggp/model"

// Library is a library with which tests run.
type Library struct {
	Name string
	New  func() *model.Library
}

// ProtoLibraries returns libraries of the engine model.ProtoEngine that cover all its protocols.
// Their windows are small, so that messages exhaust them.
func ProtoLibraries() []Library {
	all := []Library{{"default", T3DLibrary}, {"mixed", LibraryOfAllProtocols}} // the most different ones first
	for _, protocol := range model.ProtocolNames() {
		all = append(all, Library{protocol, func() *model.Library { return LibraryOfProtocol(protocol) }})
	}
	return all
}

// T3DLibrary returns the library of the T3D.
func T3DLibrary() *model.Library {
	l := *LoadPlatform("t3d").Libraries[0]
	return &l
}

const testWindowBytes = 4096

// LibraryOfProtocol returns a library with a single protocol, except for synchronous messages that
// it cannot send.
func LibraryOfProtocol(protocol string) *model.Library {
	l := &model.Library{Name: "by " + protocol, Proto: model.ProtoSettings{Fallback: "RTA", WindowBytes: testWindowBytes, FirstBytes: 300}}
	for m := range model.NumModes {
		l.Proto.Rules = append(l.Proto.Rules, model.ProtocolRule{Mode: m, MaxBytes: -1, Protocol: protocol})
	}
	if protocol == "T" {
		l.Proto.Rules[model.SynchronousMode].Protocol = "TA"
	}
	return l
}

// LibraryOfAllProtocols returns a library in which messages of similar sizes use different
// protocols.
func LibraryOfAllProtocols() *model.Library {
	l := &model.Library{Name: "mixed", Proto: model.ProtoSettings{Fallback: "RAT", WindowBytes: testWindowBytes, FirstBytes: 700, LongMessages: model.ForEveryTier(model.LongMessage{CopiesToAccessibleMemory: true, BounceBufferBytes: 300})}}
	for m := range model.NumModes {
		for _, r := range []model.ProtocolRule{{MaxBytes: 7, Protocol: "TA"}, {MaxBytes: 64, Protocol: "T"}, {MaxBytes: 200, Protocol: "RTA"}, {MaxBytes: 500, Protocol: "TA"},
			{MaxBytes: 1000, Protocol: "PTAT"}, {MaxBytes: 1500, Protocol: "RAT"}, {MaxBytes: 3000, Protocol: "T"}, {MaxBytes: -1, Protocol: "RTA"}} {
			if r.Mode = m; m == model.SynchronousMode && r.Protocol == "T" {
				r.Protocol = "RAT"
			}
			l.Proto.Rules = append(l.Proto.Rules, r)
		}
	}
	return l
}
