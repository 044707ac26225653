package foreign

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

func read(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// imported imports files of testdata.
func imported(t testing.TB, o Options, names ...string) (*sample.Set, []Note) {
	t.Helper()
	var files []File
	for _, name := range names {
		files = append(files, File{"testdata/" + name, strings.NewReader(read(t, name))})
	}
	set, report, err := Import(files, o)
	if err != nil {
		t.Fatal(err)
	}
	return set, report.Notes
}

// at is a sample: of a timer of a mode, at a size.
type at struct {
	mode, timer string
	bytes       int
	us          string
}

// Each real output, whole: how many samples of how many series, and samples that were read off the
// file by eye and put in our units by hand.
func TestImport(t *testing.T) {
	for _, c := range []struct {
		file, format string
		rows, series int
		samples      []at
		facts        []string // key=value
		left         []string // what the notes must say, in order
	}{
		{"osu-latency.txt", "osu", 23, 23, []at{{"send", "rtt", 1, "0.22"}, {"send", "rtt", 4096, "3.78"}, {"send", "rtt", 4194304, "544.2"}},
			[]string{"tool_version=7.4", "timer_resolution_us=0.02", "datatype=MPI_CHAR."}, nil},
		{"osu-bw.txt", "osu", 23, 23, []at{{"isend", "stream", 1, "0.04"}, {"isend", "stream", 1024, "0.088407"}, {"isend", "stream", 4194304, "257.588705"}},
			[]string{"tool=OSU MPI Bandwidth Test"}, []string{"osu_bw has windows"}},
		{"osu-mbw-mr.txt", "osu", 23, 23, []at{{"isend", "stream", 1, "0.039984"}, {"isend", "stream", 4194304, "269.316401"}},
			[]string{"tool=OSU MPI Multiple Bandwidth / Message Rate Test"}, []string{"osu_mbw_mr has windows"}},
		{"osu-allreduce.txt", "osu", 63, 63, []at{{"allreduce", "coll_mean", 1, "0.15"}, {"allreduce", "coll_min", 1, "0.14"}, {"allreduce", "coll_max", 1048576, "95.75"}},
			[]string{"ranks=2", "timer_resolution_us=0.01", "start=behind barriers alone: osu_allreduce has no common clock",
				"repetitions of coll_max allreduce=1-8192 B: 1000, 16384-1048576 B: 100"}, nil},
		{"imb-p2p.txt", "imb", 24, 24, []at{{"send", "rtt", 0, "0.180238"}, {"send", "rtt", 1024, "0.38155"}},
			[]string{"tool_version=2021.11", "repetitions of rtt send=0-8192 B: 100000, 16384 B: 51200, 32768 B: 25600, 65536 B: 12800, 131072 B: 6400, 262144 B: 3200, 524288 B: 1600, 1048576 B: 800, 2097152 B: 400, 4194304 B: 200"}, nil},
		{"netgauge-stdout-protocol-change.txt", "netgauge", 257, 257, []at{{"send", "rtt", 1, "0.250346"}, {"send", "timer11", 125953, "9.079237"}, {"send", "timer12", 130049, "9.321219"}},
			[]string{"protocol_change_at_bytes=121857"}, []string{"g and G"}},
		{"imb-mpi1.txt", "imb", 66, 66, []at{{"send", "rtt", 0, "0.2"}, {"send", "rtt", 1048576, "134.6"}, {"isend", "stream", 0, "0.039377"}, {"isend", "stream", 1048576, "66.608939"},
			{"isend", "stream-both", 0, "0.083369"}, {"isend", "stream-both", 8, "0.104066"}},
			[]string{"tool_version=2021.11", "date=Fri Nov 20 23:51:43 2026", "mpi_version=3.1",
				"repetitions of rtt send=0-32768 B: 1000, 65536 B: 640, 131072 B: 320, 262144 B: 160, 524288 B: 80, 1048576 B: 40"},
			[]string{"PingPing", "Sendrecv", "Exchange", "Uniband"}},
		{"netgauge-ng.out", "netgauge", 512, 512, []at{{"send", "rtt", 1, "0.720998"}, {"send", "prtt10", 1, "1.742411"}, {"send", "prtt10-d", 1, "0.951313"},
			{"send", "timer12", 1, "0.085675"}, {"send", "prtt10", 130049, "127.8469"}, {"send", "timer12", 130049, "10.097428"}}, nil, []string{"L, g and G"}},
		{"netgauge-stdout.txt", "netgauge", 257, 257, []at{{"send", "rtt", 1, "0.720998"}, {"send", "timer11", 1, "0.025591"}, {"send", "timer12", 130049, "10.097428"}},
			[]string{"tool_version=2.4.6", "repetitions of timer11 send=1-130049 B: 100"}, []string{"g and G"}},
		{"logp_mpi.logp", "logp_mpi", 130, 130, []at{{"send", "timer11", 0, "0"}, {"send", "timer12", 0, "0.1"}, {"send", "rtt", 0, "0.2"}, {"send", "train", 8, "0.1"},
			{"send", "timer11", 524288, "40.5"}, {"send", "timer12", 524288, "52.1"}, {"send", "train", 524288, "40.5"}},
			[]string{"date=2026-11-20T23:34:57Z", "test=logp_test.Send.Recv"}, nil},
		{"netpipe.np", "netpipe", 118, 118, []at{{"send", "rtt", 1, "0.194482"}, {"send", "rtt", 4194307, "905.773856"}}, nil, nil},
		{"skampi.sko", "skampi", 48, 48, []at{{"send", "rtt", 4, "0.3"}, {"send", "rtt", 16384, "5.4"}, {"ssend", "rtt", 4, "0.5"}},
			[]string{"tool_version=6.0.0", "date=Fri Nov 20 23:52:12 2026"},
			[]string{"Send_Iprobe_Recv", "Send_Irecv", "Send_Recv_AnyTag", "Isend_Recv", "Issend_Recv", "Pingpong_Sendrecv:", "Sendrecv_replace"}},
		{"prtt-openmpi-shm-eager4096.csv", "prtt", 6000, 200, []at{{"send", "rtt", 0, "0.341"}, {"send", "prtt10-d", 0, "0.715"}, {"send", "timer12", 0, "0.0951"}}, nil,
			[]string{"mode por"}},
		{"prtt-contaminated.csv", "prtt", 6000, 200, []at{{"send", "rtt", 0, "3.225"}, {"send", "prtt10-d", 0, "1.2"}, {"send", "timer12", 0, "0.1067"}}, nil, []string{"mode por"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			set, notes := imported(t, Options{Ranks: 2}, c.file)
			if set.SampleCount() != c.rows || len(set.Series) != c.series {
				t.Errorf("%d samples in %d series, want %d in %d", set.SampleCount(), len(set.Series), c.rows, c.series)
			}
			for _, want := range c.samples {
				i := slices.IndexFunc(set.Series, func(s sample.Series) bool {
					return s.Mode == want.mode && s.Timer == want.timer && s.Bytes == want.bytes && s.Launch == 0
				})
				if i < 0 || set.Series[i].Times[0].MicrosString() != want.us {
					t.Errorf("no such sample: %+v", want)
				}
			}
			for _, f := range append(c.facts, "imported_from="+c.file, "roots=1") {
				key, want, _ := strings.Cut(f, "=")
				if got, _ := set.Fact(key); got != want {
					t.Errorf("fact %s is %q, want %q", key, got, want)
				}
			}
			for i, want := range c.left {
				if i >= len(notes) || !strings.Contains(notes[i].Text, want) {
					t.Errorf("note %d does not say %q: %v", i, want, notes)
				}
			}
			if len(notes) != len(c.left) {
				t.Errorf("%d notes, want %d: %v", len(notes), len(c.left), notes)
			}
			key := set.Series[0].Key
			if key.Platform != c.format || key.Clock != "real" || key.Place != "inter" || key.Protocol != map[bool]string{false: autoProtocol, true: vendorAlgorithm}[sample.IsCollectiveTimer(key.Timer)] {
				t.Errorf("%+v", key)
			}
			again := write(t, set)
			if back, err := sample.Read(bytes.NewReader(again), "again"); err != nil || !bytes.Equal(write(t, back), again) {
				t.Errorf("what was imported cannot be read again: %v", err)
			}
			for _, f := range Formats {
				if f.matchesText(read(t, c.file)) != (f.Name == c.format) {
					t.Errorf("guessed to be of %s: %v", f.Name, !(f.Name == c.format))
				}
			}
		})
	}
}

func write(t testing.TB, set *sample.Set) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := sample.Write(&b, set); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Facts that the outputs lack are reported. Files of several tools are kept side by side, and a
// repeated measurement is another launch.
func TestImportSeveral(t *testing.T) {
	set, _ := imported(t, Options{Platform: "mine", Library: "lib", Place: "2-3"}, "osu-latency.txt", "osu-bw.txt", "osu-latency.txt", "skampi.sko")
	if want := 23 + 23 + 23 + 48; len(set.Series) != want {
		t.Errorf("%d series, want %d", len(set.Series), want)
	}
	launches := map[int]int{}
	for _, s := range set.Series {
		if s.Platform != "mine" || s.Library != "lib" || s.Place != "2-3" {
			t.Fatalf("%+v", s.Key)
		}
		if s.Timer == sample.TimerRTT && s.Mode == "send" && s.Bytes == 4 {
			launches[s.Launch]++
		}
	}
	if len(launches) != 3 {
		t.Errorf("launches %v of 4 bytes, want one each of 0, 1, 2", launches)
	}
	write(t, set) // no two series of one key
	if set, _ := imported(t, Options{Format: &netgaugeFormat}, "netgauge-stdout.txt"); set.Series[0].Library != "mpi" {
		t.Errorf("library %q, want the module that the file names", set.Series[0].Library)
	}
}

// Several pairs of processes at once are no measurement of one.
func TestManyProcesses(t *testing.T) {
	text := read(t, "imb-mpi1.txt")
	at := strings.Index(text, "# Benchmarking Uniband")
	set, report, err := Import([]File{{"f", strings.NewReader(text[:at] + strings.Replace(text[at:], "#processes = 2", "#processes = 4", 1))}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if set.SampleCount() != 44 || !slices.ContainsFunc(report.Notes, func(n Note) bool { return strings.HasPrefix(n.Text, "Uniband of 4 processes: several pairs at once") }) {
		t.Errorf("%d samples, %v", set.SampleCount(), report.Notes)
	}
}

// Lines that do not parse: where, and what belongs there.
func TestBroken(t *testing.T) {
	for _, c := range []struct{ file, old, new, want string }{
		{"osu-allreduce.txt", "# Datatype", "# Datatype", "the file does not say how many ranks took part in the collective operation: give --ranks"},
		{"netgauge-ng.out", "1025 10 1.401940", "1025 1 1.401940", `f:5:6: "1" where the messages of a train, at least 2 belongs`},
		{"netgauge-ng.out", "1025 10 1.401940", "1025 10 -nan", `f:5:9: "-nan" where a round trip in us belongs`},
		{"netgauge-ng.out", "0.273051\n", "\n", `f:7:83: 10 columns where a row of size n PRTT`},
		{"netgauge-stdout.txt", "s=1025  o_s", "s=1025 bytes o_s", `f:7:1: " L=0.360499  s=1025 bytes o_s=0.926838  …" where`},
		{"netgauge-stdout.txt", "s=1025  o_s=0.926838", "s=1025  o_s=fast", `f:7:26: "fast" where o_s in us belongs`},
		{"logp_mpi.logp", "       4 0.0000000", "       4 0.00x", `f:7:20: "0.00x" where a time in s belongs`},
		{"logp_mpi.logp", "os_min    os_cnfint", "os_cnfint os_min   ", `f:3:1: the columns`},
		{"logp_mpi.logp", ".Send.Recv", ".Put.Get", `f:1:1: "logp_test.Put.Get" does not name the calls`},
		{"netpipe.np", "4 311.476824", "4 31.1476824", `f:4:10: 31.1476824 Mbit/s of 2^20 bits are 979.77ns for 4 bytes, but the row says 0.00000010 s`},
		{"netpipe.np", "       4 311.476824   0.00000010", "       4 311.476824", `f:4:20: 2 columns where a row of bytes, Mbit/s and seconds belongs`},
		{"skampi.sko", "count= 2        8       0.3 ", "count= 2        8       slow", `f:8:25: "slow" where a time in us belongs`},
		{"skampi.sko", "# end result \"Pingpong_Send_Recv\"\n", "", `f:33:1: block Pingpong_Send_Iprobe_Recv begins before the end of Pingpong_Send_Recv, which began in line 6`},
		{"prtt-openmpi-shm-eager4096.csv", "p1,0,1,0,2,400,0.0", "p9,0,1,0,2,400,0.0", `f:4:1: "p9" where p1, pn, pnd or por belongs`},
		{"prtt-openmpi-shm-eager4096.csv", "p1,0,1,0,2,400,0.0", "p1,0,1,0,2,400", `f:4:15: 6 columns where a row of mode,size`},
		{"prtt-openmpi-shm-eager4096.csv", "p1,0,1,0,2,400,0.0", "p1,0,1,0,2,,0.0", `f:4:12: "" where a time in ns belongs`},
		{"prtt-openmpi-shm-eager4096.csv", "p1,0,1,0,2,400,0.0", "p1,0,2,0,2,400,0.0", `f:4:6: 2 messages with waits of 0 ns that took 400 ns are no train of mode p1`},
		{"prtt-openmpi-shm-eager4096.csv", "pnd,0,10,340,0,3775,", "pnd,0,10,340,0,3059,", `f:62:7: 10 messages with waits of 340 ns that took 3059 ns are no train of mode pnd`},
	} {
		text := read(t, c.file)
		broken := strings.Replace(text, c.old, c.new, 1)
		if broken == text && c.old != c.new {
			t.Errorf("%s: nothing to break by %q", c.file, c.old)
			continue
		}
		_, _, err := Import([]File{{"f", strings.NewReader(broken)}}, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %q for %q:\n got %v\nwant %s", c.file, c.new, c.old, err, c.want)
		}
	}
}

// Rows of a table that cannot be read are left out: which, and why. The others count.
func TestRowsThatCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		file, old, new, want string
		rows                 int
	}{
		{"osu-latency.txt", "8                       0.11", "8                       0,11", `line 8: "0,11" where a time in us belongs`, 22},
		{"osu-latency.txt", "8                       0.11", "8B                      0.11", `line 8: "8B" where a number of bytes belongs`, 22},
		{"osu-latency.txt", "8                       0.11", "8                       -0.11", `line 8: "-0.11" where a time`, 22},
		{"osu-latency.txt", "8                       0.11", "8                       nan", `line 8: the value is nan`, 22},
		{"osu-latency.txt", "8                       0.11", "8                       1e999", `line 8: "1e999" where a time`, 22},
		{"osu-latency.txt", "8                       0.11", "8", `line 8: 8 has no value: cut off`, 22},
		{"osu-latency.txt", "8                       0.11", "8    0.11[n1:42] WARNING", `line 8: 3 columns where the headings have 2`, 22},
		{"osu-latency.txt", "8                       0.11", "8  " + strings.Repeat(" ", maxLineBytes) + "0.11", `1 line that is no result: line 8 "(a line of more than 4096 bytes)"`, 22},
		{"osu-bw.txt", "8                     203.79", "8                       0.00", `line 8: "0.00" where a bandwidth belongs`, 22},
		{"imb-mpi1.txt", "         1000         0.09 ", "         many         0.09 ", `line 44: "many" where a number of repetitions belongs`, 65},
		{"imb-mpi1.txt", "       120.39     15048148", "       120.39     fast", `line 156: "fast" where messages a second belongs`, 65},
		{"imb-p2p.txt", `     11096378`, `      1109637`, `line 29: 1109637 messages a second take 901.196ns each, but the row says 0.09 us`, 23},
	} {
		text := read(t, c.file)
		broken := strings.Replace(text, c.old, c.new, 1)
		if broken == text {
			t.Errorf("%s: nothing to break by %q", c.file, c.old)
			continue
		}
		set, report, err := Import([]File{{"f", strings.NewReader(broken)}}, Options{})
		if err != nil {
			t.Errorf("%s, %q: %v", c.file, c.new, err)
			continue
		}
		if !slices.ContainsFunc(report.Notes, func(n Note) bool { return strings.HasPrefix(n.Text, c.want) }) || set.SampleCount() != c.rows {
			t.Errorf("%s, %q: %d samples, want %d; notes %v, want %s", c.file, c.new, set.SampleCount(), c.rows, report.Notes, c.want)
		}
	}
}

// A table whose headings are missing or of another test gives nothing, with the reason.
func TestTablesThatCannotBeRead(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"# Size", "# Sise", `f: nothing that can be fitted: 23 lines that are no results: line 5 "1                       0.11"; line 6`},
		{"Latency Test", "Bi-Directional Bandwidth Test", `Bi-Directional Bandwidth: its columns "Size Avg Latency(us)" are not those of this test (23 rows)`},
	} {
		text := strings.Replace(read(t, "osu-latency.txt"), c.old, c.new, 1)
		if _, _, err := Import([]File{{"f", strings.NewReader(text)}}, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v\nwant %s", c.new, err, c.want)
		}
	}
}

// A file that is cut off in its last line is not taken for a whole one, where the format tells.
func TestCutOff(t *testing.T) {
	text := read(t, "skampi.sko")
	_, _, err := Import([]File{{"f", strings.NewReader(text[:len(text)-1500])}}, Options{})
	if err == nil || !strings.Contains(err.Error(), "the file is cut off") {
		t.Errorf("%v", err)
	}
}

// Measurements in both directions, among several pairs, or on device buffers are not taken for
// those of one pair in host memory.
func TestOtherSettings(t *testing.T) {
	device := "# OSU MPI-CUDA Latency Test v7.4\n# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)\n# Size Latency (us)\n8 5.0\n"
	host := strings.NewReplacer("DEVICE (D)", "HOST (H)", "-CUDA", "").Replace(device)
	pairs := strings.Replace(read(t, "osu-mbw-mr.txt"), "pairs: 1", "pairs: 4", 1)
	both := strings.Replace(read(t, "osu-bw.txt"), "Bandwidth Test", "Bi-Directional Bandwidth Test", 1)
	short := "# OSU MPI Barrier Latency Test v7.4\n# Avg Latency(us)\n1.25\n# OSU MPI Latency Test v7.4\n# Size Latency (us)\n8 2.0\n"
	set, _, err := Import([]File{{"d", strings.NewReader(device)}, {"h", strings.NewReader(host)}, {"p", strings.NewReader(pairs)}, {"b", strings.NewReader(both)}, {"s", strings.NewReader(short)}},
		Options{Library: "openmpi", Ranks: 8})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"openmpi (device to host buffers) send auto rtt 8 0 10", "openmpi send auto rtt 8 0 10", "openmpi isend auto stream-pairs4 4096 0 5.747038",
		"openmpi isend auto stream-both 4194304 0 515.177409", "openmpi barrier vendor coll_mean 0 0 1.25", "openmpi send auto rtt 8 1 4",
	} {
		if !slices.ContainsFunc(set.Series, func(s sample.Series) bool {
			return want == fmt.Sprint(s.Library, " ", s.Mode, " ", s.Protocol, " ", s.Timer, " ", s.Bytes, " ", s.Launch, " ", s.Times[0].MicrosString())
		}) {
			t.Errorf("no %s", want)
		}
	}
	if v, _ := set.Fact("buffers"); v != "send on device, receive on host" {
		t.Errorf("buffers: %q", v)
	}
}

func TestUnknown(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{"f: not the output of a known tool", "osu", "# OSU MPI ... Test v", "prtt", "mode,size,n"}},
		{"platform,library\n", []string{"not the output of a known tool"}},
		{"# tool: x\nplatform,library,clock,place,mode,protocol,timer,bytes,launch,rep,time_us\n", []string{"f: these are samples of loggp already"}},
		{"# OSU MPI Latency Test v7\n# SKaMPI Version 6\n", []string{"could be the output of several tools", "osu", "skampi"}},
	} {
		_, _, err := Import([]File{{"f", strings.NewReader(c.text)}}, Options{})
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", c.text, err, want)
			}
		}
	}
	// If the format was named, a file of another format is an error with a place, or has nothing.
	for _, f := range Formats {
		for _, text := range []string{"", "nonsense\n"} {
			if _, _, err := Import([]File{{"f", strings.NewReader(text)}}, Options{Format: f}); err == nil {
				t.Errorf("%s takes %q", f.Name, text)
			}
		}
	}
}

// zeros is a file of endless rows.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return copy(b, "1 78.458760 0.00000010\n"), nil }

func TestBounded(t *testing.T) {
	if _, _, err := Import([]File{{"f", zeros{}}}, Options{}); err == nil || !strings.Contains(err.Error(), "f: more than 64MiB") {
		t.Errorf("an endless file: %v", err)
	}
	again := "# OSU MPI Latency Test v7.4\n# Size Latency (us)\n" + strings.Repeat("1 0.1\n", maxLaunches+1)
	if _, _, err := Import([]File{{"f", strings.NewReader(again)}}, Options{}); err == nil || !strings.Contains(err.Error(), "f:1003:1: rtt of send at 1 bytes comes more than 1000 times in one file") {
		t.Errorf("a size that comes again and again: %v", err)
	}
	var sizes strings.Builder
	sizes.WriteString("# OSU MPI Latency Test v7.4\n# Size Latency (us)\n")
	for i := range maxSeries + 1 {
		fmt.Fprintln(&sizes, i, "0.1")
	}
	if _, _, err := Import([]File{{"f", strings.NewReader(sizes.String())}}, Options{}); err == nil || !strings.Contains(err.Error(), "f:100003:1: more than 100000 sizes and launches") {
		t.Errorf("sizes without end: %v", err)
	}
	long := "1 " + strings.Repeat(" ", maxLineBytes) + "78.458760 0.00000010\n"
	if _, _, err := Import([]File{{"f", strings.NewReader(long)}}, Options{Format: &netpipeFormat}); err == nil || !strings.Contains(err.Error(), "f:1:4097: the line is longer") {
		t.Errorf("a long line: %v", err)
	}
}

// FuzzImport: whatever a file holds, each format ends with an error or with a set that can be
// written, of times that are none less than zero.
func FuzzImport(f *testing.F) {
	entries, err := os.ReadDir("testdata")
	if err != nil {
		f.Fatal(err)
	}
	field, err := os.ReadDir("testdata/field")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range field {
		f.Add(uint8(len(Formats)), read(f, "field/"+e.Name()))
	}
	for _, x := range madeUpFiles {
		f.Add(uint8(len(Formats)), x.text)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		text := read(f, e.Name())
		for i := range Formats {
			f.Add(uint8(i), text[:min(len(text), 4000)])
		}
		f.Add(uint8(len(Formats)), text[len(text)/2:min(len(text), len(text)/2+2000)])
	}
	f.Fuzz(func(t *testing.T, format uint8, text string) {
		o := Options{}
		if i := int(format) % (len(Formats) + 1); i < len(Formats) {
			o.Format = Formats[i]
		}
		o.Ranks = int(format) / 100
		set, _, err := Import([]File{{"f", strings.NewReader(text)}}, o)
		if err != nil {
			return
		}
		for _, s := range set.Series {
			for _, x := range s.Times {
				if x < 0 || x > 2*maxPlausibleTime+unit.Second {
					t.Fatalf("%v takes %v", s.Key, x)
				}
			}
		}
		if _, err := sample.Read(bytes.NewReader(write(t, set)), "again"); err != nil {
			t.Fatal(err)
		}
	})
}
