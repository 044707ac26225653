package input

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func pack(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A file of as many bytes as the bound is read whole, and a longer one is an error that names the
// file, the bound and the flag, packed or not. What is read before the error is the beginning.
func TestTextIsBounded(t *testing.T) {
	SetMaxBytes(1000)
	defer SetMaxBytes(0)
	dir := t.TempDir()
	for _, n := range []int{0, 1, 999, 1000, 1001, 5000} {
		text := strings.Repeat("x", n)
		for name, contents := range map[string][]byte{"plain": []byte(text), "packed.gz": pack(t, text)} {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, contents, 0o666); err != nil {
				t.Fatal(err)
			}
			f, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(f)
			if string(got) != text[:min(n, 1000)] {
				t.Errorf("%s of %d bytes: %d were read", name, n, len(got))
			}
			var long *TooLongError
			if n > 1000 != errors.As(err, &long) || n <= 1000 && err != nil {
				t.Errorf("%s of %d bytes: %v", name, n, err)
			}
			if want := path + ": more than 1000B of text, unpacked; --max-input allows more"; n > 1000 && err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
			if n, err := f.Read(make([]byte, 1)); n != 0 || err == nil {
				t.Errorf("after the end %d bytes are read: %v", n, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if MaxBytes() != 1000 {
		t.Error(MaxBytes())
	}
}

// A packed file that is cut says so, wherever it is cut.
func TestPackedFileIsCutShort(t *testing.T) {
	whole := pack(t, "num_ranks 1\nrank 0 {\n}\n")
	for n := 2; n < len(whole); n++ {
		in, err := Unpack(bytes.NewReader(whole[:n]), "x")
		if err == nil {
			_, err = io.ReadAll(in)
		}
		if err == nil || !strings.Contains(err.Error(), "cut short") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
