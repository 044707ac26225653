// Package testdata holds data that reports and tests compare with: numbers as they were published.
// Patterns like ./... do not see the package, but whoever imports it gets it.
package testdata

import (
	"embed"
	"io/fs"
)

//go:embed published
var files embed.FS

// Published has a directory for each source, with a README that names it.
var Published = func() fs.FS {
	dir, err := fs.Sub(files, "published")
	if err != nil { // only for a name that is no path
		panic(err)
	}
	return dir
}()
