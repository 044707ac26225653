package check

import (
	"os"
	"path"
	"strings"
	"testing"
)

// Stacks are recognized by import paths, so the paths must be those of existing packages.
func TestSitePackagesExist(t *testing.T) {
	root, _, _ := strings.Cut(packageOfCheck, "/impl/")
	for pkg := range packageOfInternals {
		checkPackage(t, root, pkg)
	}
	checkPackage(t, root, packageOfPrograms)
}

func checkPackage(t *testing.T, root, pkg string) {
	t.Helper()
	dir := path.Join("../../../..", strings.TrimPrefix(pkg, root))
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Errorf("package %s has no folder %s", pkg, dir)
	}
}
