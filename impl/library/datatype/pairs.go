package datatype

// Pairs of a value and an index, as a Go struct of the two lies in memory (MPI_DOUBLE_INT and its
// like, MPI-1.2, §4.9.3).
var (
	Float32Int32 = newPair("Float32Int32", Float32, Int32)
	Float64Int32 = newPair("Float64Int32", Float64, Int32)
	Int16Int32   = newPair("Int16Int32", Int16, Int32)
	Int32Int32   = newPair("Int32Int32", Int32, Int32)
	Int64Int32   = newPair("Int64Int32", Int64, Int32)
	Int64Int64   = newPair("Int64Int64", Int64, Int64)
	Float64Int64 = newPair("Float64Int64", Float64, Int64)

	Float32Float32 = newPair("Float32Float32", Float32, Float32) // MPI_2REAL of Fortran, whose indices are real
	Float64Float64 = newPair("Float64Float64", Float64, Float64)

	LongDoubleInt32 = newPair("LongDoubleInt32", LongDouble, Int32)
)

// newPair makes a type of two. The second begins where its alignment lets it.
func newPair(name string, value, index *Type) *Type {
	at := (value.Size() + index.align - 1) / index.align * index.align
	t, err := Struct([]int{1, 1}, []int{0, at}, []*Type{value, index})
	if err != nil {
		panic("datatype: " + err.Error())
	}
	return newType(name, t.layout)
}
