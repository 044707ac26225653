package mpi

import (
	"errors"
	"io"
	"syscall"

	"github.com/loggp/loggp/impl/engine"
)

// Bases for Seek: where its offset counts from.
const (
	SeekSet     = iota // the beginning of the view
	SeekCurrent        // the file pointer
	SeekEnd            // the end of the file
)

// Seek sets the individual file pointer (MPI_File_seek). offset is in elementary types.
func (f *File) Seek(offset, base int) {
	f.enterCall("File.Seek")
	f.checkPointers()
	f.position = f.seekTarget(offset, base, f.position)
}

// seekTarget returns the absolute offset for arguments of a seek.
func (f *File) seekTarget(offset, base, current int) int {
	switch base {
	case SeekSet:
		current = 0
	case SeekEnd:
		current = f.endPosition()
	case SeekCurrent:
	default:
		f.comm.engine.Fail(engine.ErrArg, "%s: %d is not what a seek can count from", f.path, base)
	}
	f.checkOffset(current + offset)
	return current + offset
}

// Position returns the individual file pointer in elementary types (MPI_File_get_position).
func (f *File) Position() int {
	f.enterCall("File.Position")
	f.checkPointers()
	return f.position
}

// SeekShared sets the shared file pointer (MPI_File_seek_shared). All ranks call it, with the same
// arguments.
func (f *File) SeekShared(offset, base int) {
	f.enterCall("File.SeekShared")
	all := f.comm.allgatherInts(offset, base)
	for i := range f.comm.size {
		if all[2*i] != all[0] || all[2*i+1] != all[1] {
			f.comm.engine.Fail(ErrNotSame, "%s: ranks give different arguments", f.path)
		}
	}
	f.setSharedPosition(f.seekTarget(offset, base, int(f.sharedPointer.Load())))
}

// setSharedPosition sets the shared file pointer after all ranks have called it.
func (f *File) setSharedPosition(offset int) {
	f.comm.barrier()
	if f.comm.rank == 0 {
		f.sharedPointer.Store(int64(offset))
	}
	f.comm.barrier()
}

// SharedPosition returns the shared file pointer in elementary types
// (MPI_File_get_position_shared).
func (f *File) SharedPosition() int {
	f.enterCall("File.SharedPosition")
	return int(f.sharedPointer.Load())
}

// ReadAt reads into b at an offset in elementary types (MPI_File_read_at and its collective and
// nonblocking forms).
func (f *File) ReadAt(offset int, b Buffer) Status {
	return f.accessAt("File.ReadAt", false, offset, b)
}

// WriteAt writes b at an offset in elementary types (MPI_File_write_at and its collective and
// nonblocking forms).
func (f *File) WriteAt(offset int, b Buffer) Status {
	return f.accessAt("File.WriteAt", true, offset, b)
}

func (f *File) accessAt(call string, write bool, offset int, b Buffer) Status {
	f.enterCall(call)
	f.checkPointers()
	f.checkAccess(write, b)
	return f.accessBuffer(write, offset, b)
}

// Read reads data at the individual file pointer (MPI_File_read).
func (f *File) Read(b Buffer) Status { return f.accessNext("File.Read", false, b) }

// Write writes data at the individual file pointer (MPI_File_write).
func (f *File) Write(b Buffer) Status { return f.accessNext("File.Write", true, b) }

func (f *File) accessNext(call string, write bool, b Buffer) Status {
	f.enterCall(call)
	f.checkPointers()
	f.checkAccess(write, b)
	s := f.accessBuffer(write, f.position, b)
	f.position += s.Bytes / f.view.etype.Size()
	return s
}

// ReadShared reads data at the shared file pointer (MPI_File_read_shared).
func (f *File) ReadShared(b Buffer) Status { return f.accessShared("File.ReadShared", false, b) }

// WriteShared writes data at the shared file pointer (MPI_File_write_shared).
func (f *File) WriteShared(b Buffer) Status { return f.accessShared("File.WriteShared", true, b) }

func (f *File) accessShared(call string, write bool, b Buffer) Status {
	f.enterCall(call)
	n := f.checkAccess(write, b)
	return f.accessBuffer(write, int(f.sharedPointer.Add(int64(n)))-n, b)
}

// ReadOrdered reads data at the shared file pointer in the order of ranks (MPI_File_read_ordered).
// All ranks call it.
func (f *File) ReadOrdered(b Buffer) Status { return f.accessOrdered("File.ReadOrdered", false, b) }

// WriteOrdered writes data at the shared file pointer in the order of ranks
// (MPI_File_write_ordered). All ranks call it.
func (f *File) WriteOrdered(b Buffer) Status { return f.accessOrdered("File.WriteOrdered", true, b) }

func (f *File) accessOrdered(call string, write bool, b Buffer) Status {
	f.enterCall(call)
	n := f.checkAccess(write, b)
	before, total := 0, 0
	for i, count := range f.comm.allgatherInts(n) {
		if i < f.comm.rank {
			before += count
		}
		total += count
	}
	begin := 0
	if f.comm.rank == 0 {
		begin = int(f.sharedPointer.Add(int64(total))) - total
	}
	return f.accessBuffer(write, f.comm.allgatherInts(begin)[0]+before, b)
}

// checkAccess fails if the mode of the file or the buffer does not allow the access. It returns the
// length of the access in elementary types.
func (f *File) checkAccess(write bool, b Buffer) int {
	switch {
	case write && f.mode&FileReadOnly != 0:
		f.comm.engine.Fail(ErrReadOnly, "%s was opened with MPI_MODE_RDONLY", f.path)
	case !write && f.mode&FileWriteOnly != 0:
		f.comm.engine.Fail(ErrAccess, "%s was opened with MPI_MODE_WRONLY", f.path)
	}
	f.CheckBuffer(b, !write)
	n, unit := b.Len(), f.view.etype.Size()
	if n%unit != 0 {
		f.comm.engine.Fail(ErrIO, "%s: %d bytes are no whole number of elementary types of %d bytes", f.path, n, unit)
	}
	return n / unit
}

// CheckBuffer fails if a buffer cannot be written to a file, or read from one.
func (f *File) CheckBuffer(b Buffer, reads bool) {
	f.comm.checkBuffer(b)
	if reads && b.Overlaps() {
		f.comm.engine.Fail(engine.ErrType, "elements of %v overlap in the buffer: what is read would be written over", b.Type)
	}
}

// maxCopyBytes is the size of the staging buffer.
const maxCopyBytes = 1 << 20

// accessBuffer reads or writes the data of b at an offset in elementary types.
func (f *File) accessBuffer(write bool, offset int, b Buffer) Status {
	f.checkOffset(offset)
	if f.isAtomic {
		f.failCallIf(syscall.Flock(int(f.osFile.Fd()), syscall.LOCK_EX))
		defer syscall.Flock(int(f.osFile.Fd()), syscall.LOCK_UN)
	}
	first, n, done := offset*f.view.etype.Size(), b.Len(), 0
	flat, inPlace := b.ContiguousBytes()
	if !inPlace && f.stagingBuffer == nil {
		f.stagingBuffer = make([]byte, maxCopyBytes)
	}
	for done < n {
		size := min(n-done, maxCopyBytes)
		data := f.stagingBuffer[:min(size, len(f.stagingBuffer))]
		switch {
		case inPlace:
			data = flat[done : done+size]
		case write:
			b.Pack(data, done)
		}
		moved, err := f.transferData(write, first+done, data)
		if !write && !inPlace {
			b.Unpack(data[:moved], done)
		}
		f.failCallIf(err)
		if done += moved; moved < size {
			break
		}
	}
	f.chargeAccess(done)
	return Status{Source: AnySource, Tag: AnyTag, Bytes: done}
}

// chargeAccess charges the time of an access if the platform states the cost of files.
func (f *File) chargeAccess(bytes int) {
	if s := f.comm.engine.Port().Storage(); s != nil {
		s.AccessFile(bytes)
	}
}

// transferData reads or writes data at byte first of the view. It returns the number of bytes
// moved. Reading stops at the end of the file.
func (f *File) transferData(write bool, first int, data []byte) (moved int, err error) {
	f.view.runs(first, len(data), func(at, size int) bool {
		n, part := 0, data[moved:moved+size]
		if write {
			n, err = f.osFile.WriteAt(part, int64(at))
		} else {
			n, err = f.osFile.ReadAt(part, int64(at))
		}
		moved += n
		return err == nil
	})
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return moved, err
}
