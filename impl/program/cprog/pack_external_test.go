//go:build cgo && linux && amd64

package cprog

import (
	"encoding/hex"
	"testing"
)

// A C long double is converted to a quadruple number in external32 and back.
func TestLongDoubleInExternal32(t *testing.T) {
	e := externalElement{native: 16, external: 16, isExtended: true}
	for native, want := range map[string]string{
		"0000000000000080ff3f":      "3fff0000000000000000000000000000", // 1
		"00000000000000c000c0":      "c0008000000000000000000000000000", // -3
		"0000000000000000" + "0000": "00000000000000000000000000000000",
		"000000000000" + "0080ff7f": "7fff0000000000000000000000000000", // infinity
		"ffffffffffffffff0040":      "4000fffffffffffffffe000000000000",
	} {
		x, err := hex.DecodeString(native)
		if err != nil {
			t.Fatal(err)
		}
		x = append(x, make([]byte, 6)...)
		external := e.encode(nil, x)
		if got := hex.EncodeToString(external); got != want {
			t.Errorf("%s is %s in external32, want %s", native, got, want)
		}
		if got := e.decode(nil, external); hex.EncodeToString(got) != hex.EncodeToString(x) {
			t.Errorf("%s comes back as %x", native, got)
		}
	}
}
