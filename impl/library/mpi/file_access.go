package mpi

import (
	"errors"
	"io"
	"syscall"

	"github.com/loggp/loggp/impl/engine"
)

// Seek bases: what an offset of Seek counts from.
const (
	SeekSet     = iota // the beginning of the view
	SeekCurrent        // the file pointer
	SeekEnd            // the end of the file
)

// Seek sets the individual file pointer (MPI_File_seek).
func (f *File) Seek(offset, base int) {
	f.enter("File.Seek")
	f.checkPointers()
	f.position = f.seekTarget(offset, base, f.position)
}

// seekTarget returns the offset that a seek means.
func (f *File) seekTarget(offset, base, current int) int {
	switch base {
	case SeekSet:
		current = 0
	case SeekEnd:
		current = f.endPosition()
	case SeekCurrent:
	default:
		f.c.e.Fail(engine.ErrArg, "%s: %d is not what a seek can count from", f.path, base)
	}
	f.checkOffset(current + offset)
	return current + offset
}

// Position returns the individual file pointer (MPI_File_get_position).
func (f *File) Position() int {
	f.enter("File.Position")
	f.checkPointers()
	return f.position
}

// SeekShared sets the shared file pointer (MPI_File_seek_shared). All ranks call it, with the same
// arguments.
func (f *File) SeekShared(offset, base int) {
	f.enter("File.SeekShared")
	all := f.c.allgatherInts(offset, base)
	for i := range f.c.size {
		if all[2*i] != all[0] || all[2*i+1] != all[1] {
			f.c.e.Fail(ErrNotSame, "%s: ranks give different arguments", f.path)
		}
	}
	f.setSharedPosition(f.seekTarget(offset, base, int(f.shared.Load())))
}

// setSharedPosition sets the shared file pointer, when all ranks have called it.
func (f *File) setSharedPosition(offset int) {
	f.c.barrier()
	if f.c.rank == 0 {
		f.shared.Store(int64(offset))
	}
	f.c.barrier()
}

// SharedPosition returns the shared file pointer (MPI_File_get_position_shared).
func (f *File) SharedPosition() int {
	f.enter("File.SharedPosition")
	return int(f.shared.Load())
}

// ReadAt reads data at an offset (MPI_File_read_at and its other forms).
func (f *File) ReadAt(offset int, b Buffer) Status {
	return f.accessAt("File.ReadAt", false, offset, b)
}

// WriteAt writes data at an offset (MPI_File_write_at and its other forms).
func (f *File) WriteAt(offset int, b Buffer) Status {
	return f.accessAt("File.WriteAt", true, offset, b)
}

func (f *File) accessAt(call string, write bool, offset int, b Buffer) Status {
	f.enter(call)
	f.checkPointers()
	f.checkAccess(write, b)
	return f.access(write, offset, b)
}

// Read reads data at the individual file pointer (MPI_File_read).
func (f *File) Read(b Buffer) Status { return f.accessNext("File.Read", false, b) }

// Write writes data at the individual file pointer (MPI_File_write).
func (f *File) Write(b Buffer) Status { return f.accessNext("File.Write", true, b) }

func (f *File) accessNext(call string, write bool, b Buffer) Status {
	f.enter(call)
	f.checkPointers()
	f.checkAccess(write, b)
	s := f.access(write, f.position, b)
	f.position += s.Bytes / f.view.etype.Size()
	return s
}

// ReadShared reads data at the shared file pointer (MPI_File_read_shared).
func (f *File) ReadShared(b Buffer) Status { return f.accessShared("File.ReadShared", false, b) }

// WriteShared writes data at the shared file pointer (MPI_File_write_shared).
func (f *File) WriteShared(b Buffer) Status { return f.accessShared("File.WriteShared", true, b) }

func (f *File) accessShared(call string, write bool, b Buffer) Status {
	f.enter(call)
	n := f.checkAccess(write, b)
	return f.access(write, int(f.shared.Add(int64(n)))-n, b)
}

// ReadOrdered reads data at the shared file pointer, as if ranks took turns in their order
// (MPI_File_read_ordered). All ranks call it.
func (f *File) ReadOrdered(b Buffer) Status { return f.accessOrdered("File.ReadOrdered", false, b) }

// WriteOrdered writes data in the same way (MPI_File_write_ordered).
func (f *File) WriteOrdered(b Buffer) Status { return f.accessOrdered("File.WriteOrdered", true, b) }

func (f *File) accessOrdered(call string, write bool, b Buffer) Status {
	f.enter(call)
	n := f.checkAccess(write, b)
	before, total := 0, 0
	for i, count := range f.c.allgatherInts(n) {
		if i < f.c.rank {
			before += count
		}
		total += count
	}
	begin := 0
	if f.c.rank == 0 {
		begin = int(f.shared.Add(int64(total))) - total
	}
	return f.access(write, f.c.allgatherInts(begin)[0]+before, b)
}

// checkAccess fails if the file or the buffer is not for an access. It returns how many elementary
// types the access has.
func (f *File) checkAccess(write bool, b Buffer) int {
	switch {
	case write && f.mode&FileReadOnly != 0:
		f.c.e.Fail(ErrReadOnly, "%s was opened with MPI_MODE_RDONLY", f.path)
	case !write && f.mode&FileWriteOnly != 0:
		f.c.e.Fail(ErrAccess, "%s was opened with MPI_MODE_WRONLY", f.path)
	}
	f.c.checkBuffer(b)
	n, unit := b.Len(), f.view.etype.Size()
	if n%unit != 0 {
		f.c.e.Fail(ErrIO, "%s: %d bytes are no whole number of elementary types of %d bytes", f.path, n, unit)
	}
	if !write && b.Overlaps() {
		f.c.e.Fail(engine.ErrType, "elements of %v overlap in the buffer: what is read would be written over", b.Type)
	}
	return n / unit
}

// filePiece bounds the data that is copied at once.
const filePiece = 1 << 20

// access reads or writes the data of a buffer at an offset.
func (f *File) access(write bool, offset int, b Buffer) Status {
	f.checkOffset(offset)
	if f.locking {
		f.failIf(syscall.Flock(int(f.system.Fd()), syscall.LOCK_EX))
		defer syscall.Flock(int(f.system.Fd()), syscall.LOCK_UN)
	}
	first, n, done := offset*f.view.etype.Size(), b.Len(), 0
	flat, inPlace := b.ContiguousBytes()
	if !inPlace && f.piece == nil {
		f.piece = make([]byte, filePiece)
	}
	for done < n {
		size := min(n-done, filePiece)
		data := f.piece[:min(size, len(f.piece))]
		switch {
		case inPlace:
			data = flat[done : done+size]
		case write:
			b.Pack(data, done)
		}
		moved, err := f.move(write, first+done, data)
		if !write && !inPlace {
			b.Unpack(data[:moved], done)
		}
		f.failIf(err)
		if done += moved; moved < size {
			break
		}
	}
	f.chargeAccess(done)
	return Status{Source: AnySource, Tag: AnyTag, Bytes: done}
}

// chargeAccess takes the time of an access, where the machine says how long files take.
func (f *File) chargeAccess(bytes int) {
	if s := f.c.e.Port().Storage(); s != nil {
		s.AccessFile(bytes)
	}
}

// move reads or writes data of the view from byte first on. It returns how much there is; reading
// stops at the end of the file.
func (f *File) move(write bool, first int, data []byte) (moved int, err error) {
	f.view.runs(first, len(data), func(at, size int) bool {
		n, part := 0, data[moved:moved+size]
		if write {
			n, err = f.system.WriteAt(part, int64(at))
		} else {
			n, err = f.system.ReadAt(part, int64(at))
		}
		moved += n
		return err == nil
	})
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return moved, err
}
