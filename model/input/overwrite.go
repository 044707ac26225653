package input

import (
	"os"
	"path/filepath"
	"strings"
)

// IsOverwrittenBy reports whether writing a file or directory replaces an input: an ordinary file
// that is the same under any name or, of a directory, that is in it.
func IsOverwrittenBy(output, path string) bool {
	in, err := os.Stat(path)
	if path == Standard {
		in, err = os.Stdin.Stat()
	}
	if err != nil || !in.Mode().IsRegular() {
		return false
	}
	out, err := os.Stat(output)
	if err != nil {
		return false
	}
	if !out.IsDir() {
		return os.SameFile(in, out)
	}
	below, err := filepath.Rel(ResolveLinks(output), ResolveLinks(path))
	return err == nil && below != ".." && !strings.HasPrefix(below, ".."+string(filepath.Separator))
}

// ResolveLinks returns the absolute path of a file without links, as far as it exists.
func ResolveLinks(name string) string {
	path, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}
