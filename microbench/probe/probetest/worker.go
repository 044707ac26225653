// Package probetest has a worker for tests that stands for the C program of package probe: one
// rank, whose answers are made up. FAKE_PROGRAM says what is wrong with it.
package probetest

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/model/collective"
)

// IsWorker says whether this process is to be the worker: it is a copy of a test's binary that the
// compiler of testdata has made.
func IsWorker() bool { return os.Getenv("FAKE_WORKER") != "" && filepath.Base(os.Args[0]) == "probe" }

// SetEnvironment allows Open MPI to run as root, as users have to.
func SetEnvironment(t testing.TB) {
	if os.Getuid() == 0 {
		t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
		t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	}
}

// intVariable returns a variable of the environment as a number.
func intVariable(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// Main is the program: probe DIRECTORY SECONDS RANKS.
func Main() {
	dir, ranks := os.Args[1], 0
	fmt.Sscan(os.Args[3], &ranks)
	fault := os.Getenv("FAKE_PROGRAM")
	switch fault {
	case "nothing":
		return
	case "alone":
		text := "loggp-probe: it was started with a world of size 1, and needs one of 2\n"
		fmt.Fprint(os.Stderr, text, text, "application called MPI_Abort(MPI_COMM_WORLD, 1) - process 0\n")
		os.Exit(1)
	case "hangs":
		sleepForever()
	case "mute": // its last words are in the file alone
		os.WriteFile(filepath.Join(dir, "failed"), []byte("loggp-probe: no memory for 5 bytes\n"), 0o600)
		os.Exit(1)
	case "once":
		if strings.HasSuffix(dir, "launch1") {
			return
		}
	}
	w := &worker{Conn: connectToScheduler(dir), ranks: ranks}
	text := greetingText(ranks, fault)
	if fault == "half" {
		text = text[:len(text)/2]
	}
	w.answerRequest(1, []byte(text))
	for n := 0; ; n++ {
		var words [1 + microbench.CommandWordCount]int64
		if err := binary.Read(w, binary.LittleEndian, &words); err != nil {
			os.Exit(1)
		}
		switch words[0] {
		case 1:
			w.executeCommand(words, fault)
		case 3:
			w.answerRequest(1, []byte("variable btl_fake_eager_limit 4096\n"))
		case 4:
			if fault == "leaves" {
				startChildAndExit()
			}
			return
		}
	}
}

func sleepForever() {
	recordProcess(os.Getpid())
	time.Sleep(1000 * time.Second)
}

// recordProcess writes down a process, which is to be gone in the end.
func recordProcess(pid int) {
	f, err := os.OpenFile(os.Getenv("FAKE_PIDS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintln(f, pid)
		f.Close()
	}
}

// startChildAndExit starts another process and ends without it.
func startChildAndExit() {
	os.Setenv("FAKE_PROGRAM", "hangs")
	p, err := os.StartProcess(os.Args[0], os.Args, &os.ProcAttr{Env: os.Environ()})
	if err == nil {
		recordProcess(p.Pid)
	}
}

func connectToScheduler(dir string) net.Conn {
	text, err := os.ReadFile(filepath.Join(dir, "connect"))
	words := strings.Fields(string(text))
	if err != nil || len(words) < 4 {
		os.Exit(1)
	}
	c, err := net.Dial("tcp", net.JoinHostPort(words[3], words[0]))
	if err != nil {
		os.Exit(1)
	}
	io.WriteString(c, words[1])
	reply := make([]byte, len(words[2]))
	if _, err := io.ReadFull(c, reply); err != nil || string(reply) != words[2] {
		os.Exit(1)
	}
	return c
}

func greetingText(ranks int, fault string) string {
	var b strings.Builder
	fmt.Fprintln(&b, "library Fake MPI 1.0;of no use\nstandard 3.1\nthreads single")
	fmt.Fprint(&b, "stages")
	for _, timers := range microbench.StageTimers()[:8] {
		fmt.Fprint(&b, " ", timers[0])
	}
	fmt.Fprintf(&b, "\nmodes %s\noperations", strings.Join(microbench.SendModeNames(), " "))
	for _, o := range collective.Operations() {
		fmt.Fprint(&b, " ", o)
	}
	fmt.Fprintf(&b, "\nhosts %d\n", intVariable("FAKE_HOSTS", 1))
	for r := range ranks {
		bound, host := os.Getenv("FAKE_BOUND"), "h"
		if bound == "" {
			bound = strconv.Itoa(r % intVariable("FAKE_PROCESSORS", 8))
		}
		if fault == "moves" { // each launch is on another machine
			host += strconv.Itoa(os.Getpid())
		}
		fmt.Fprintf(&b, "host %s\nprocessor Fake\nbound %s\ncost 20000\nresolution 1000\n", host, bound)
	}
	return b.String()
}

type worker struct {
	net.Conn
	ranks, starts int
}

func (w *worker) answerRequest(kind int64, raw []byte) {
	head := binary.LittleEndian.AppendUint64(nil, uint64(kind))
	w.Write(append(binary.LittleEndian.AppendUint64(head, uint64(len(raw))), raw...))
}

// executeCommand answers a command. Times of a message of k bytes are 1000000+k ps, but 2000000+k
// where they contain the way, and round trips are longer beyond FAKE_EAGER bytes. Of collective
// operations those of rank r are 1000000·(1+r)+k, or (4000000+k) from an agreed start, to the first
// of which a rank comes too late.
func (w *worker) executeCommand(c [1 + microbench.CommandWordCount]int64, fault string) {
	switch fault {
	case "dies":
		os.Exit(7)
	case "sticks":
		sleepForever()
	case "garbage":
		raw := make([]byte, 1<<12)
		rand.Read(raw)
		w.Write(raw)
		sleepForever()
	}
	stage, bytes, rounds, batch := c[1], c[4], c[6], max(c[7], 1)
	var columns [][]int64
	column := func(n, time int64) {
		times := make([]int64, n)
		for i := range times {
			times[i] = time
		}
		columns = append(columns, times)
	}
	timers := microbench.StageTimers()[stage]
	switch {
	case rounds == 0:
	case stage >= 8:
		for r := range int64(w.ranks) {
			if stage == 8 {
				column(rounds, 1_000_000*(1+r)+bytes)
			} else {
				column(rounds, 4_000_000+bytes)
			}
		}
		if late := intVariable("FAKE_LATE", 1); stage == 9 {
			for i := range columns[0] {
				if w.starts < late || late >= 10 {
					columns[0][i] = -1
				}
				w.starts++
			}
		}
	default:
		for _, timer := range timers {
			time := map[string]int64{"timer21": 2_000_000, "rtt": 10_000_000 + bytes, "train": 3_000_000, "prtt10": 37_000_000 + 10*bytes, "prtt10-d": 19_000_000 + 10*bytes}[timer]
			if time == 0 {
				time = 1_000_000
			}
			if time += bytes; timer == "rtt" && bytes > int64(intVariable("FAKE_EAGER", 1<<30)) {
				time += 5_000_000
			}
			n := rounds
			if timer != "rtt" {
				n /= batch
			}
			column(n, time)
			column(n, time)
		}
	}
	workers := w.ranks
	if c[9] != c[10] { // a pair
		workers = 2
	}
	raw := []int64{3_000_000, 1_000_000 * (rounds + 1), int64(workers)}
	for range workers {
		raw = append(raw, 2_000_000)
	}
	if fault == "other" { // a time that is none
		columns = append(columns, []int64{-5})
	}
	raw = append(raw, int64(len(columns)))
	for _, x := range columns {
		raw = append(append(raw, int64(len(x))), x...)
	}
	b, _ := binary.Append(nil, binary.LittleEndian, raw)
	w.answerRequest(2, b)
}
