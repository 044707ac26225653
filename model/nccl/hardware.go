package nccl

import (
	"fmt"

	"github.com/loggp/loggp/model"
)

// NewHardware returns what NCCL finds on a machine whose nodes are GPUs: with the settings of a
// library of model.NCCLEngine.
func NewHardware(m *model.Machine, l *model.Library) (*Hardware, error) {
	if l.CarriedBy() != model.NCCLEngine {
		return nil, fmt.Errorf("library %s: its engine is %s, not %s", l.Name, l.CarriedBy().Name, model.NCCLEngine.Name)
	}
	if m.Nodes == nil {
		return nil, fmt.Errorf("library %s: %s has no nodes of several GPUs", l.Name, m.Name)
	}
	inside, isFabric := m.Nodes.Inside.(*model.Fabric)
	if !isFabric {
		return nil, fmt.Errorf("library %s: the inside of a node of %s is no fabric, so its links are not known", l.Name, m.Name)
	}
	s := &l.NCCL
	return &Hardware{Tables: FindTables(s.Tables), NCCLSettings: s, GPUs: m.Nodes.Ranks, Interfaces: m.Nodes.Interfaces, HasSwitch: inside.Graph.Kind != "mesh"}, nil
}
