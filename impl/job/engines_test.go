package job

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device/trace"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// Every engine that platform files may name is there, and charges the work that it declares: each
// kind, and no other.
func TestEnginesCharge(t *testing.T) {
	for _, e := range model.Engines {
		if newEnginesByName[e].make == nil || newEnginesByName[e].describe == nil {
			t.Errorf("engine %s is not in the table", e.Name)
			continue
		}
		if len(e.Costs) > int(model.MaxCosts) {
			t.Fatalf("engine %s has %d kinds of work, and there is room for %d", e.Name, len(e.Costs), model.MaxCosts)
		}
		p, err := platform.Load("loggp")
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(p.Libraries, func(l *model.Library) bool { return l.CarriedBy() == e })
		if i < 0 {
			t.Errorf("no library of platform loggp has the engine %s", e.Name)
			continue
		}
		j, err := New(p, p.Libraries[i].Name, 2, 0)
		if err != nil {
			t.Fatal(err)
		}
		w, err := hw.New(j.hardwareConfig(context.Background(), 1))
		if err != nil {
			t.Fatal(err)
		}
		log := trace.Log{Engine: e}
		protocol := ""
		if e == model.ProtoEngine {
			protocol = "RTA" // so that there are packets of control
		}
		if err := mpi.Run(trace.World(w, &log), j.MPIOptions(protocol), all); err != nil {
			t.Fatalf("engine %s: %v", e.Name, err)
		}
		charged := map[string]bool{}
		for _, x := range log.Events() {
			if x.Kind == trace.Spend {
				charged[x.Work] = true
			}
		}
		var declared []string
		for _, c := range e.Costs {
			declared = append(declared, c.Key)
		}
		slices.Sort(declared)
		if got := slices.Sorted(maps.Keys(charged)); !slices.Equal(got, declared) {
			t.Errorf("engine %s charges %q, and declares %q", e.Name, got, declared)
		}
	}
}

// all makes every kind of call between two ranks.
func all(c *mpi.Comm) error {
	peer := 1 - c.Rank()
	b := make([]byte, 1000)
	c.AttachBuffer(make([]byte, 2000))
	defer c.DetachBuffer()
	if c.Rank() == 0 {
		c.Barrier()
		for _, send := range []func(*mpi.Comm, []byte, int, int){mpi.Send[byte], mpi.Ssend[byte], mpi.Rsend[byte], mpi.Bsend[byte]} {
			c.Barrier()
			send(c, b, peer, 1)
		}
		return nil
	}
	c.Iprobe(peer, 1)
	r := mpi.Irecv(c, b, peer, 9)
	r.Test()
	r.Cancel()
	r.Wait()
	c.Barrier()
	for range 4 {
		r := mpi.Irecv(c, b, peer, 1)
		c.Barrier()
		r.Wait()
	}
	r = mpi.Isend(c, b, mpi.ProcNull, 1)
	r.Wait()
	return nil
}

// An engine is named in the files that docs/extending.md lists only, so that the list is complete.
func TestEngines(t *testing.T) {
	const root = "../../"
	read := func(file string) string {
		b, err := os.ReadFile(root + file)
		if err != nil {
			t.Error(err)
		}
		return string(b)
	}
	for _, e := range model.Engines {
		pkg := "impl/engine/" + e.Name
		tests, err := filepath.Glob(root + pkg + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(tests, func(file string) bool {
			return strings.Contains(read(strings.TrimPrefix(file, root)), "enginetest.Test(")
		}) {
			t.Errorf("no test of %s calls enginetest.Test", pkg)
		}
		var name string
		for _, m := range regexp.MustCompile(`var (\w+) = &Engine{\s+Name: +"`+e.Name+`"`).FindAllStringSubmatch(read("model/engine_"+e.Name+".go"), -1) {
			name = "model." + m[1]
		}
		if name == "" {
			t.Fatalf("model/engine_%s.go does not declare the engine", e.Name)
		}
		places := []string{"model/platform/engine.go", "impl/job/job.go", "impl/job/engines_test.go", "impl/library/mpi/everywhere_test.go"} // the last one takes one whose messages are packets
		if err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			file = strings.TrimPrefix(file, root)
			if err != nil || d.IsDir() || filepath.Ext(file) != ".go" || slices.Contains(places, file) || strings.HasPrefix(file, pkg+"/") || strings.HasPrefix(file, "impl/engine/enginetest/") {
				return err
			}
			if e != model.Engines[0] && (strings.Contains(read(file), name) || strings.Contains(read(file), strconv.Quote("github.com/loggp/loggp/"+pkg))) {
				t.Errorf("%s names the engine %s", file, e.Name)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, words := range []string{"`impl/engine/NAME/`", "`impl/engine/NAME/NAME_test.go`", "`model.Engines`", "`model/engine_NAME.go`", "`impl/job/job.go`", "`engine: NAME`"} {
		if !strings.Contains(read("docs/extending.md"), words) {
			t.Errorf("docs/extending.md does not say %s", words)
		}
	}
}
