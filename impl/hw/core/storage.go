package core

import "github.com/loggp/loggp/impl/device"

// Storage implements device.Port.
func (p *Port) Storage() device.Storage {
	if p.Machine.FileAccess.Bandwidth == 0 {
		return nil
	}
	return p
}

// AccessFile implements device.Storage. The data of one access after the other pass the file
// system; the start-ups of accesses go on side by side.
func (p *Port) AccessFile(n int) {
	p.ElapseCharges()
	moving := p.Machine.FileAccess.Bandwidth.Time(n)
	begin := p.fileSystem.Reserve(p.Kernel.Now(), moving)
	p.Sleep(begin + moving + p.Machine.FileAccess.Start - p.Kernel.Now())
	p.AdvanceToKernel()
}
