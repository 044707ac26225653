package device

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestNone checks that NoCapabilities has every capability of a Port and that none is there, and
// that docs/design.md has a row for each.
func TestNone(t *testing.T) {
	doc, err := os.ReadFile("../../docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	none, port := reflect.TypeFor[NoCapabilities](), reflect.TypeFor[Port]()
	for m := range none.Methods() {
		if got := m.Func.Call([]reflect.Value{reflect.New(none).Elem()}); !got[0].IsNil() {
			t.Errorf("None has a %s", m.Name)
		}
		if !strings.Contains(string(doc), "\n| `"+m.Name+"` | ") {
			t.Errorf("docs/design.md has no row for the capability %s", m.Name)
		}
	}
	for m := range port.Methods() {
		if m.Type.NumIn() == 0 && m.Type.NumOut() == 1 && m.Type.Out(0).Kind() == reflect.Interface {
			if _, ok := none.MethodByName(m.Name); !ok {
				t.Errorf("None has no method %s, which returns an optional capability", m.Name)
			}
		}
	}
}
