package trace

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/workload"
)

// A ring of messages of 4 B and an allreduce of 8 B, as liballprof recorded it.
func TestRecordOfLiballprof(t *testing.T) {
	w, report, err := Read(openFiles(t, "pmpi-trace-rank-*.txt"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if report.Calls != 32 || len(report.Warnings()) > 0 {
		t.Errorf("%+v", report)
	}
	s, _ := simulate(t, w, "L=1us,o=1us")
	messages, bytes := sentBytes(s)
	for rank := range messages {
		if messages[rank] != 1+2*3 || bytes[rank] < 4+8 {
			t.Errorf("rank %d sends %d messages with %d bytes", rank, messages[rank], bytes[rank])
		}
	}
	computing := 0
	for _, o := range w.Ranks[0].Program.Ops() {
		if o.Kind == workload.Compute {
			computing += int(o.Size)
		}
	}
	if want := 1000 * (18 + 8 + 12 + 7 + 8 + 17 + 7572); computing != want {
		t.Errorf("rank 0 computes for %d ns, want %d", computing, want)
	}
}

// records are the files of ranks, whose lines lack times: each call takes 1 us, and 2 us pass
// between two.
func records(ranks ...string) []File {
	var files []File
	for i, text := range ranks {
		var b strings.Builder
		b.WriteString("# record\n")
		for k, line := range strings.Split(strings.TrimSpace(text), "\n") {
			name, arguments, some := strings.Cut(strings.TrimSpace(line), ":")
			if some {
				arguments += ":"
			}
			fmt.Fprintf(&b, "%s:%d:%s%d\n", name, 3*k, arguments, 3*k+1)
		}
		files = append(files, File{fmt.Sprintf("r-%d.txt", i), strings.NewReader(b.String())})
	}
	return files
}

// Ranks 0 to 3 are divided into even and odd ones, in reverse order; each group has an allreduce,
// and then all have one.
func TestCommunicatorsOfRecords(t *testing.T) {
	program := func(rank int) string {
		return fmt.Sprintf(`MPI_Init
MPI_Comm_split:77,%d,4:%d:%d:1000
MPI_Comm_dup:77,%d,4:1008
MPI_Allreduce:0:0:1:10,8,8:3:%d,%d,2
MPI_Bcast:0:2:10,8,8:0:%d,%d,2
MPI_Allreduce:0:0:16:1,4,4:3:99,%d,4
MPI_Finalize`, rank, rank%2, -rank, rank, 500+rank, 1-rank/2, 500+rank, 1-rank/2, rank)
	}
	w, _, err := Read(records(program(0), program(1), program(2), program(3)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := w.Ranks[1]
	var groups [][]int
	for _, o := range r.Program.Ops() {
		if o.Kind == workload.Collective {
			groups = append(groups, w.Groups[r.Groups[o.Peer]].Ranks)
		}
	}
	if want := "[[3 1] [3 1] [0 1 2 3]]"; fmt.Sprint(groups) != want {
		t.Errorf("groups %v, want %s", groups, want)
	}
}

// Rank 0 receives from any source and with any tag what ranks 1 and 2 sent, before and after a
// barrier of the same communicator, whose messages it does not take. Its buffer is longer.
func TestReceivesFromAnySource(t *testing.T) {
	sender := func(rank, tag int) string {
		return fmt.Sprintf("MPI_Init\n%sMPI_Send:0:%d:1,1,1:0:%d:7,%d,3\nMPI_Barrier:7,%d,3\nMPI_Finalize", strings.Repeat("MPI_Wtime\n", rank), 10*rank, tag, rank, rank)
	}
	receiver := `MPI_Init
MPI_Recv:0:100:1,1,1:-1:5:7,0,3:0
MPI_Barrier:7,0,3
MPI_Recv:0:100:1,1,1:-1:-1:7,0,3:0
MPI_Finalize`
	w, report, err := Read(records(receiver, sender(1, 9), sender(2, 5)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if report.MatchedByTime != 2 {
		t.Errorf("%+v", report)
	}
	var from []int
	for _, o := range w.Ranks[0].Program.Ops() {
		if o.Kind == workload.Recv {
			from = append(from, w.Ranks[0].Peers[o.Peer])
		}
	}
	if !slices.Equal(from, []int{2, 1}) {
		t.Errorf("received from %v, want 2 and 1", from)
	}
	if _, res := simulate(t, w, "L=1us,o=1us"); res.LastFinish == 0 {
		t.Error("it takes no time")
	}
}

// Open MPI's requests have 8 bytes, MPICH's 4. A wait ends both transfers.
func TestRequestsOfRecords(t *testing.T) {
	for _, c := range []struct{ world, first, second string }{{"6575616", "1000", "1008"}, {"1140850688", "1000", "1004"}} {
		program := func(rank int) string {
			return fmt.Sprintf(`MPI_Init
MPI_Irecv:0:4:1,4,4:%d:0:%s,%d,2:%s
MPI_Isend:0:4:1,4,4:%d:0:%s,%d,2:%s
MPI_Waitall:2:1000:0
MPI_Sendrecv:0:3:1,1,1:%d:1:0:3:1,1,1:%d:1:%s,%d,2:0
MPI_Finalize`, 1-rank, c.world, rank, c.first, 1-rank, c.world, rank, c.second, 1-rank, 1-rank, c.world, rank)
		}
		w, report, err := Read(records(program(0), program(1)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if report.OpenRequests != 0 {
			t.Errorf("%+v", report)
		}
		p := w.Ranks[0].Program
		recv, send := -1, -1
		for i, o := range p.Ops() {
			switch {
			case o.Kind == workload.Recv && recv < 0:
				recv = i
			case o.Kind == workload.Send && send < 0:
				send = i
			case recv >= 0 && send >= 0 && o.Kind == workload.Compute && slices.Contains(p.DependenciesOf(i), uint32(recv)):
				recv = len(p.Ops())
				if !slices.Contains(p.DependenciesOf(i), uint32(send)) {
					t.Errorf("operation %d waits for the receive and not for the send", i)
				}
			}
		}
		if recv != len(p.Ops()) {
			t.Error("nothing waits for the receive")
		}
	}
}

// The root of a gather has its own data in place.
func TestRootInPlace(t *testing.T) {
	w, _, err := Read(records("MPI_Init\nMPI_Gather:1:0:0,0,0:0:4:1,4,4:0:7,0,2\nMPI_Finalize", "MPI_Init\nMPI_Gather:0:4:1,4,4:0:0:0,0,0:0:7,1,2\nMPI_Finalize"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for rank, r := range w.Ranks {
		for _, o := range r.Program.Ops() {
			if o.Kind == workload.Collective && o.Size != 16 {
				t.Errorf("rank %d gathers %d bytes, want 16", rank, o.Size)
			}
		}
	}
}

// Blocks of 3 and 5 bytes cross, beside a receive with any tag that takes neither of them.
func TestBlocksOfRecords(t *testing.T) {
	w, _, err := Read(records(`MPI_Init
MPI_Irecv:0:9:1,1,1:-1:-1:7,0,2:8
MPI_Alltoallv:7,0,2:0,3:0,5
MPI_Wait:8:0
MPI_Finalize`, `MPI_Init
MPI_Alltoallv:7,1,2:5,0:3,0
MPI_Send:0:1:1,1,1:0:4:7,1,2
MPI_Finalize`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var sizes []uint64
	for _, o := range w.Ranks[0].Program.Ops() {
		if o.Kind != workload.Compute {
			sizes = append(sizes, o.Size)
		}
	}
	if !slices.Equal(sizes, []uint64{1, 5, 3}) {
		t.Errorf("bytes %v, want 1 (any tag), 5 and 3", sizes)
	}
}

func TestWrongRecords(t *testing.T) {
	one := func(lines string) string { return "MPI_Init\n" + lines + "\nMPI_Finalize" }
	for _, c := range []struct {
		files []File
		want  string
	}{
		{[]File{{"r-0.txt", strings.NewReader("# x\n")}}, "r-0.txt: unexpected EOF"},
		{[]File{{"r-0.txt", strings.NewReader("# x\nMPI_Init:-:0:5\nMPI_Wtime:3:4\n")}}, "r-0.txt:3: MPI_Wtime begins at 3 us, before the call before it ended"},
		{[]File{{"r-0.txt", strings.NewReader("# x\nMPI_Init:-:0:5\n")}}, "r-0.txt:2: the record ends with MPI_Init"},
		{[]File{{"r-0.txt", strings.NewReader("# x\nhello\n")}}, `r-0.txt:2: "hello" is no call`},
		{[]File{{"r-0.txt", strings.NewReader("# x\nMPI_Init:5:x\n")}}, `no time in microseconds`},
		{records(one("MPI_Iallreduce:0")), "r-0.txt:3: MPI_Iallreduce is not known to this reader"},
		{records(one("MPI_Alltoallv:7,0,1:0,0:0")), "argument 2 has 2 numbers of bytes for 1 ranks"},
		{records(one("MPI_Alltoallv:7,0,1:0:x")), `argument 3: "x" is no number of bytes`},
		{records(one("MPI_Barrier:7")), `r-0.txt:3: MPI_Barrier: argument 1: "7" is no communicator`},
		{records(one("MPI_Send:0:4:1,4,4:0:0")), "MPI_Send: it has 5 arguments, and no argument 6"},
		{records(one("MPI_Send:0:4:1,4,4:3:0:7,0,1")), "MPI_Send: its peer is rank 3 of 1"},
		{records(one("MPI_Bcast:0:4:1,4,4:3:7,0,1")), "MPI_Bcast: its root is rank 3 of 1"},
		{records(one("MPI_Barrier:8,0,2"), one("MPI_Wtime")), "has no collective operation of group MPI_COMM_WORLD"},
		{records(one("MPI_Barrier:8,1,2"), one("MPI_Wtime")), "MPI_Barrier: communicator 8, of 2 ranks, was made by a call that this reader does not know"},
		{records(one("MPI_Comm_dup:8,0,2:0\nMPI_Barrier:9,0,2"), one("MPI_Wtime")), "its communicator is not complete"},
		{records(one("MPI_Recv:0:4:1,4,4:-1:0:7,0,1:0")), "nothing was sent that this receive could take"},
		{records(one("MPI_Send:0:9223372036854775807:1,4,4:0:0:7,0,1")), "elements of 4 bytes"},
		{append(records(one("MPI_Wtime")), File{"r-1.txt", bytes.NewReader(encode(allreduce(5, 8, "")))}), "files of different tracers"},
	} {
		_, _, err := Read(c.files, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func FuzzReadRecords(f *testing.F) {
	f.Add("MPI_Init\nMPI_Send:0:4:1,4,4:1:0:7,0,2\nMPI_Finalize", "MPI_Init\nMPI_Recv:0:4:1,4,4:-1:-1:7,1,2:0\nMPI_Finalize")
	f.Add("MPI_Init\nMPI_Comm_split:7,0,2:0:0:0\nMPI_Barrier:8,0,2\nMPI_Finalize", "MPI_Init\nMPI_Comm_split:7,1,2:0:0:0\nMPI_Barrier:8,1,2\nMPI_Finalize")
	f.Fuzz(func(t *testing.T, a, b string) {
		if w, _, err := Read(records(a, b), Options{}); err == nil {
			if err := w.Check(); err != nil {
				t.Error(err)
			}
		}
	})
}
