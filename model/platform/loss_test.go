package platform

import (
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Switches lose what finds their buffers full if the file says so. Where that has no effect or
// would not be seen the file is wrong.
func TestLossOfFabrics(t *testing.T) {
	const loss = "    loss: {timeout: {value: 100us, basis: assumed, source: \"a test\"}}\n    deliver:"
	star, tree, mesh := readPage(t, "fabric-star.yaml"), readPage(t, "fabric-fattree.yaml"), readPage(t, "fabric-mesh.yaml")
	for _, c := range []struct{ file, old, new, want string }{
		{star, "", "", ""},
		{tree, "", "", ""},
		{star, ", buffer: {value: 64KiB, basis: assumed, source: \"a round number\"}", "", "machine.fabric.loss: has no effect: switches have unlimited buffers; write switch.buffer, or leave it out"},
		{mesh, "", "", "machine.fabric.loss: has no effect: switches lose bytes, and a mesh has none; leave it out"},
		{tree, "    deliver:", "    routing: spray\n    deliver:", "machine.fabric.loss: bytes that overtake each other would count as lost"},
		{star, "value: 100us", "value: 0us", "loss.timeout"},
	} {
		text := strings.Replace(c.file, "    deliver:", loss, 1)
		if c.old != "" {
			text = strings.Replace(text, c.old, c.new, 1)
		}
		p, err := Parse("lossy.yaml", []byte(text))
		switch {
		case c.want == "" && err != nil:
			t.Error(err)
		case c.want == "":
			if f := p.Machine.Network.(*model.Fabric); f.Loss == nil || f.Loss.Timeout != 100*unit.Microsecond {
				t.Errorf("%+v", f.Loss)
			}
		case err == nil || !strings.Contains(err.Error(), c.want):
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
