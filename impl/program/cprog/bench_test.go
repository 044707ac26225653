//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Benchmarks of real time with loggp and, if it is installed (libsimgrid-dev), with SimGrid's SMPI:
// a message, an all-to-all of 1,024 ranks with 1 KiB each, and the start of 4,096 ranks. Run them
// with -bench . -benchtime 1x. For the ping-pong give the number of messages, such as -benchtime
// 1000000x.

func BenchmarkPingPong(b *testing.B) {
	for _, system := range systems {
		b.Run(system.name, func(b *testing.B) {
			program := system.build(b, "pingpong.c")
			b.ResetTimer()
			system.run(b, program, 2, fmt.Sprint((b.N+1)/2))
		})
	}
}

func BenchmarkAlltoall1024(b *testing.B) { compareSystems(b, "alltoall.c", 1024, "1024") }

func BenchmarkStart4096(b *testing.B) { compareSystems(b, "empty.c", 4096) }

func compareSystems(b *testing.B, source string, ranks int, args ...string) {
	for _, system := range systems {
		b.Run(system.name, func(b *testing.B) {
			program := system.build(b, source)
			for b.Loop() {
				system.run(b, program, ranks, args...)
			}
		})
	}
}

// systems run MPI programs on simulated machines.
var systems = []struct {
	name  string
	build func(b testing.TB, source string) (program string)
	run   func(b testing.TB, program string, ranks int, args ...string)
}{
	{"loggp", build, func(b testing.TB, program string, ranks int, args ...string) {
		w, o := emulated(b, simple, ranks)
		o.Check = mpi.CheckOff
		if _, err := run(b, w, o, &Program{Path: program, Arguments: args}); err != nil {
			b.Fatal(err)
		}
	}},
	{"smpi", func(b testing.TB, source string) string {
		if _, err := exec.LookPath("smpicc"); err != nil {
			b.Skip("SMPI is not installed: it is in libsimgrid-dev")
		}
		path := filepath.Join(b.TempDir(), "program")
		if out, err := exec.Command("smpicc", "-O2", "-w", filepath.Join("testdata", source), "-o", path).CombinedOutput(); err != nil {
			b.Fatalf("smpicc: %v\n%s", err, out)
		}
		return path
	}, func(b testing.TB, program string, ranks int, args ...string) {
		machine := filepath.Join(b.TempDir(), "machine.xml")
		text := fmt.Sprintf(`<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <cluster id="ranks" prefix="rank" suffix="" radical="0-%d" speed="1Gf" bw="100MBps" lat="5us"/>
  </zone>
</platform>
`, ranks-1)
		if err := os.WriteFile(machine, []byte(text), 0o666); err != nil {
			b.Fatal(err)
		}
		options := []string{"-np", fmt.Sprint(ranks), "-platform", machine, "--cfg=smpi/simulate-computation:no", "--log=root.thres:error", program}
		if out, err := exec.Command("smpirun", append(options, args...)...).CombinedOutput(); err != nil {
			b.Fatalf("smpirun: %v\n%s", err, out)
		}
	}},
}
