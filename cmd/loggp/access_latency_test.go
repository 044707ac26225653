package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// compileTestProgram compiles a program in C of impl/program/cprog in a new directory, to which the
// test changes.
func compileTestProgram(t *testing.T, name string) {
	t.Helper()
	source, err := os.ReadFile("../../impl/program/cprog/testdata/" + name + ".c")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	write(t, name+".c", string(source))
	var out, errs strings.Builder
	if status := runCommandLine(t.Context(), []string{"cc", name + ".c", "-o", name}, &out, &errs); status != exitSuccess {
		t.Skip(errs.String())
	}
}

// Random programs with windows find what they expect on this computer, and no conflicts.
func TestRandomWindowsHere(t *testing.T) {
	compileTestProgram(t, "random_windows")
	for _, args := range [][]string{{"shm", "5", "3"}, {"shm", "4", "6"}, {"tcp", "3", "5"}} {
		if out := mustRun(t, "run", "--check", "strict", "--platform", args[0], "-n", args[1], "./random_windows", args[2]); out != "0 errors\n" {
			t.Errorf("%v: %s", args, out)
		}
	}
}

// A program in C that times accesses of each kind to windows of each flavor, with each
// synchronization, gets right results on machines with remote memory, by messages and on this one,
// and its times are in the order of the hardware: a put of the T3D takes as long as its remote
// writes, and a small part of a message.
func TestAccessLatencyInC(t *testing.T) {
	compileTestProgram(t, "access_latency")
	times := map[string]map[string]float64{}
	for _, x := range []struct {
		platform string
		flavors  int // those without shared memory, where ranks are on different nodes
	}{{"t3d", 4}, {"now", 3}, {"shm", 4}} {
		found := map[string]float64{}
		for line := range strings.Lines(mustRun(t, "run", "--platform", x.platform, "-n", "2", "./access_latency")) {
			var flavor, sync, access string
			var us float64
			if n, err := fmt.Sscanf(line, "%s %s %s %f\n", &flavor, &sync, &access, &us); n == 4 && err == nil {
				found[flavor+" "+sync+" "+access] = us
			} else if !strings.HasPrefix(line, "message one way") {
				t.Errorf("%s: %s", x.platform, line)
			} else if _, err := fmt.Sscanf(line, "message one way 8 %f\n", &us); err != nil {
				t.Error(err)
			} else {
				found["message"] = us
			}
		}
		if want := x.flavors*6*6 + 1; len(found) != want {
			t.Errorf("%s: %d times, want %d", x.platform, len(found), want)
		}
		times[x.platform] = found
	}
	t3d, now := times["t3d"], times["now"]
	if put := t3d["create flush put"]; put < 0.5 || put > 3 || put*10 > t3d["message"] {
		t.Errorf("t3d: a put takes %v us, a message %v", put, t3d["message"])
	}
	if get := t3d["create flush get"]; get < 0.5 || get > 3.5 {
		t.Errorf("t3d: a get takes %v us", get)
	}
	for _, access := range []string{"put", "get", "acc", "get_acc", "fop", "cas"} {
		if slow, fast := now["create flush "+access], t3d["create flush "+access]; slow <= fast {
			t.Errorf("%s takes %v us on now and %v on t3d", access, slow, fast)
		}
		if m, d := t3d["create flush "+access], t3d["dynamic flush "+access]; d < m/1.01 {
			t.Errorf("t3d: %s takes %v us in a dynamic window, %v in another", access, d, m)
		}
	}
}
