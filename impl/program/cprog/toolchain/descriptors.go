package toolchain

import (
	"fmt"
	"slices"
	"strings"
)

// Choice buffers of module mpi_f08 are array descriptors (type(*), dimension(..)), so that sections
// with gaps are not copied. Its procedures are interoperable (bind(C)): only there does gfortran
// describe sections of components and of pointers instead of copying them. gfortran before version
// 12 does not get all such descriptors right, and passes addresses as for module mpi.

// nonBuffers are parameters of type void * that are no choice buffers.
var nonBuffers = []string{"attribute_val", "baseptr", "buffer_addr", "extra_state"}

// isChoiceBuffer reports whether a parameter is a buffer of any type and rank.
func isChoiceBuffer(p parsedParameter) bool {
	return p.baseType == "void*" && !slices.Contains(nonBuffers, p.name)
}

// takesDescriptors reports whether a procedure of module mpi_f08 has a choice buffer.
func (f Function) takesDescriptors() bool {
	return slices.ContainsFunc(f.parsedParameters(), isChoiceBuffer) && !f.IsDeprecated()
}

// takesAddressOnly reports whether a function needs of its choice buffer only where it begins.
func (f Function) takesAddressOnly() bool {
	return slices.Contains([]string{"MPI_Get_address", "MPI_Free_mem", "MPI_Win_detach"}, f.Name) || strings.HasSuffix(f.Name, "_end")
}

// buffersAreAsynchronous reports whether a function's buffers may be accessed after it returns.
func (f Function) buffersAreAsynchronous() bool {
	return f.takesAddressOnly() || strings.HasSuffix(f.Name, "_begin") || strings.Contains(f.Name, "attach") || strings.Contains(f.prototype, "MPI_Request *") || strings.Contains(f.prototype, "MPI_Win ")
}

// specificName08 returns the name of the procedure of module mpi_f08 (MPI 4.1, table 19.1).
func (f Function) specificName08(descriptors bool) string {
	if descriptors {
		return f.Name + "_f08ts"
	}
	return f.Name + "_f08"
}

// descriptorProcedure returns the C code of the procedure of module mpi_f08 of a function with
// choice buffers. call begins the call of the function that carries it out. Texts are descriptors,
// too.
func (f Function) descriptorProcedure(call string) string {
	var parameters, arguments, lengths, before []string
	for i, p := range f.parsedParameters() {
		kind, argument := "void *", p.name
		switch {
		case isChoiceBuffer(p) && f.takesAddressOnly():
			kind, argument = "struct descriptor *", p.name+"->base"
		case isChoiceBuffer(p):
			kind, argument = "struct descriptor *", "b_"+p.name
			before = append(before, fmt.Sprintf("void *b_%s = choice(%[1]s, %d, &descriptors);", p.name, i))
		case p.baseType == "char*":
			kind, argument = "struct descriptor *", p.name+"->base"
			lengths = append(lengths, p.name+"->element_bytes")
		}
		parameters, arguments = append(parameters, kind+p.name), append(arguments, argument)
	}
	name := strings.ToLower(f.specificName08(true))
	return fmt.Sprintf("void p%s(%s, int *ierror) { int64_t descriptors = 0; %s %s%s); }\n", name, strings.Join(parameters, ", "), strings.Join(before, " "),
		call, strings.Join(slices.Concat(arguments, []string{"ierror"}, lengths), ", ")) +
		fmt.Sprintf("void %s() __attribute__((weak, alias(\"p%[1]s\")));\n", name)
}
