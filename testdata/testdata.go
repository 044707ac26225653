// Package testdata holds data that reports and tests compare with: numbers as they were published.
// Patterns like ./... do not see the package, but whoever imports it gets it.
package testdata

import "embed"

// Published is a directory for each source, with a README that names it.
//
//go:embed published
var Published embed.FS
