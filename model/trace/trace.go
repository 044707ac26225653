// Package trace makes workloads of recorded executions: Chakra execution traces of training and
// inference steps, as protobuf or JSON, and records of the MPI calls of a program, one file a rank.
//
// A node of a trace becomes an operation. The package restores what traces lose and says what it
// did: operations of one stream stay in order even if no dependency says so, and dependencies on
// nodes that are not in the file are dropped and counted.
package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/model/workload"
)

// Options say how a trace becomes a workload. The zero value takes it as it was recorded.
type Options struct {
	Ranks       int              // of the job; 0: one for each file. If there are more, each rank repeats the file of the nearest rank at or below it
	Groups      map[string][]int // ranks of process groups that the files do not list
	ComputeRate float64          // operations per second of nodes that have a number of operations; 0: their recorded durations
}

// Report is what was found in the files of a trace, and what was restored or dropped.
type Report struct {
	Files, Nodes        int
	HostOps             int // nodes of the host
	Streams             int // of all files
	StreamEdges         int // dependencies added to keep the operations of a stream in order
	DroppedDependencies int // on nodes that are not in the file
	DroppedControl      int // control dependencies that close a cycle
	UntimedNodes        int // nodes for computing without a duration, which take no time
	ByRate              int // nodes whose time is that of their operations at the rate
	HostCalls           int // calls on the host that start a collective operation, which take their recorded time
	WithoutBytes        int // collective operations without bytes, which take their recorded time
	Calls               int // of MPI, in records of them
	MatchedByTime       int // receives from any source or with any tag, whose sends were found by their times
	OpenRequests        int // of MPI, for which no wait was found
	RepeatedRanks       int // ranks that repeat the file of another rank
}

// Warnings describes what was dropped or assumed, a sentence each.
func (r *Report) Warnings() []string {
	var all []string
	add := func(n int, format string) {
		if n > 0 {
			all = append(all, fmt.Sprintf(format, n))
		}
	}
	add(r.StreamEdges, "%d dependencies were added, as operations of one stream run in order")
	add(r.DroppedDependencies, "%d dependencies are on nodes that the files do not have; they were dropped")
	add(r.DroppedControl, "%d control dependencies close a cycle with dependencies of data; they were dropped")
	add(r.WithoutBytes, "%d collective operations have no size; they take their recorded time and send nothing")
	add(r.UntimedNodes, "%d nodes have neither duration nor number of operations; they take no time")
	add(r.MatchedByTime, "%d receives from any source or with any tag take the send that fits and was recorded first")
	add(r.OpenRequests, "%d requests have no wait in the record; nothing waits for them")
	add(r.RepeatedRanks, "%d ranks repeat the file of another rank")
	return all
}

// File is an open file of a trace.
type File struct {
	Name string
	io.Reader
}

// rankFile is what the file of a rank has.
type rankFile struct {
	name  string
	rank  int
	nodes []traceNode
	calls []mpiCall // of a record of MPI calls
}

// rankInName is where names of files have the rank: step.12.et, step.12.json.gz.
// pmpi-trace-rank-12.txt of MPI.
var rankInName = regexp.MustCompile(`(?:\.(\d{1,9})\.(?:et|json)|-(\d{1,9})\.txt)(?:\.gz)?$`)

// Read makes a workload of the files of a trace. Their names end with the rank: NAME.RANK.et; files
// without one are ranks 0, 1, ... in order. An error has the file and, where there is one, the
// node.
func Read(files []File, o Options) (*workload.Workload, *Report, error) {
	if len(files) == 0 {
		return nil, nil, errors.New("a trace without files")
	}
	report := &Report{Files: len(files)}
	recorded := make([]rankFile, len(files))
	for i, f := range files {
		var err error
		if recorded[i], err = readFile(f); err != nil {
			return nil, nil, err
		}
		recorded[i].rank = i
		report.Nodes += len(recorded[i].nodes)
		if first := recorded[0]; (first.calls == nil) != (recorded[i].calls == nil) {
			return nil, nil, fmt.Errorf("%s and %s are files of different tracers", first.name, f.Name)
		}
	}
	isMPI := recorded[0].calls != nil
	if isMPI && (o.Ranks != 0 || o.Groups != nil || o.ComputeRate != 0) {
		return nil, nil, fmt.Errorf("%s: ranks to repeat, groups and a rate of computing are for Chakra traces: a record of MPI calls has a file for each rank", files[0].Name)
	}
	if err := assignRanks(recorded, o.Ranks); err != nil {
		return nil, nil, err
	}
	var w *workload.Workload
	var err error
	if isMPI {
		w, err = newMPIAssembler(recorded, report).assemble()
	} else {
		w, err = newAssembler(recorded, o, report).assemble()
	}
	if err != nil {
		return nil, nil, err
	}
	return w, report, w.Check()
}

// assignRanks sets the rank of each file, by its name if all have one, and sorts the files.
func assignRanks(files []rankFile, ranks int) error {
	named := 0
	for i := range files {
		if m := rankInName.FindStringSubmatch(filepath.Base(files[i].name)); m != nil {
			files[i].rank, _ = strconv.Atoi(m[1] + m[2])
			named++
		}
	}
	if named != 0 && named != len(files) {
		return fmt.Errorf("%d of %d files have a rank in their name, as in step.0.et: all or none must", named, len(files))
	}
	slices.SortStableFunc(files, func(a, b rankFile) int { return cmp.Compare(a.rank, b.rank) })
	for i := range files {
		switch f := files[i]; {
		case i > 0 && f.rank == files[i-1].rank:
			return fmt.Errorf("%s and %s are both of rank %d", files[i-1].name, f.name, f.rank)
		case ranks == 0 && f.rank != i:
			return fmt.Errorf("%s: it is of rank %d, and rank %d has no file; give its file, or --ranks for ranks that repeat the files of others", f.name, f.rank, i)
		case ranks > 0 && f.rank >= ranks:
			return fmt.Errorf("%s: it is of rank %d; there are %d ranks", f.name, f.rank, ranks)
		}
	}
	if files[0].rank != 0 {
		return fmt.Errorf("%s: it is of rank %d; ranks below have no file to repeat", files[0].name, files[0].rank)
	}
	return nil
}

// maxHeadBytes is how much of a file is looked at to tell its form.
const maxHeadBytes = 512

// beginsJSON reports whether the beginning of a file is that of an object or a list. A protobuf
// file begins with the length of a message, which may be the code of a space or of a bracket.
func beginsJSON(head []byte) bool {
	const space = " \t\r\n"
	head = bytes.TrimLeft(head, space)
	if len(head) == 0 || head[0] != '{' && head[0] != '[' {
		return false
	}
	head = bytes.TrimLeft(head[1:], space)
	return len(head) == 0 || strings.IndexByte(`"{[]}`, head[0]) >= 0
}

// readFile reads a file in the form that its beginning shows.
func readFile(f File) (r rankFile, err error) {
	r.name = f.Name
	in, err := input.Unpack(f, f.Name)
	if err != nil {
		return r, err
	}
	b := bufio.NewReaderSize(in, 64<<10)
	head, err := b.Peek(maxHeadBytes)
	switch {
	case len(head) == 0 && errors.Is(err, io.EOF):
		return r, fmt.Errorf("%s: an empty file", f.Name)
	case err != nil && !errors.Is(err, io.EOF):
		return r, fmt.Errorf("%s: %w", f.Name, err)
	case beginsJSON(head):
		r.nodes, err = readJSON(b, f.Name)
	case bytes.HasPrefix(head, []byte(mpiRecordBegin)):
		r.calls, err = readCalls(b, f.Name)
	default:
		r.nodes, err = readProtobuf(b, f.Name)
	}
	return r, err
}
