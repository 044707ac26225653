package toolchain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Module mpi_f08. Handles are types with one integer and statuses types with eight, so they are
// passed to the same procedures as in module mpi, but for functions with choice buffers
// (descriptors.go). An omitted ierror is a null pointer. Functions with large counts are additional
// specific procedures of the same generic names.

var handleTypes = []string{"Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Win"}

// callbackInterfaces has the Fortran interfaces of callbacks by their C types.
var callbackInterfaces = map[string]string{
	"MPI_User_function":               "(invec, inoutvec, len, datatype)\n type(c_ptr), value :: invec, inoutvec\n integer :: len\n type(MPI_Datatype) :: datatype",
	"MPI_User_function_c":             "(invec, inoutvec, len, datatype)\n type(c_ptr), value :: invec, inoutvec\n integer(8) :: len\n type(MPI_Datatype) :: datatype",
	"MPI_Comm_copy_attr_function":     "(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)\n type(MPI_Comm) :: oldcomm\n integer :: comm_keyval, ierror\n integer(8) :: extra_state, attribute_val_in, attribute_val_out\n logical :: flag",
	"MPI_Comm_delete_attr_function":   "(comm, comm_keyval, attribute_val, extra_state, ierror)\n type(MPI_Comm) :: comm\n integer :: comm_keyval, ierror\n integer(8) :: attribute_val, extra_state",
	"MPI_Type_copy_attr_function":     "(oldtype, type_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)\n type(MPI_Datatype) :: oldtype\n integer :: type_keyval, ierror\n integer(8) :: extra_state, attribute_val_in, attribute_val_out\n logical :: flag",
	"MPI_Type_delete_attr_function":   "(datatype, type_keyval, attribute_val, extra_state, ierror)\n type(MPI_Datatype) :: datatype\n integer :: type_keyval, ierror\n integer(8) :: attribute_val, extra_state",
	"MPI_Comm_errhandler_function":    "(comm, error_code)\n type(MPI_Comm) :: comm\n integer :: error_code",
	"MPI_Session_errhandler_function": "(session, error_code)\n type(MPI_Session) :: session\n integer :: error_code",
	"MPI_Win_copy_attr_function":      "(oldwin, win_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)\n type(MPI_Win) :: oldwin\n integer :: win_keyval, ierror\n integer(8) :: extra_state, attribute_val_in, attribute_val_out\n logical :: flag",
	"MPI_Win_delete_attr_function":    "(win, win_keyval, attribute_val, extra_state, ierror)\n type(MPI_Win) :: win\n integer :: win_keyval, ierror\n integer(8) :: attribute_val, extra_state",
	"MPI_Win_errhandler_function":     "(win, error_code)\n type(MPI_Win) :: win\n integer :: error_code",
	"MPI_Grequest_query_function":     "(extra_state, status, ierror)\n integer(8) :: extra_state\n type(MPI_Status) :: status\n integer :: ierror",
	"MPI_File_errhandler_function":    "(file, error_code)\n type(MPI_File) :: file\n integer :: error_code",
	"MPI_Datarep_conversion_function": "(userbuf, datatype, count, filebuf, position, extra_state, ierror)\n type(c_ptr), value :: userbuf, filebuf\n type(MPI_Datatype) :: datatype\n integer :: count, ierror\n integer(8) :: position, extra_state",
	"MPI_Datarep_extent_function":     "(datatype, extent, extra_state, ierror)\n type(MPI_Datatype) :: datatype\n integer(8) :: extent, extra_state\n integer :: ierror",
	"MPI_Grequest_free_function":      "(extra_state, ierror)\n integer(8) :: extra_state\n integer :: ierror",
	"MPI_Grequest_cancel_function":    "(extra_state, complete, ierror)\n integer(8) :: extra_state\n logical :: complete\n integer :: ierror",
}

// predefinedCallbacks has the types of predefined attribute functions.
var predefinedCallbacks = map[string]string{
	"MPI_COMM_NULL_COPY_FN": "MPI_Comm_copy_attr_function", "MPI_COMM_DUP_FN": "MPI_Comm_copy_attr_function", "MPI_COMM_NULL_DELETE_FN": "MPI_Comm_delete_attr_function",
	"MPI_TYPE_NULL_COPY_FN": "MPI_Type_copy_attr_function", "MPI_TYPE_DUP_FN": "MPI_Type_copy_attr_function", "MPI_TYPE_NULL_DELETE_FN": "MPI_Type_delete_attr_function",
	"MPI_WIN_NULL_COPY_FN": "MPI_Win_copy_attr_function", "MPI_WIN_DUP_FN": "MPI_Win_copy_attr_function", "MPI_WIN_NULL_DELETE_FN": "MPI_Win_delete_attr_function",
	"MPI_CONVERSION_FN_NULL": "MPI_Datarep_conversion_function",
}

// Fortran08Module returns the source of module mpi_f08.
func Fortran08Module() string {
	var b strings.Builder
	b.WriteString("module mpi_f08\nuse, intrinsic :: iso_c_binding, only: c_ptr\nimplicit none\nprivate :: c_ptr\n")
	for _, t := range handleTypes {
		fmt.Fprintf(&b, "type, bind(C) :: MPI_%s\n integer :: MPI_VAL\nend type\n", t)
	}
	b.WriteString("type, bind(C) :: MPI_Status\n integer :: MPI_SOURCE\n integer :: MPI_TAG\n integer :: MPI_ERROR\n integer :: MPI_internal(5)\nend type\n")
	b.WriteString("integer, parameter :: MPI_STATUS_SIZE = 8, MPI_ADDRESS_KIND = 8, MPI_OFFSET_KIND = 8, MPI_COUNT_KIND = 8, MPI_INTEGER_KIND = 4\n")
	for _, c := range headerConstants() {
		if kind := strings.TrimPrefix(c.kind, "MPI_"); slices.Contains(handleTypes, kind) {
			fmt.Fprintf(&b, "type(MPI_%s), parameter :: %s = MPI_%[1]s(%[3]s)\n", kind, c.name, c.value)
		} else {
			fmt.Fprintf(&b, "%s, parameter :: %s = %s\n", c.integerType(), c.name, c.value)
		}
	}
	b.WriteString(withDescriptors("logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .true., MPI_ASYNC_PROTECTS_NONBLOCKING = .true.\n",
		"logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .false., MPI_ASYNC_PROTECTS_NONBLOCKING = .false.\n"))
	for _, p := range addressConstants {
		kind := "integer :: " + p.name
		switch {
		case strings.HasPrefix(p.name, "MPI_ARG"):
			_, shape, _ := strings.Cut(p.kind, p.name)
			kind = "character(1) :: " + p.name + shape
		case strings.HasPrefix(p.name, "MPI_ERRCODES_"):
			kind += "(1)"
		case strings.HasPrefix(p.name, "MPI_STATUS_"):
			kind = "type(MPI_Status) :: " + p.name
		case strings.HasPrefix(p.name, "MPI_STATUSES_"):
			kind = "type(MPI_Status) :: " + p.name + "(1)"
		case strings.Contains(p.name, "WEIGHT"):
			kind += "(1)"
		}
		fmt.Fprintf(&b, "%s\ncommon /%s/ %s\nsave /%[2]s/\n", kind, p.block, p.name)
	}
	b.WriteString("abstract interface\n")
	for _, name := range slices.Sorted(maps.Keys(callbackInterfaces)) {
		fmt.Fprintf(&b, "subroutine %s%s\nend subroutine\n", name, strings.Replace(callbackInterfaces[name], "\n", "\n import\n", 1))
	}
	b.WriteString("end interface\n")
	for _, name := range slices.Sorted(maps.Keys(predefinedCallbacks)) {
		fmt.Fprintf(&b, "procedure(%s) :: %s\n", predefinedCallbacks[name], name)
	}
	for _, op := range []struct{ sign, name string }{{"==", "equal"}, {"/=", "unequal"}} {
		fmt.Fprintf(&b, "interface operator(%s)\n", op.sign)
		for _, t := range handleTypes {
			fmt.Fprintf(&b, "elemental logical function loggp_%s_%s(a, b)\n import\n type(MPI_%[2]s), intent(in) :: a, b\nend function\n", op.name, t)
		}
		b.WriteString("end interface\n")
	}
	b.WriteString("interface MPI_F_sync_reg\n" + withDescriptors("subroutine MPI_F_sync_reg_f08ts(buf) bind(C, name=\"loggp_mpi_f_sync_reg_f08ts\")\n type(*), dimension(..), asynchronous :: buf\nend subroutine\n",
		strings.ReplaceAll(syncRegisterProcedure, "sync_reg(", "sync_reg_f08(")) + "end interface\n" + sizeofInterface(", optional"))
	b.WriteString("interface\nsubroutine MPI_Status_f2f08(f_status, f08_status, ierror)\n import\n integer :: f_status(8)\n type(MPI_Status) :: f08_status\n integer, optional :: ierror\nend subroutine\n" +
		"subroutine MPI_Status_f082f(f08_status, f_status, ierror)\n import\n type(MPI_Status) :: f08_status\n integer :: f_status(8)\n integer, optional :: ierror\nend subroutine\nend interface\n")
	for _, f := range Functions {
		if f.IsInFortran() && !f.IsDeprecated() && f.IntForm == "" {
			for _, prefix := range []string{"", "P"} {
				f.writeGeneric(&b, prefix)
			}
		}
	}
	b.WriteString("end module mpi_f08\n")
	return b.String()
}

// IsDeprecated reports whether a function of MPI-1 is absent from module mpi_f08.
func (f Function) IsDeprecated() bool {
	return slices.Contains(integerAddressFunctions, f.Name) || strings.HasPrefix(f.Name, "MPI_Attr_") || strings.HasPrefix(f.Name, "MPI_Keyval_") ||
		slices.Contains([]string{"MPI_Errhandler_create", "MPI_Errhandler_set", "MPI_Errhandler_get", "MPI_Type_get_extent_x", "MPI_Type_get_true_extent_x"}, f.Name)
}

// writeGeneric writes the interfaces of a function and of its form with large counts, if their
// arguments differ in type.
func (f Function) writeGeneric(b *strings.Builder, prefix string) {
	fmt.Fprintf(b, "interface %s%s\n", prefix, f.Name)
	f.writeSpecific(b, prefix)
	for _, large := range Functions {
		if large.IntForm == f.Name && large.differsInKind(f) && !f.detachesBuffer() {
			large.writeSpecific(b, prefix)
		}
	}
	b.WriteString("end interface\n")
}

// writeSpecific writes the interface of a specific procedure.
func (f Function) writeSpecific(b *strings.Builder, prefix string) {
	if !f.takesDescriptors() {
		b.WriteString(f.interface08(prefix, false))
		return
	}
	b.WriteString(withDescriptors(f.interface08(prefix, true), f.interface08(prefix, false)))
}

// withDescriptors returns the text of the module that is compiled if gfortran passes descriptors as
// the standard says, or else another one.
func withDescriptors(text, otherwise string) string {
	return "#if __GNUC__ >= 12\n" + text + "#else\n" + otherwise + "#endif\n"
}

// detachesBuffer reports whether a function returns the address of a buffer. In Fortran only
// mpi_f08 does so, as a C pointer.
func (f Function) detachesBuffer() bool {
	return f.Name == "MPI_Buffer_detach" || f.Name == "MPI_Comm_detach_buffer" || f.Name == "MPI_Session_detach_buffer"
}

// differsInKind reports whether a function has an integer argument of another kind than its form
// with int arguments.
func (f Function) differsInKind(small Function) bool {
	for i, t := range small.Types {
		if strings.Contains(" "+strings.TrimPrefix(t, "const ")+" ", " int") && t != f.Types[i] {
			return true
		}
	}
	return false
}

// interface08 returns the interface of a specific procedure. Its choice buffers are descriptors or
// addresses.
func (f Function) interface08(prefix string, descriptors bool) string {
	var b strings.Builder
	name, names := prefix+f.specificName08(descriptors), f.fortranParameters()
	kind, binding := "subroutine", ""
	if descriptors {
		binding = fmt.Sprintf(" bind(C, name=\"%s\")", bindingLabel(name))
	}
	switch f.Result {
	case "double":
		kind = "double precision function"
	case "MPI_Aint":
		kind = "integer(8) function"
	default:
		names = append(names, "ierror")
	}
	fmt.Fprintf(&b, "%s %s(%s)%s\n import\n", kind, name, strings.Join(names, ", &\n  "), binding)
	for _, p := range f.parsedParameters() {
		switch {
		case !slices.Contains(names, p.name):
		case !descriptors || !isChoiceBuffer(p):
			b.WriteString(f.fortran08Declaration(p))
		case f.buffersAreAsynchronous():
			b.WriteString(" type(*), dimension(..), asynchronous :: " + p.name + "\n")
		default:
			b.WriteString(" type(*), dimension(..) :: " + p.name + "\n")
		}
	}
	if f.Result == "int" {
		b.WriteString(" integer, optional, intent(out) :: ierror\n")
	}
	fmt.Fprintf(&b, "end %s\n", kind[strings.LastIndex(kind, " ")+1:])
	return b.String()
}

// fortran08Declaration returns the declaration of a parameter for module mpi_f08. Parameters
// without a type of mpi_f08 are declared as in module mpi.
func (f Function) fortran08Declaration(p parsedParameter) string {
	kind, brackets := strings.TrimSuffix(p.baseType, "*"), ""
	if p.array || strings.HasPrefix(p.name, "array_of_statuses") {
		brackets = "(*)"
	}
	switch {
	case callbackInterfaces[kind] != "":
		return " procedure(" + kind + ") :: " + p.name + "\n"
	case strings.HasSuffix(kind, "_function"):
		return " external :: " + p.name + "\n"
	case kind == "MPI_Status" || slices.Contains(handleTypes, strings.TrimPrefix(kind, "MPI_")):
		return " type(" + kind + ") :: " + p.name + brackets + "\n"
	case p.baseType == "void*" && p.name == "extra_state":
		return " integer(8) :: " + p.name + "\n"
	}
	return f.fortranDeclaration(p)
}
