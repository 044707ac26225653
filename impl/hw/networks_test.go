package hw

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
)

// A kind of network consists, as docs/extending.md says, of a package here, a file in model and
// one in model/platform, named for it, and a row in a table of each. No other package names a kind,
// but for what is only about that one.
func TestKinds(t *testing.T) {
	if len(networks) != len(model.NetworkKinds) {
		t.Errorf("%d kinds of networks here, %d in package model", len(networks), len(model.NetworkKinds))
	}
	design, err := os.ReadFile("../../docs/extending.md")
	if err != nil {
		t.Fatal(err)
	}
	var packages []string
	for i, k := range model.NetworkKinds {
		key := k.Kind()
		if got := networks[i].sample.Kind(); got != key {
			t.Errorf("row %d is %s here, and %s in package model", i, got, key)
		}
		packages = append(packages, key)
		for _, file := range []string{"../../model/" + key + ".go", "../../model/platform/" + key + ".go", key + "/" + key + ".go"} {
			if _, err := os.Stat(file); err != nil {
				t.Error(err)
			}
		}
	}
	all, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		if x.IsDir() && !slices.Contains(append(packages, "activity", "core", "hwtest", "sim"), x.Name()) {
			t.Errorf("package %s is no kind of network", x.Name())
		}
	}
	for _, words := range []string{"`impl/hw/NAME/`", "`model/NAME.go`", "`model/platform/NAME.go`", "`hw.networks`", "`model.NetworkKinds`", "`platform.networkReaders`"} {
		if !strings.Contains(string(design), words) {
			t.Errorf("docs/extending.md does not say %s", words)
		}
	}
}

// naming are the files that name a kind of network and are not its own, beside the three tables:
// they are about what only that kind has.
var naming = map[string][]string{
	"model.Fabric":     {"machine_changes.go", "model/nccl/hardware.go", "model/platform/edit/scale.go", "simulate_flows.go", "simulate_levels.go", "simulate_tolerance.go", "reports/platforms.go"}, // tapers, rails and sizes; what NCCL finds; registration, which flows leave out
	"model.Ethernet":   {"run_program.go"},                                                                                                                                                           // whether frames are lost at random
	"model.FatTree":    {"microbench/papers/node_interface.go"},                                                                                                                                      // programmed I/O by words and by bursts
	"model.Hypernodes": {"cmd/loggp/paper/predict.go"},                                                                                                                                               // the H and P of papers
	"model.LogGP":      {"predict_source.go", "collective_platform.go", "model/platform/machine.go"},                                                                                                 // the model's parameters as such
	"model.Torus":      {"model/aclmpl/aclmpl.go"},                                                                                                                                                   // closed forms of puts on the T3D
}

// A kind of network is named in its own files only, so that the list of them is complete.
func TestKindsAreNamedInTheirFiles(t *testing.T) {
	for _, name := range []string{"Torus", "Hypernodes", "Ethernet", "LogGP", "FatTree", "Fabric", "NUMA"} {
		own := strings.ToLower(name)
		for _, file := range sources(t, "../..") {
			b, err := os.ReadFile("../../" + file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(b), "model."+name+"{") || strings.Contains(string(b), "*model."+name) {
				if path.Dir(file) != "impl/hw/"+own && path.Base(file) != own+".go" && !slices.Contains(naming["model."+name], file) {
					t.Errorf("%s names model.%s", file, name)
				}
			}
		}
	}
}

// sources returns the sources below a directory that are no tests, nor of packages for tests.
func sources(t *testing.T, root string) (files []string) {
	t.Helper()
	var walk func(dir string)
	walk = func(dir string) {
		all, err := os.ReadDir(root + dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			switch name := dir + "/" + x.Name(); {
			case x.IsDir() && !strings.HasPrefix(x.Name(), ".") && !strings.HasSuffix(x.Name(), "test"):
				walk(name)
			case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
				files = append(files, name[1:])
			}
		}
	}
	walk("")
	return files
}
