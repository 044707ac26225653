package platform

import "embed"

// catalogue lists the platforms in the order in which they are shown. Each is in the file of its
// name.
var catalogue = []string{
	"t3d",
	"now",
	"convex",
	"smp-torus",
	"smp-ethernet",
	"loggp",
}

//go:embed *.yaml
var files embed.FS

// Names returns the names of the catalogue in its order.
func Names() []string { return append([]string(nil), catalogue...) }

// Catalogue returns all platforms of the catalogue in its order.
func Catalogue() ([]*Platform, error) {
	var all []*Platform
	for _, name := range catalogue {
		p, err := Load(name)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}
