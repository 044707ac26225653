package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/loggp/loggp/impl/real/process"
)

// commandRunner runs commands whose processes all end with them.
type commandRunner struct {
	dir     string        // commands run there; programs that were compiled there end with the command, wherever a launcher put them
	timeout time.Duration // 0: none
	temp    string        // for temporary files of the command; "": where all have theirs
}

var errTimeout = errors.New("it did not end in time")

// gracePeriod is how long a command may take to end when it is asked to.
const gracePeriod = 2 * time.Second

// run runs a command, and returns what it wrote. If it does not end in time the error is
// errTimeout.
func (r commandRunner) run(ctx context.Context, command []string) (*commandOutput, error) {
	if r.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.timeout, errTimeout)
		defer cancel()
	}
	o := &commandOutput{process.Output{Limit: 1 << 15}}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = r.dir
	if r.temp != "" {
		cmd.Env = append(os.Environ(), "TMPDIR="+r.temp)
	}
	cmd.Stdout, cmd.Stderr = o, o
	child, err := process.Start(cmd, syscall.SIGTERM) // a launcher that is asked to end ends its ranks
	if err == nil {
		err = child.Wait(ctx, gracePeriod)
	}
	killProcessesFrom(r.dir)
	if context.Cause(ctx) == errTimeout && err != nil {
		err = errTimeout
	}
	return o, err
}

// killProcessesFrom ends the processes whose program is in a directory, and waits until they are
// gone. Launchers start ranks in groups of their own.
func killProcessesFrom(dir string) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return
	}
	for begin := time.Now(); time.Since(begin) < gracePeriod; time.Sleep(5 * time.Millisecond) {
		running := findProcessesFrom(real)
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

// findProcessesFrom returns the processes whose program is in a directory; none but on Linux.
func findProcessesFrom(dir string) []int {
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

// commandOutput is what a command wrote.
type commandOutput struct{ process.Output }

// lines returns those with a letter or a digit, without what a terminal cannot print.
func (o *commandOutput) lines() []string {
	var list []string
	for line := range strings.Lines(o.String()) {
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

// maxErrorLines is how many lines an error shows, and how much of each.
const (
	maxErrorLines      = 12
	maxErrorLineLength = 300
)

// firstLines and lastLines are for the end of an error.
func (o *commandOutput) firstLines() string {
	l := o.lines()
	return formatLines(l[:min(maxErrorLines, len(l))])
}
func (o *commandOutput) lastLines() string {
	l := o.lines()
	return formatLines(l[max(0, len(l)-maxErrorLines):])
}

func formatLines(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		if len(l) > maxErrorLineLength {
			l = strings.ToValidUTF8(l[:maxErrorLineLength], "") + "…"
		}
		b.WriteString("\n  " + l)
	}
	return b.String()
}

// programLinePrefix begins the lines that our program says.
const programLinePrefix = "loggp-probe: "

// launchHints are for what launchers are known to say.
var launchHints = []struct{ says, hint string }{
	{"not enough slots", "Open MPI counts fewer processors than ranks: --launcher 'mpirun --oversubscribe -n 2', or as many as there are to be, lets it start them"},
	{"attempt to run as root", "Open MPI does not run as root unless OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 are in the environment: set them if you are sure, or measure as another user"},
	{"world of size", "A launcher of another MPI than the compiler's starts ranks that do not know each other: name the one that belongs to the compiler with --launcher"},
}

// launchError says why a launch failed: what our program said if it did, else the end of what the
// launcher wrote, and what can be done.
func launchError(launcher []string, o *commandOutput, err error, timeout time.Duration) error {
	lines := o.lines()
	text := o.lastLines()
	var ours []string
	for _, l := range lines {
		if l, ok := strings.CutPrefix(l, programLinePrefix); ok && l != "" && !slices.Contains(ours, l) {
			ours = append(ours, l)
		}
	}
	if len(ours) > 0 {
		text = formatLines(ours)
	}
	for _, h := range launchHints {
		if strings.Contains(strings.Join(lines, "\n"), h.says) {
			text += "\n" + h.hint
		}
	}
	if errors.Is(err, errTimeout) {
		return fmt.Errorf("%s has not ended within %v, and was ended: give it more with --timeout, or less to do with --reps, --modes or --sizes%s", quoteCommand(launcher), timeout, text)
	}
	return fmt.Errorf("%s failed: %w%s", quoteCommand(launcher), err, text)
}
