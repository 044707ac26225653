package papers

import (
	"testing"
)

// The packets of ACLMPL's messages of 128 bytes are those that its protocols describe, counted by
// hand.
func TestACLMPLPackets(t *testing.T) {
	x := NewResults()
	s := openSite(t, Subject{ID: "sync", Platform: "t3d", Library: "aclmpl", Place: "inter", Mode: "sync", Ranks: 32})
	measure(t, "aclmpl", s, Experiment{Ranks: []int{4}, Sizes: []int{128}}, x)
	for key, want := range map[string]float64{
		"puts(sync,sync,pool)": 3, "put_bytes(sync,sync,pool)": 16 + 128 + 8, "copies(sync,sync,pool)": 0,
		"puts(sync,async,pool)": 3, "put_bytes(sync,async,pool)": 24 + 128, "copies(sync,async,pool)": 1, "copies(sync,async,list)": 2,
		"in_order(sync)": 1, "path(sync,4)": 2, "senders(sync,4,1)": 1, "senders(sync,4,2)": 2,
	} {
		if got := x.Numbers[key]; got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	if !(x.Numbers["refusals(sync)"] > 0) {
		t.Error("a pool of 8 slots was not full with 100 messages")
	}
}
