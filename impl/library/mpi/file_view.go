package mpi

import (
	"math"

	"github.com/loggp/loggp/impl/engine"
)

// fileView is the part of a file that a rank accesses: from a displacement on, the data of
// consecutive elements of a datatype. Offsets count elementary types of that data.
type fileView struct {
	displacement   int
	etype          *Datatype
	filetype       *Datatype
	representation string
}

// initialFileView is the view of a newly opened file: all its bytes.
var initialFileView = fileView{0, Byte, Byte, "native"}

// CurrentDisplacement stands for the position of the shared file pointer of a sequential file
// (MPI_DISPLACEMENT_CURRENT).
const CurrentDisplacement = -1

// External32 is the data representation in which numbers are big-endian and have the same sizes on
// all machines. A File does not convert data: a caller that sets it passes datatypes with the sizes
// in the file, and converts.
const External32 = "external32"

// SetView sets the view of this rank and moves both file pointers to its start (MPI_File_set_view).
// displacement is in bytes. All ranks call it, with elementary types of the same size.
func (f *File) SetView(displacement int, etype, filetype *Datatype, representation string) {
	f.enterCall("File.SetView")
	sequential := f.mode&FileSequential != 0
	f.comm.barrier()
	if sequential && displacement == CurrentDisplacement {
		displacement = f.view.byteOffset(int(f.sharedPointer.Load()))
	}
	v := fileView{displacement, etype, filetype, representation}
	err := v.check(f.mode&FileReadOnly == 0)
	all := f.comm.allgatherInts(etype.Size())
	for _, size := range all {
		if size != all[0] && err == nil {
			err = &fileError{ErrNotSame, "ranks have elementary types of different sizes"}
		}
	}
	if class := f.agreeOnError(err); class != "" {
		f.failCall(class, err)
	}
	f.view, f.position = v, 0
	f.setSharedPosition(0)
}

// check returns an error if the view is invalid, or invalid for a writable file.
func (v *fileView) check(writable bool) error {
	wrong := func(class Class, text string) error { return &fileError{class, text} }
	switch {
	case v.displacement < 0:
		return wrong(engine.ErrArg, "the displacement of a view is not negative")
	case v.etype.CheckUsable() != nil:
		return v.etype.CheckUsable()
	case v.filetype.CheckUsable() != nil:
		return v.filetype.CheckUsable()
	case v.etype.Size() == 0 || v.filetype.Size()%v.etype.Size() != 0:
		return wrong(engine.ErrArg, "the type of the file is not made of elementary types")
	case v.filetype.Size() > 0 && (v.filetype.TrueLowerBound() < 0 || v.filetype.Extent() <= 0):
		return wrong(ErrIO, "the type of the file has negative displacements")
	case v.representation != "native" && v.representation != "internal" && v.representation != External32:
		return wrong(ErrUnsupportedDatarep, "the data representation is "+v.representation+": it must be native, internal or external32")
	}
	descends, overlaps := v.order()
	switch {
	case descends:
		return wrong(ErrIO, "the type of the file has displacements that descend")
	case overlaps && writable:
		return wrong(ErrIO, "elements of the type of the file overlap, and the file can be written")
	}
	return nil
}

// order reports whether the data of the file type is out of order, and whether it overlaps itself.
func (v *fileView) order() (descends, overlaps bool) {
	begin, end := 0, 0
	v.filetype.RunsOfData(0, v.filetype.Size(), func(at, size int) bool {
		descends, overlaps = descends || at < begin, overlaps || at < end
		begin, end = at, at+size
		return !descends
	})
	return descends, overlaps
}

// View returns the view of this rank (MPI_File_get_view).
func (f *File) View() (displacement int, etype, filetype *Datatype, representation string) {
	f.enterCall("File.View")
	v := f.view
	return v.displacement, v.etype, v.filetype, v.representation
}

// runs yields the contiguous runs of the file that hold size bytes of the view's data, starting at
// byte first of that data.
func (v *fileView) runs(first, size int, yield func(at, size int) bool) {
	v.filetype.RunsOfData(first, size, func(at, size int) bool { return yield(v.displacement+at, size) })
}

// lastOffset returns the largest valid offset. Positions in the file up to it fit an int.
func (v *fileView) lastOffset() int {
	per := max(v.filetype.Size(), 1)
	tiles := (math.MaxInt/4 - v.displacement) / max(v.filetype.Extent(), per)
	return max(tiles-1, 0) * (per / v.etype.Size())
}

// byteOffset returns the position in the file, in bytes, of the data at an offset.
func (v *fileView) byteOffset(offset int) int {
	place := v.displacement
	v.runs(offset*v.etype.Size(), 1, func(at, _ int) bool { place = at; return false })
	return place
}

// ByteOffset returns the position in the file, in bytes, of the data at an offset
// (MPI_File_get_byte_offset).
func (f *File) ByteOffset(offset int) int {
	f.enterCall("File.ByteOffset")
	f.checkPointers()
	f.checkOffset(offset)
	return f.view.byteOffset(offset)
}

// TypeExtent returns the extent in bytes of a datatype in the file (MPI_File_get_type_extent).
func (f *File) TypeExtent(t *Datatype) int {
	f.enterCall("File.TypeExtent")
	return t.Extent()
}

// endPosition returns the offset after the last elementary type of the view that is, at least in
// part, in the file.
func (f *File) endPosition() int {
	t, rest := f.view.filetype, f.size()-f.view.displacement
	rest -= t.LowerBound()
	if rest <= 0 || t.Size() == 0 {
		return 0
	}
	tiles := rest / t.Extent()
	data := tiles*t.Size() + t.DataBefore(rest-tiles*t.Extent()+t.LowerBound())
	unit := f.view.etype.Size()
	return (data + unit - 1) / unit
}
