package tcp

import (
	"os"
	"strings"

	"github.com/loggp/loggp/impl/machine"
)

// Facts returns what numbers of this transport depend on beside what they depend on anyway: what the kernel does with connections over loopback. What cannot be
// found out is left out.
func Facts() []machine.Fact {
	facts := []machine.Fact{{Key: "tcp_nodelay", Value: "on"}}
	for _, f := range []struct{ key, file string }{
		{"tcp_congestion", "/proc/sys/net/ipv4/tcp_congestion_control"},
		{"tcp_send_buffer", "/proc/sys/net/ipv4/tcp_wmem"},
		{"tcp_receive_buffer", "/proc/sys/net/ipv4/tcp_rmem"},
		{"loopback_mtu", "/sys/class/net/lo/mtu"},
	} {
		if text, err := os.ReadFile(f.file); err == nil {
			facts = append(facts, machine.Fact{Key: f.key, Value: strings.Join(strings.Fields(string(text)), " ")})
		}
	}
	return facts
}
