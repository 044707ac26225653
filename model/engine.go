package model

import (
	"fmt"
	"slices"
)

// Engine describes a message-passing engine to platform files and models: the kinds of software
// work that it charges to processors, and its settings. A library of a platform file names its
// engine, and has a value for each of these. The engine itself is a package below impl.
//
// Each engine stands in a file of its own here, with its work and the type of its settings.
type Engine struct {
	Name                string // as libraries of platform files give it
	Description         string
	Costs               []SoftwareCost // by CostKey
	Settings            []Setting      // in the order in which errors name missing ones
	HasLowLevelMessages bool           // it has low-level messages, which can be measured
	UsesMBCF            bool           // it uses remote memory, queues and signals of operating systems that have MBCF
}

// Setting declares a key of a library's entry in a platform file that one engine reads. Package
// platform reads its value. It is an error in a library of another engine.
type Setting struct {
	Key      string
	Optional bool
}

// SoftwareCost declares one kind of software work.
type SoftwareCost struct {
	Key         string // in platform files, under software
	PerByte     bool   // charged for each byte; if not, once per call, packet or request
	Description string
}

// CostKey names a kind of work of an engine: its index in Engine.Costs and in
// Library.Software.
type CostKey uint8

// MaxCosts is how many kinds of work an engine may charge at most.
const MaxCosts CostKey = 24

// Engines are all engines that carry MPI. The first one carries libraries that do not name one.
var Engines = []*Engine{ProtoEngine, QueueEngine, MBCFEngine, StartEngine}

// StandaloneEngines are the engines that are libraries of their own: programs call them in place of
// MPI.
var StandaloneEngines = []*Engine{AclmplEngine, AclmplArenaEngine, AclmplPVMEngine, PVMEngine, CMMDEngine, NCCLEngine}

// CarriesMPI reports whether the engine carries MPI.
func (e *Engine) CarriesMPI() bool { return slices.Contains(Engines, e) }

// HasSetting reports whether the engine reads a key.
func (e *Engine) HasSetting(key string) bool {
	return slices.ContainsFunc(e.Settings, func(s Setting) bool { return s.Key == key })
}

// EnginesWithSetting returns the engines that read a key.
func EnginesWithSetting(key string) (with []*Engine) {
	for _, e := range slices.Concat(Engines, StandaloneEngines) {
		if e.HasSetting(key) {
			with = append(with, e)
		}
	}
	return with
}

// FindEngine returns the engine with a name, or nil.
func FindEngine(name string) *Engine {
	all := slices.Concat(Engines, StandaloneEngines)
	if i := slices.IndexFunc(all, func(e *Engine) bool { return e.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// Cost returns the declaration of a kind of work. The key of undeclared work is its number.
func (e *Engine) Cost(k CostKey) SoftwareCost {
	if int(k) < len(e.Costs) {
		return e.Costs[k]
	}
	return SoftwareCost{Key: fmt.Sprintf("work %d", k)}
}
