package export

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/loggp/loggp/fit/params"
)

// simGrid writes a platform file of SimGrid (https://simgrid.org, platform DTD 4.1) for SMPI: two
// hosts, a link, and the configuration that makes a message cost what LogGP says. A ping-pong in
// SimGrid 3.32 with such a file took o_s + L + (k−1)·G + o_r to within a nanosecond.
//
// SMPI charges MPI_Send, MPI_Isend and MPI_Recv the times smpi/os, smpi/ois and smpi/or, which are
// sections size:startup:per-byte in seconds; one is for messages longer than its size. It does so
// for messages that are sent without asking the receiver, shorter than
// smpi/send-is-detached-thresh. The network takes latency + k/bandwidth. Its factors, made for
// other machines, are set to 1, and its TCP window is turned off.
var simGrid = Format{
	Name:        "simgrid",
	Description: "SimGrid: a platform of two hosts with latency, bandwidth, smpi/os, smpi/ois and smpi/or",
	write:       writeSimGrid,
}

func writeSimGrid(w io.Writer, ps []params.Parameter, o Options) error {
	m, err := newMachine(ps, o)
	if err != nil {
		return err
	}
	if m.gapPerByte.value == 0 {
		return m.missingError("G", "nothing a byte, and SimGrid has no bandwidth without end")
	}
	if m.latencyValue.value < m.gapPerByte.value {
		return m.missingError("L", fmt.Sprintf("%.4g us, which is not even the time of a byte, %.4g us", m.latencyValue.value, m.gapPerByte.value))
	}
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<!--\n")
	for _, line := range m.conventions(o) {
		fmt.Fprintf(b, "  %s\n", strings.ReplaceAll(line, "--", "- -")) // which a comment may not have
	}
	fmt.Fprint(b, "-->\n<platform version=\"4.1\">\n  <config>\n")
	for _, c := range m.config(o) {
		fmt.Fprintf(b, "    <prop id=\"%s\" value=\"%s\"/>\n", c[0], c[1])
	}
	fmt.Fprint(b, "  </config>\n  <zone id=\"loggp\" routing=\"Full\">\n")
	for i := range 2 {
		fmt.Fprintf(b, "    <host id=\"node-%d\" speed=\"1Gf\"/>\n", i)
	}
	fmt.Fprintf(b, "    <link id=\"wire\" latency=\"%ss\" bandwidth=\"%sBps\" sharing_policy=\"SPLITDUPLEX\"/>\n", formatReal(m.latency()), formatReal(1e6/m.gapPerByte.value))
	fmt.Fprint(b, "    <route src=\"node-0\" dst=\"node-1\" symmetrical=\"NO\"><link_ctn id=\"wire\" direction=\"UP\"/></route>\n"+
		"    <route src=\"node-1\" dst=\"node-0\" symmetrical=\"NO\"><link_ctn id=\"wire\" direction=\"DOWN\"/></route>\n  </zone>\n</platform>\n")
	return b.Flush()
}

// latency returns that of the link in seconds. SimGrid counts k bytes where LogGP counts k−1.
func (m *simulatedMachine) latency() float64 {
	return (m.latencyValue.value - m.gapPerByte.value) * 1e-6
}

// conventions says what the numbers are, for people.
func (m *simulatedMachine) conventions(o Options) []string {
	s := int(m.eager.value)
	lines := []string{
		escapeXMLName(fmt.Sprintf("LogGP parameters of %s, mode %s, for SMPI.", m.subject, m.mode)),
		fmt.Sprintf("latency: L - G; L is %.6g us by %s. SimGrid takes k/bandwidth for k bytes, LogGP (k-1)*G.", m.latencyValue.value, m.latencyValue.method),
		fmt.Sprintf("bandwidth: 1/G; G is %.6g us/B by %s.", m.gapPerByte.value, m.gapPerByte.method),
		fmt.Sprintf("smpi/os, smpi/or: o_s and o_r of %s in sections size:startup:per-byte, in seconds, each for messages longer than its size.", m.mode),
		fmt.Sprintf("Messages of up to S = %d bytes are sent at once: %s. SMPI charges overheads for these only.", s, m.eager.method),
		"network/model is SMPI, as it is with smpirun; its factors are 1. speed is not measured: set it, or smpi/host-speed, for your processors.",
		"smpirun computes to the nanosecond; for short times set precision/timing, in older versions surf/precision, to 1e-12.",
	}
	if len(m.overheadRanges("isend", "o_s")) == 0 {
		lines = append(lines, "smpi/ois: o_s of isend is not among the parameters, so that MPI_Isend costs nothing.")
	}
	lines = append(lines, m.compareOneWay(func(k int) float64 {
		charged := k
		if o.TakesSmallOverheads {
			charged = m.smallBytes
		}
		return m.overhead("o_s", charged) + m.latencyValue.value + float64(k-1)*m.gapPerByte.value + m.overhead("o_r", charged)
	})...)
	if !o.TakesSmallOverheads {
		whole := m.overhead("o_s", s) + m.latencyValue.value + float64(s-1)*m.gapPerByte.value + m.overhead("o_r", s)
		bytes := m.overhead("o_s", s) - m.overhead("o_s", m.smallBytes) + m.overhead("o_r", s) - m.overhead("o_r", m.smallBytes)
		lines = append(lines, fmt.Sprintf("One way, %d bytes take %.4g us so, of which %.4g us are what overheads grow with the size. Where copies and the wire work at the same", s, whole, bytes),
			"time that is too long: with the option \"overheads small\" those of small messages are charged at all sizes, since G has the bytes.")
	}
	return lines
}

// config returns the settings, in order.
func (m *simulatedMachine) config(o Options) [][2]string {
	threshold := strconv.Itoa(int(m.eager.value) + 1) // messages shorter than it are sent at once
	all := [][2]string{
		{"smpi/os", m.sections(m.mode, "o_s", o)},
		{"smpi/or", m.sections(m.mode, "o_r", o)},
	}
	if len(m.overheadRanges("isend", "o_s")) > 0 {
		all = append(all, [2]string{"smpi/ois", m.sections("isend", "o_s", o)})
	}
	return append(all, [2]string{"smpi/async-small-thresh", threshold}, [2]string{"smpi/send-is-detached-thresh", threshold},
		[2]string{"smpi/lat-factor", "0:1"}, [2]string{"smpi/bw-factor", "0:1"}, [2]string{"network/TCP-gamma", "0"}, [2]string{"network/weight-S", "0"})
}

// sections returns an overhead up to S.
func (m *simulatedMachine) sections(mode, name string, o Options) string {
	pieces := m.overheadRanges(mode, name)
	if o.TakesSmallOverheads {
		return "0:" + formatReal(pieces[0].ValueAtFrom*1e-6) + ":0"
	}
	var all []string
	for i, p := range pieces {
		from := p.From - 1
		if i == 0 || from < 0 {
			from = 0
		}
		if i > 0 && p.From > int(m.eager.value) {
			break
		}
		if i == 0 && p.ValueAt(1) < 0 { // nothing is known of shorter messages: they cost what the shortest does of which it is
			all, from = append(all, fmt.Sprintf("0:%s:0", formatReal(p.ValueAtFrom*1e-6))), p.From-1
		}
		all = append(all, fmt.Sprintf("%d:%s:%s", from, formatReal(p.ValueAt(0)*1e-6), formatReal(p.Slope*1e-6)))
	}
	return strings.Join(all, ";")
}

// formatReal returns a number with seven digits, more than any measurement has.
func formatReal(x float64) string { return strconv.FormatFloat(x, 'g', 7, 64) }

// escapeXMLName makes a text of names one that XML can hold.
func escapeXMLName(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
