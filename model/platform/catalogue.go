package platform

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/model/table"
)

// modernNames and historicNames list the platforms in the order in which they are shown: clusters
// and nodes of today, and the machines of the papers. Each is in the file of its name.
var (
	modernNames = []string{
		"hdr-fattree",
		"slingshot-dragonfly",
		"roce-clos",
		"c5n-efa",
		"hpc6a-efa",
		"ethernet-tcp",
		"dgx-a100",
		"dgx-h100",
		"gh200",
	}
	historicNames = []string{
		"t3d",
		"now",
		"convex",
		"challenge",
		"cm5",
		"smp-torus",
		"smp-ethernet",
		"mbcf-hub",
		"mbcf-switch-half",
		"mbcf-switch",
		"cc-cluster",
		"start-x",
		"loggp",
	}
	catalogueNames = slices.Concat(modernNames, historicNames)
)

// IsModern reports whether a platform of the catalogue is one of today.
func IsModern(name string) bool { return slices.Contains(modernNames, name) }

//go:embed *.yaml
var catalogueFiles embed.FS

// Names returns the names of the catalogue in its order.
func Names() []string { return append([]string(nil), catalogueNames...) }

// Catalogue returns all platforms of the catalogue in its order.
func Catalogue() ([]*Platform, error) {
	var all []*Platform
	for _, name := range catalogueNames {
		p, err := Load(name)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// maxFileBytes is the longest platform file in bytes.
const maxFileBytes = 1 << 20

// Load returns a platform. what is a name of the catalogue, such as t3d; the path of a file, which
// contains a slash or ends in .yaml or .yml; or a synthetic machine with parameters, such as
// loggp:L=5us,o_s=2us.
func Load(what string) (*Platform, error) {
	if strings.HasPrefix(what, loggpName+":") {
		return parseSpec(what)
	}
	file, data, err := Text(what)
	if err != nil {
		return nil, err
	}
	return Parse(file, data)
}

// Text returns the name and the contents of the file of a platform, which is a name of the
// catalogue, the path of a file, or - for standard input. A synthetic machine with parameters has
// none.
func Text(what string) (file string, data []byte, err error) {
	switch {
	case strings.HasPrefix(what, loggpName+":"):
		return "", nil, fmt.Errorf("platform %q: it has no file of its own: name %s, or a file", what, loggpName)
	case what == input.Standard:
		data, err = standardText()
		return "standard input", data, err
	case strings.ContainsAny(what, `/\`) || slices.ContainsFunc([]string{".yaml", ".yml", ".yaml.gz", ".yml.gz"}, func(end string) bool { return strings.HasSuffix(what, end) }):
		data, err = readFile(what)
		return what, data, err
	case slices.Contains(catalogueNames, what):
		file = what + ".yaml"
		data, err = catalogueFiles.ReadFile(file)
		return file, data, err
	}
	return "", nil, &UnknownPlatformError{what, catalogueNames}
}

// localNames are names of this computer, which verbs that measure take for a platform.
var localNames = []string{"shm", "tcp", "mpi"}

// UnknownPlatformError is the error for a platform that is not in the catalogue.
type UnknownPlatformError struct {
	Name  string
	Known []string // the names of the catalogue
}

// Error lists the names of the catalogue.
func (e *UnknownPlatformError) Error() string {
	text := fmt.Sprintf("there is no platform %q", e.Name)
	if meant := table.Suggestion(e.Name, append(slices.Clone(e.Known), localNames...)); meant != "" {
		text += "; did you mean " + meant + "?"
	}
	if _, err := os.Stat(e.Name); err == nil {
		text += "; did you mean the file ./" + e.Name + "?"
	}
	return text + fmt.Sprintf("\nThe catalogue has %s. The name of a platform file has a / or ends in .yaml", strings.Join(e.Known, ", "))
}

// standardText returns the text of standard input, which is read once for all that load it.
var standardText = sync.OnceValues(func() ([]byte, error) { return readFile(input.Standard) })

// readFile reads a user's file, which may be packed by gzip, or standard input.
func readFile(path string) ([]byte, error) {
	in, err := input.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read platform: %w", err)
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxFileBytes+1))
	if at := (*fs.PathError)(nil); err != nil && !errors.As(err, &at) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("platform: %w", err)
	}
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("platform: %s: longer than %d bytes, which no platform file is", path, maxFileBytes)
	}
	return data, nil
}

// suggestName returns the name that s may have been meant to be, or lists them all.
func suggestName(s string, names []string) string {
	if len(names) == 0 {
		return "leave it out"
	}
	if meant := table.Suggestion(s, names); meant != "" {
		return "write " + meant
	}
	return "write one of " + strings.Join(names, ", ")
}
