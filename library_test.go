package loggp_test

import (
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp"
)

// Two messages on an emulated T3D, by protocol T.
func ExamplePredict() {
	p, err := loggp.Predict(context.Background(), loggp.PredictOptions{Platform: "t3d", Protocol: []string{"T"}, Sizes: []int{16, 1000}})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range p.Messages {
		fmt.Println(m.Bytes, m.SenderTime.Time, m.DeliveryTime.Time)
	}
	// Output:
	// 16 29.972107us 15.866558us
	// 1000 39.736667us 31.419353us
}

// The package prints nothing and reads no flags.
func TestLibraryPrintsNothing(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, stream := range []string{"os.Stdout", "os.Stderr", "os.Getenv"} {
			if strings.Contains(string(text), stream) {
				t.Errorf("%s uses %s", file, stream)
			}
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			switch path, _ := strconv.Unquote(i.Path.Value); path {
			case "flag", "github.com/spf13/cobra", "github.com/spf13/pflag":
				t.Errorf("%s imports %s", file, path)
			}
		}
	}
}
