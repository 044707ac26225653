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

// bindingLabel returns the name in C of a procedure with descriptors. It must not be its name in
// Fortran, which gfortran takes for the name of a profiling tool's procedure.
func bindingLabel(specific string) string { return "loggp_" + strings.ToLower(specific) }

// specificName08 returns the name of the procedure of module mpi_f08 (MPI 4.1, table 19.1).
func (f Function) specificName08(descriptors bool) string {
	if descriptors {
		return f.Name + "_f08ts"
	}
	return f.Name + "_f08"
}

// descriptorProcedure returns the C code of the procedure of module mpi_f08 of a function with
// choice buffers. call begins the call of the function that carries it out. Texts are descriptors,
// too. A profiling tool that defines the procedure in Fortran gets gfortran's own descriptors, as
// its procedure is not interoperable.
func (f Function) descriptorProcedure(call string) string {
	var parameters, names, before, arguments, lengths, toolBefore, toolArguments []string
	for i, p := range f.parsedParameters() {
		kind, argument, toolArgument := "struct descriptor *", p.name+"->base", p.name+"->base"
		switch {
		case isChoiceBuffer(p):
			if toolArgument = "&n_" + p.name; !f.takesAddressOnly() {
				argument = "b_" + p.name
				before = append(before, fmt.Sprintf("void *b_%s = choice(%[1]s, %d, &descriptors);", p.name, i))
			}
			toolBefore = append(toolBefore, fmt.Sprintf("struct own_descriptor n_%s; convert(%[1]s, &n_%[1]s);", p.name))
		case p.baseType == "char*":
			lengths = append(lengths, p.name+"->element_bytes")
		default:
			kind, argument, toolArgument = "void *", p.name, p.name
		}
		parameters, names = append(parameters, kind+p.name), append(names, p.name)
		arguments, toolArguments = append(arguments, argument), append(toolArguments, toolArgument)
	}
	list := func(lists ...[]string) string { return strings.Join(slices.Concat(lists...), ", ") }
	name, declared, end := strings.ToLower(f.specificName08(true)), list(parameters, []string{"int *ierror"}), []string{"ierror"}
	return fmt.Sprintf("void %s(%s) { int64_t descriptors = 0; %s %s%s); }\n", bindingLabel("P"+name), declared, strings.Join(before, " "), call, list(arguments, end, lengths)) +
		fmt.Sprintf("void %s_() TOOL;\nstatic void tool_%[1]s(%s) { %s %[1]s_(%[4]s); }\n", name, declared, strings.Join(toolBefore, " "), list(toolArguments, end, lengths)) +
		fmt.Sprintf("void %s(%s) { %s_ ? tool_%[3]s(%[4]s) : %[5]s(%[4]s); }\n", bindingLabel(name), declared, name, list(names, end), bindingLabel("P"+name))
}
