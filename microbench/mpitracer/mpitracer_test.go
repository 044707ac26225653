package mpitracer

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/model/trace"
	"github.com/loggp/loggp/model/workload"
)

// The program of testdata under each MPI that is installed: what its ranks do, by hand.
func TestRecordsOfInstalledMPIs(t *testing.T) {
	found := 0
	for _, mpi := range []struct {
		name     string
		launcher []string
	}{
		{"openmpi", []string{"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "4", "-x", "LD_PRELOAD", "-x", "LOGGP_TRACE_DIR"}},
		{"mpich", []string{"mpirun.mpich", "-n", "4"}},
	} {
		compiler, err := exec.LookPath("mpicc." + mpi.name)
		if err != nil {
			continue
		}
		if _, err := exec.LookPath(mpi.launcher[0]); err != nil {
			continue
		}
		found++
		t.Run(mpi.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
			defer cancel()
			dir := t.TempDir()
			program, library := filepath.Join(dir, "exchange"), filepath.Join(dir, "tracer.so")
			if out, err := exec.CommandContext(ctx, compiler, "-o", program, "testdata/exchange.c").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if err := Build(ctx, compiler, library); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(ctx, mpi.launcher[0], append(mpi.launcher[1:], program)...)
			cmd.Env = append(os.Environ(), "LD_PRELOAD="+library, "LOGGP_TRACE_DIR="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			checkExchange(t, dir)
		})
	}
	if found == 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("CI needs an MPI")
		}
		t.Skip("neither Open MPI nor MPICH is installed with the names of Debian")
	}
}

func checkExchange(t *testing.T, dir string) {
	var files []trace.File
	for rank := range 4 {
		f, err := os.Open(filepath.Join(dir, fmt.Sprintf("mpi-trace-%d.txt", rank)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files = append(files, trace.File{Name: f.Name(), Reader: f})
	}
	w, report, err := trace.Read(files, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if report.MatchedByTime != 0 {
		t.Errorf("%d receives were matched by time", report.MatchedByTime)
	}
	for rank, r := range w.Ranks {
		var got []string
		for _, o := range r.Program.Ops() {
			switch o.Kind {
			case workload.Send, workload.Recv:
				got = append(got, fmt.Sprintf("%v %d %d", o.Kind, r.Peers[o.Peer], o.Size))
			case workload.Collective:
				got = append(got, fmt.Sprintf("%v %d %v", o.Operation, o.Size, w.Groups[r.Groups[o.Peer]].Ranks))
			}
		}
		next, before := (rank+1)%4, (rank+3)%4
		half := fmt.Sprint([]int{rank % 2, rank%2 + 2})
		want := []string{
			fmt.Sprintf("recv %d 800", before), fmt.Sprintf("send %d 800", next), // Irecv, Isend, Waitany, Waitall
			"allreduce 8 " + half,
			fmt.Sprintf("send %d 12", next), fmt.Sprintf("recv %d 12", before), // Sendrecv
			"gather 16 [0 1 2 3]", "reduce-scatter 32 [0 1 2 3]", "alltoall 64 [0 1 2 3]", "bcast 40 [0 1 2 3]",
		}
		for _, peer := range []int{0, 1, 2, 3} { // Alltoallv: rank r gets r + 1 bytes from each
			if peer != rank {
				want = append(want, fmt.Sprintf("recv %d %d", peer, rank+1))
			}
		}
		for _, peer := range []int{0, 1, 2, 3} {
			if peer != rank {
				want = append(want, fmt.Sprintf("send %d %d", peer, peer+1))
			}
		}
		if rank == 0 { // receives from any source with any tag, in the order in which they came
			for range 3 {
				want = append(want, "recv * 3")
			}
			for i := range got {
				if strings.HasSuffix(got[i], " 3") && strings.HasPrefix(got[i], "recv") && i >= len(want)-3 {
					got[i] = "recv * 3"
				}
			}
		} else {
			want = append(want, "send 0 3")
		}
		want = append(want, "barrier 0 [0 1 2 3]")
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("rank %d:\n%s\nwant\n%s", rank, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestCompilerThatFails(t *testing.T) {
	dir := t.TempDir()
	compiler := filepath.Join(dir, "cc")
	if err := os.WriteFile(compiler, []byte("#!/bin/sh\necho no header >&2\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(dir, "tracer.so")
	err := Build(t.Context(), compiler, library)
	if err == nil || !strings.Contains(err.Error(), "cannot compile the tracer: exit status 3\nno header") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(library); err == nil {
		t.Error("a library is there")
	}
}
