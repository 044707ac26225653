package model_test

import (
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/model"
)

func TestRulesIncludeTheirLimit(t *testing.T) {
	s := model.ProtoSettings{Rules: []model.ProtocolRule{
		{Mode: model.StandardMode, Peers: model.IntraPeers, MaxBytes: 100, Protocol: "TA"},
		{Mode: model.StandardMode, MaxBytes: 10, Protocol: "T"},
		{Mode: model.StandardMode, MaxBytes: -1, Protocol: "RTA"},
	}}
	for _, c := range []struct {
		mode  model.Mode
		tier  model.Tier
		bytes int
		want  string
	}{
		{model.StandardMode, model.InterNode, 10, "T"},
		{model.StandardMode, model.InterNode, 11, "RTA"},
		{model.StandardMode, model.IntraNode, 100, "TA"},
		{model.StandardMode, model.IntraNode, 101, "RTA"},
		{model.ReadyMode, model.InterNode, 1, ""},
	} {
		if got := s.Protocol(c.mode, c.tier, c.bytes); got != c.want {
			t.Errorf("%v message of %d bytes to an %v peer: protocol %q, want %q", c.mode, c.bytes, c.tier, got, c.want)
		}
	}
}

// The copy into the attached buffer stages a buffered message. In other modes staging is one more
// copy by the sender.
func TestBufferedMessagesAreStagedOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for range 200 {
		x := random(r)
		x.Protocol, x.Bytes = model.ProtocolRTA, 5000
		staged, direct := *x.Library, *x.Library
		for i := range staged.Proto.LongMessages {
			staged.Proto.LongMessages[i].CopiesToAccessibleMemory, direct.Proto.LongMessages[i].CopiesToAccessibleMemory = true, false
		}
		for m, copies := range map[model.Mode]int{model.BufferedMode: 0, model.ReadyMode: 1} {
			x.Mode = m
			x.Library = &staged
			with := x.Cost().Delivery.Sum()
			x.Library = &direct
			without := x.Cost().Delivery.Sum()
			if got := with > without; got != (copies > 0) {
				t.Fatalf("%v message: delivered after %v with staging, %v without", m, with, without)
			}
		}
	}
}
