package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// process runs commands whose processes all end with them.
type process struct {
	dir     string        // commands run there; programs that were compiled there end with the command, wherever a launcher put them
	timeout time.Duration // 0: none
	temp    string        // for temporary files of the command; "": where all have theirs
}

var errTimeout = errors.New("it did not end in time")

// grace is between a request to end and the end.
const grace = 2 * time.Second

// run runs a command, and returns what it said on both of its outputs. If it does not end in time the error is errTimeout.
func (p process) run(ctx context.Context, command []string) (*speech, error) {
	if p.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.timeout, errTimeout)
		defer cancel()
	}
	said := &speech{}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = p.dir
	if p.temp != "" {
		cmd.Env = append(os.Environ(), "TMPDIR="+p.temp)
	}
	cmd.Stdout, cmd.Stderr = said, said
	cmd.WaitDelay = grace
	group(cmd)
	runtime.LockOSThread() // the command is asked to end with the thread that started it
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	killGroup(cmd)
	killFrom(p.dir)
	switch {
	case context.Cause(ctx) == errTimeout && err != nil:
		return said, errTimeout
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil // it succeeded, and one that it started held its output
	}
	return said, err
}

// killFrom ends the processes whose program is in a directory, and waits until they are gone. Launchers start ranks in groups of their own.
func killFrom(dir string) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return
	}
	for begin := time.Now(); time.Since(begin) < grace; time.Sleep(5 * time.Millisecond) {
		running := runningFrom(real)
		if len(running) == 0 {
			return
		}
		for _, pid := range running {
			if p, err := os.FindProcess(pid); err == nil {
				p.Kill()
			}
		}
	}
}

// runningFrom returns the processes whose program is in a directory; none but on Linux.
func runningFrom(dir string) []int {
	var list []int
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if program, err := os.Readlink(link); err == nil && filepath.Dir(program) == dir {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link)))
			list = append(list, pid)
		}
	}
	return list
}

// speech is what a command said, its beginning and its end.
type speech struct{ head, tail []byte }

// enough is how much of each is kept.
const enough = 1 << 15

func (s *speech) Write(b []byte) (int, error) {
	n := len(b)
	k := min(enough-len(s.head), n)
	s.head, b = append(s.head, b[:k]...), b[k:]
	if s.tail = append(s.tail, b...); len(s.tail) > 2*enough {
		s.tail = slices.Clone(s.tail[len(s.tail)-enough:])
	}
	return n, nil
}

// lines returns those with a letter or a digit, without what a terminal cannot print.
func (s *speech) lines() []string {
	var list []string
	for line := range strings.Lines(string(s.head) + string(s.tail)) {
		line = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f || r == 0xfffd {
				return ' '
			}
			return r
		}, strings.TrimRight(line, "\r\n"))
		if strings.Trim(line, " -=*|") != "" {
			list = append(list, strings.TrimRight(line, " "))
		}
	}
	return list
}

// most is how many lines an error shows, and how much of each.
const (
	most  = 12
	width = 300
)

// first and last are for the end of an error.
func (s *speech) first() string { l := s.lines(); return shown(l[:min(most, len(l))]) }
func (s *speech) last() string  { l := s.lines(); return shown(l[max(0, len(l)-most):]) }

func shown(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		if len(l) > width {
			l = strings.ToValidUTF8(l[:width], "") + "…"
		}
		b.WriteString("\n  " + l)
	}
	return b.String()
}

// mark begins the lines that our program says.
const mark = "loggp-probe: "

// hints are for what launchers are known to say.
var hints = []struct{ says, hint string }{
	{"not enough slots", "Open MPI counts fewer processors than ranks: --launcher 'mpirun --oversubscribe -n 2', or as many as there are to be, lets it start them"},
	{"attempt to run as root", "Open MPI does not run as root unless OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 are in the environment: set them if you are sure, or measure as another user"},
	{"world of size", "A launcher of another MPI than the compiler's starts ranks that do not know each other: name the one that belongs to the compiler with --launcher"},
}

// launchError says why a launch failed: what our program said if it did, else the launcher's last words, and what can be done.
func launchError(launcher []string, said *speech, err error, timeout time.Duration) error {
	lines := said.lines()
	text := said.last()
	var ours []string
	for _, l := range lines {
		if l, ok := strings.CutPrefix(l, mark); ok && l != "" && !slices.Contains(ours, l) {
			ours = append(ours, l)
		}
	}
	if len(ours) > 0 {
		text = shown(ours)
	}
	for _, h := range hints {
		if strings.Contains(strings.Join(lines, "\n"), h.says) {
			text += "\n" + h.hint
		}
	}
	if errors.Is(err, errTimeout) {
		return fmt.Errorf("%s has not ended within %v, and was ended: give it more with --timeout, or less to do with --reps, --modes or --sizes%s", words(launcher), timeout, text)
	}
	return fmt.Errorf("%s failed: %w%s", words(launcher), err, text)
}
