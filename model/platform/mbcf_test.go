package platform

import (
	"reflect"
	"testing"

	"github.com/loggp/loggp/model"
)

// The workstations of MPI/MBCF differ in their network alone.
func TestMBCFSiblings(t *testing.T) {
	hub := load(t, "mbcf-hub")
	for name, full := range map[string]bool{"mbcf-switch-half": false, "mbcf-switch": true} {
		p := load(t, name)
		m, e := *p.Machine, *p.Machine.Network.(*model.Ethernet)
		if s := e.Switches; s == nil || s.IsFullDuplex != full {
			t.Errorf("%s has the switches %+v", name, s)
		}
		e.Switches, m.Network = nil, &e
		m.Name, m.Description = hub.Machine.Name, hub.Machine.Description
		if !reflect.DeepEqual(&m, hub.Machine) || !reflect.DeepEqual(p.Libraries, hub.Libraries) || !reflect.DeepEqual(p.References, hub.References) {
			t.Errorf("%s differs from mbcf-hub in more than its switches", name)
		}
	}
}
