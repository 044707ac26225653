package loggp

import (
	"fmt"
	"math/bits"
	"reflect"
	"strings"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/microbench/probe"
)

// machineKinds is a set of kinds of machines.
type machineKinds uint

const (
	emulatedMachine machineKinds = 1 << iota
	sharedMemory
	loopbackTCP
	installedMPI

	transports  = sharedMemory | loopbackTCP
	thisMachine = transports | installedMPI
	allMachines = thisMachine | emulatedMachine
)

// measureScope says for which measurements an option is meaningful.
type measureScope struct {
	machines  machineKinds
	operation string // "": both; otherwise only messages or only collective operations
}

const (
	messagesOnly    = "messages between two ranks"
	collectivesOnly = "collective operations of all ranks"
)

// measureScopes has the options that are not meaningful for all measurements.
var measureScopes = map[string]measureScope{
	"Library": {emulatedMachine | transports, ""},

	"Place":    {allMachines, messagesOnly},
	"Pairs":    {allMachines, messagesOnly},
	"Modes":    {allMachines, messagesOnly},
	"MaxSize":  {allMachines, messagesOnly},
	"Delta":    {allMachines, messagesOnly},
	"Protocol": {emulatedMachine | transports, messagesOnly},
	"Level":    {emulatedMachine | transports, messagesOnly},

	"Algorithm": {emulatedMachine | transports, collectivesOnly},

	"Noise":     {emulatedMachine, ""},
	"Warmup":    {emulatedMachine | installedMPI, ""},
	"Quick":     {thisMachine, ""},
	"Budget":    {thisMachine, ""},
	"Precision": {thisMachine, ""},
	"Launches":  {thisMachine, ""},
	"Wait":      {transports, ""},
	"NoPin":     {transports, ""},

	"Hosts":         {loopbackTCP, ""},
	"Expect":        {loopbackTCP, ""},
	"SSH":           {loopbackTCP, ""},
	"RemoteProgram": {loopbackTCP, ""},
	"Listen":        {loopbackTCP, ""},
	"SharedDir":     {loopbackTCP, ""},

	"MPICC":    {installedMPI, ""},
	"Launcher": {installedMPI, ""},
	"Timeout":  {installedMPI, ""},
}

// CheckScope returns an OptionError if an option, given by its field's name, has no effect on the
// measurement.
func (o *MeasureOptions) CheckScope(option string) error {
	kind, about := emulatedMachine, "emulated"
	switch o.Platform {
	case job.SharedMemoryPlatform:
		kind, about = sharedMemory, "this machine"
	case job.TCPPlatform:
		kind, about = loopbackTCP, "this machine"
	case probe.PlatformName:
		kind = installedMPI
	}
	scope, limited := measureScopes[option]
	switch {
	case option == "Ranks" && kind == installedMPI && len(o.Collective) == 0 && o.Pairs != PairsAll:
		return optionErrorf(option, "between two ranks the MPI of this machine is measured with two; more are for collective operations and for all pairs")
	case !limited:
		return nil
	case scope.machines&kind == 0 && kind == installedMPI:
		return optionErrorf(option, "it has no effect on the MPI of this machine")
	case scope.machines&kind == 0:
		return optionErrorf(option, "it is for %s, and %s is %s", scope.machines, o.Platform, about)
	case scope.operation == collectivesOnly && len(o.Collective) == 0, scope.operation == messagesOnly && len(o.Collective) > 0:
		return optionErrorf(option, "it is for %s", scope.operation)
	}
	return nil
}

// checkScopes checks all options that are set.
func (o *MeasureOptions) checkScopes() error {
	v := reflect.ValueOf(o).Elem()
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			continue
		}
		if err := o.CheckScope(v.Type().Field(i).Name); err != nil {
			return err
		}
	}
	return nil
}

func (k machineKinds) String() string {
	names := []string{"emulated machines", job.SharedMemoryPlatform, job.TCPPlatform, probe.PlatformName}
	switch k {
	case emulatedMachine:
		return names[0]
	case loopbackTCP, installedMPI:
		return "--platform " + names[bits.TrailingZeros(uint(k))]
	case transports, thisMachine:
		return "this machine (" + strings.Join(names[1:bits.Len(uint(k))], ", ") + ")"
	}
	return fmt.Sprintf("%v and %v", k&emulatedMachine, k&^emulatedMachine)
}
