package machine

import (
	"os"
	"sync"
)

// Host returns the name of this machine, or "this host" if it has none.
var Host = sync.OnceValue(func() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "this host"
	}
	return name
})
