package foreign

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
)

// fieldFile is a file as a user has it, and what it holds.
type fieldFile struct {
	name    string
	options Options
	text    string   // "": the file of that name in testdata/field
	rows    []string // library|mode timer bytes: us; all that there are
	notes   []string // parts of notes, one each; all that there are if complete
	facts   []string // key=value
	err     string   // part of the error; "": none
}

// base are the rows of most OSU files.
var base = []string{"|send rtt 1: 3.34", "|send rtt 2: 3.36", "|send rtt 4: 3.34", "|send rtt 8: 3.4", "|send rtt 1024: 4.82", "|send rtt 65536: 19.74"}

// except returns rows without one.
func except(rows []string, i int) []string { return slices.Delete(slices.Clone(rows), i, i+1) }

// named returns rows of a library.
func named(library string, rows ...string) []string {
	out := slices.Clone(rows)
	for i := range out {
		out[i] = library + out[i]
	}
	return out
}

var ranks4 = Options{Ranks: 4}

// The files of testdata/field and their right values, which were read off by eye.
var fieldFiles = []fieldFile{
	{name: "a03_utf16le_bom.txt", rows: base},
	{name: "a05_srun_label.txt", rows: base},
	{name: "a06_tagoutput.txt", rows: base},
	{name: "a06c_mpich_l.txt", rows: base},
	{name: "a26_indent_md.txt", rows: base},
	{name: "a08_ucxwarn_mid.txt", rows: base, notes: []string{"1 line that is no result: line 7 \"[1738722441.247410]"}},
	{name: "a09_ompi_warn_mid.txt", rows: base, notes: []string{"3 lines that are no results: line 8 \"WARNING: There was an error"}},
	{name: "a13c_killed.txt", rows: base, notes: []string{"2 lines that are no results: line 10 \"slurmstepd: error"}},
	{name: "a13_truncated_line.txt", rows: base[:5], notes: []string{"line 9: 65536 has no value"}},
	{name: "a13b_truncated_row_nonum.txt", rows: base, notes: []string{"line 10: 131072 has no value"}},
	{name: "a32_twocol_spack.txt", rows: named("openmpi", append(slices.Clone(base),
		"|isend stream 1: 0.289855", "|isend stream 64: 0.304443", "|isend stream 4096: 0.460576", "|isend stream 4194304: 182.258978")...),
		notes: []string{"osu_bw has windows"}, facts: []string{"library_version=openmpi 4.1.6"}},
	{name: "a16_validation.txt", rows: except(base, 4), notes: []string{"line 8: Validation is Fail"}},
	{name: "a17_allreduce_validation.txt", options: ranks4, rows: []string{"|allreduce coll_mean 1: 22.25", "|allreduce coll_mean 2: 22.34", "|allreduce coll_mean 4: 21.83", "|allreduce coll_mean 1024: 24.61"},
		notes: []string{"without the slowest rank's time, which option -f prints"}, facts: []string{"ranks=4"}},
	{name: "a40_fullz.txt", options: ranks4, rows: []string{
		"|allreduce coll_mean 1: 22.25", "|allreduce coll_min 1: 20.21", "|allreduce coll_max 1: 24.28", "|allreduce coll_mean 2: 22.34", "|allreduce coll_min 2: 20.38", "|allreduce coll_max 2: 25.38",
		"|allreduce coll_mean 4: 21.83", "|allreduce coll_min 4: 20.35", "|allreduce coll_max 4: 24.36", "|allreduce coll_mean 1024: 24.61", "|allreduce coll_min 1024: 22", "|allreduce coll_max 1024: 27"},
		notes: []string{"P50 Tail Lat(us), P90 Tail Lat(us), P99 Tail Lat(us)"}},
	{name: "a20_nccl.txt", options: ranks4, rows: named("nccl (device buffers)", "|allreduce coll_mean 1048576: 90.11", "|allreduce coll_mean 1073741824: 8955.18"),
		notes: []string{"slowest rank's", "1 line that is no result"}, facts: []string{"buffers=send on device, receive on device"}},
	{name: "a20b_rccl.txt", options: ranks4, rows: named("rccl (device buffers)", "|allreduce coll_mean 1048576: 90.11"), notes: []string{"slowest rank's"}},
	{name: "a23_oneSided_mix.txt", rows: []string{"|send rtt 0: 70.2", "|send rtt 1: 70.4", "|send rtt 1024: 82.44", "|isend stream 1: 0.833333", "|isend stream 1024: 1.022773"},
		notes: []string{"MPI_Put Latency: a one-sided test (2 rows)", "osu_bw has windows", "4 lines that are no results: line 1 \"METRICS"}},
	{name: "a24_omb_py.txt", rows: []string{"|send rtt 0: 0.42", "|send rtt 1: 0.48", "|send rtt 1024: 0.8"}},
	{name: "a25_omb_java.txt", rows: []string{"|send rtt 1: 1.1"}},
	{name: "a27_nan.txt", rows: except(base, 4), notes: []string{"line 8: the value is nan"}},
	{name: "a33_persist.txt", rows: []string{"|send_init rtt 1: 3.34", "|send_init rtt 2: 3.36", "|send_init rtt 4: 3.34", "|send_init rtt 8: 3.4", "|send_init rtt 1024: 4.82", "|send_init rtt 65536: 19.74"}},
	{name: "a34_mt.txt", err: "nothing that can be fitted: Multi-threaded Latency: several threads send (6 rows)"},
	{name: "a35_multilat.txt", err: "nothing that can be fitted: Multi Latency: several pairs at once (6 rows)"},
	{name: "a37_iallreduce.txt", err: "nothing that can be fitted: Non-blocking Allreduce Latency: its times contain computing, which it overlaps with (2 rows)"},
	{name: "n8_imb_allreduce.txt", rows: []string{
		"|allreduce coll_mean 0: 0.05", "|allreduce coll_min 0: 0.05", "|allreduce coll_max 0: 0.06", "|allreduce coll_mean 8: 6.51", "|allreduce coll_min 8: 6.1", "|allreduce coll_max 8: 6.9",
		"|allreduce coll_mean 1024: 10.51", "|allreduce coll_min 1024: 10.1", "|allreduce coll_max 1024: 10.9"}, facts: []string{"ranks=64", "tool_version=2021.7"}},
	{name: "n10_imb_pingpong_defects.txt", rows: []string{"|send rtt 0: 3.18", "|send rtt 1: 3.54", "|send rtt 1024: 5.22"}},
	{name: "n1_nccl.txt", rows: named("nccl (device buffers)", "|allreduce coll_mean 8: 8.97", "|allreduce coll_mean 1048576: 105.9", "|allreduce coll_mean 134217728: 1214.1"),
		notes: []string{"in-place times", "slowest rank's time"}, facts: []string{"ranks=2", "bus_bandwidth_GB/s of coll_mean allreduce=8 B: 0.00, 1048576 B: 17.33, 134217728 B: 110.55"}},
	{name: "n2_ib_write_lat.txt", rows: named("verbs", "|rdma_write rtt 2: 2.02", "|rdma_write rtt 4: 2.02")},
	{name: "n3_fabtest.txt", rows: named("libfabric", "|message rtt 64: 4.26", "|message rtt 1024: 6.02")},
	{name: "n5_gpcnet.txt", rows: []string{"|random_ring coll_mean 8: 1.5"}, notes: []string{"slowest rank's time"}, facts: []string{"ranks=64", "percentile_99_us of coll_mean random_ring=8 B: 3.6"}},
	{name: "n6_reprompi.txt", rows: []string{"|allreduce coll_max 1: 2.1 2.2"}, facts: []string{"ranks=4"}},
}

func TestFieldFiles(t *testing.T) {
	for _, c := range fieldFiles {
		c.check(t)
	}
}

// check compares what is imported with what the file holds.
func (c fieldFile) check(t *testing.T) {
	t.Run(c.name, func(t *testing.T) {
		text := c.text
		if text == "" {
			text = read(t, "field/"+c.name)
		}
		set, report, err := Import([]File{{c.name, strings.NewReader(text)}}, c.options)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %s", err, c.err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		write(t, set)
		got := rowsOf(set)
		for _, row := range c.rows {
			if !slices.Contains(got, row) {
				t.Errorf("no row %s", row)
			}
		}
		if len(got) != len(c.rows) {
			t.Errorf("rows %q, want %d", got, len(c.rows))
		}
		for _, want := range c.notes {
			if !slices.ContainsFunc(report.Notes, func(n Note) bool { return strings.Contains(n.Text, want) }) {
				t.Errorf("no note says %q: %q", want, report.Notes)
			}
		}
		if len(report.Notes) != len(c.notes) {
			t.Errorf("%d notes, want %d: %q", len(report.Notes), len(c.notes), report.Notes)
		}
		for _, want := range c.facts {
			key, value, _ := strings.Cut(want, "=")
			if !slices.Contains(set.Facts, sample.Fact{Key: key, Value: value}) {
				t.Errorf("no fact %s in %v", want, set.Facts)
			}
		}
	})
}

// rowsOf writes each series on a line.
func rowsOf(set *sample.Set) []string {
	var out []string
	for _, s := range set.Series {
		row := s.Library + "|" + s.Mode + " " + s.Timer + " " + fmt.Sprint(s.Bytes)
		if s.Ranks != 0 {
			row += fmt.Sprintf(" (%d ranks)", s.Ranks)
		}
		if s.Launch != 0 {
			row += fmt.Sprintf(" launch %d", s.Launch)
		}
		row += ":"
		for _, t := range s.Times {
			row += " " + t.MicrosString()
		}
		out = append(out, row)
	}
	return out
}
