package mpi_test

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/library/mpi"
)

// stackPort records the stacks on which a message is sent and its data is copied.
type stackPort struct {
	device.Port
	sent, copied *[]string
}

func (p stackPort) Send(dst int, q *device.Packet) {
	if p.Rank() == 0 {
		*p.sent = stack()
	}
	p.Port.Send(dst, q)
}

func (p stackPort) Copy(dst, src []byte) int {
	if p.Rank() == 1 {
		*p.copied = stack()
	}
	return p.Port.Copy(dst, src)
}

// stack returns the active functions of packages below impl, outermost first, as "file: function".
func stack() (on []string) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		_, file, ok := strings.Cut(filepath.ToSlash(f.File), "/impl/")
		if strings.HasSuffix(file, "_test.go") {
			break
		}
		name := strings.TrimSuffix(f.Function, "[...]")
		if ok {
			on = append(on, "impl/"+file+": "+name[strings.LastIndexByte(name, '.')+1:])
		}
	}
	slices.Reverse(on)
	return on
}

type stackWorld struct {
	device.World
	sent, copied []string
}

func (w *stackWorld) Run(program func(device.Port) error) error {
	return w.World.Run(func(p device.Port) error { return program(stackPort{p, &w.sent, &w.copied}) })
}

// docs/walk.md walks one message from mpi.Send to the wire and back up. All its functions exist,
// and those above the waist are called in its order.
func TestWalk(t *testing.T) {
	b, err := os.ReadFile("../../../docs/walk.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), "\n## One message, from mpi.Send to the wire\n")
	text, _, _ = strings.Cut(text, "\n## ")
	down, up, _ := strings.Cut(text, "\nUp, at the receiver")
	steps := func(part string) (all []string) {
		for _, row := range regexp.MustCompile("(?m)^\\| `(impl/.*?\\.go)` \\| (.*?) \\|").FindAllStringSubmatch(part, -1) {
			source, err := os.ReadFile("../../../" + row[1])
			if err != nil {
				t.Error(err)
			}
			for _, f := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[2], -1) {
				all = append(all, row[1]+": "+f[1])
				if !regexp.MustCompile(`(?m)^func (\(.*\) )?` + f[1] + `[\[(]`).Match(source) {
					t.Errorf("%s has no function %s", row[1], f[1])
				}
			}
		}
		return all
	}
	w := &stackWorld{World: emulated(t, "t3d", enginetest.T3DLibrary(), 2, 0)}
	l := enginetest.T3DLibrary()
	l.Software = load("t3d").Libraries[0].Software
	holds(t, mpi.Run(w, mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			c.Compute(100 * us)
			mpi.Send(c, []int64{1}, 1, 0)
		} else {
			mpi.Recv(c, make([]int64, 1), 0, 0)
		}
		return nil
	}))
	if got := steps(down); len(got) < len(w.sent) || !slices.Equal(got[:len(w.sent)], w.sent) {
		t.Errorf("the page has\n%s\nand the message is sent by\n%s", strings.Join(got, "\n"), strings.Join(w.sent, "\n"))
	}
	from := slices.IndexFunc(w.copied, func(s string) bool { return strings.HasSuffix(s, ": dispatchPacket") })
	if from < 0 || !strings.Contains(strings.Join(steps(up), "\n"), strings.Join(w.copied[from:len(w.copied)-1], "\n")) {
		t.Errorf("the page has\n%s\nand the data is copied by\n%s", strings.Join(steps(up), "\n"), strings.Join(w.copied, "\n"))
	}
}
