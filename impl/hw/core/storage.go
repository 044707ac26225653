package core

import "github.com/loggp/loggp/impl/device"

// Storage implements device.Port.
func (p *Port) Storage() device.Storage {
	if p.Machine.FileAccess.Bandwidth == 0 {
		return nil
	}
	return p
}

// AccessFile implements device.Storage. Start-ups of accesses overlap; data passes the file system
// for one access at a time.
func (p *Port) AccessFile(n int) {
	p.ElapseCharges()
	moving := p.Machine.FileAccess.Bandwidth.Time(n)
	begin := p.fileSystem.Reserve(p.Kernel.Now(), moving)
	p.Sleep(begin + moving + p.Machine.FileAccess.Start - p.Kernel.Now())
	p.AdvanceToKernel()
}
