package host

import (
	"fmt"
	"strconv"
	"strings"
)

// minSocketBuffer is the least size to which a socket buffer should be able to grow.
const minSocketBuffer = 1 << 20

// checkLoopback checks the network that --platform tcp uses on one computer.
func checkLoopback(p *Inspection) CheckResult {
	const lo = "sys/class/net/lo/"
	flags, err := strconv.ParseUint(strings.TrimPrefix(p.Files.FirstLine(lo+"flags"), "0x"), 16, 32)
	if err != nil {
		return okResult("not visible").withVerdict(Note, "--platform tcp needs it", "")
	}
	if up := uint64(1); flags&up == 0 {
		return okResult("down").withVerdict(Warning, "--platform tcp needs it", "ip link set lo up")
	}
	mtu, _ := p.Files.FirstNumber(lo + "mtu")
	f := okResult("packets to %d bytes", mtu)
	if mtu < 65536 {
		return f.withVerdict(Note, "long messages are cut into more packets than usual: their bandwidth is lower", "ip link set lo mtu 65536")
	}
	for _, name := range []string{"tcp_rmem", "tcp_wmem"} {
		words := strings.Fields(p.Files.FirstLine("proc/sys/net/ipv4/" + name))
		if len(words) == 3 {
			if n, err := strconv.ParseInt(words[2], 10, 64); err == nil && n < minSocketBuffer {
				f.Found += fmt.Sprintf(", and buffers to %s (%s)", formatBytes(n), name)
				return f.withVerdict(Note, "a message that does not fit the buffers waits for the receiver: long messages are slower", "sysctl net.ipv4."+name+"='4096 131072 4194304'")
			}
		}
	}
	return f
}
