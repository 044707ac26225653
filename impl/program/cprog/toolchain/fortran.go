package toolchain

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The Fortran interface. mpif.h, module mpi and the procedures are generated from the table of
// functions and from mpi.h.

// constant is a constant of mpi.h that Fortran programs need.
type constant struct{ name, value, kind string } // kind is the type of handle

// integerType returns the Fortran type of a constant. File displacements have a longer type.
func (c constant) integerType() string {
	if c.name == "MPI_DISPLACEMENT_CURRENT" {
		return "INTEGER*8"
	}
	return "INTEGER"
}

var constantLinePattern = regexp.MustCompile(`(?m)^(?:#define (MPI_\w+) (?:\(\((MPI_\w+)\))?(0x[0-9a-f]+|-?\d+)\)?$|\t(MPI_\w+) = (-?\d+),?$)`)

// headerConstants returns the constants of mpi.h that are numbers or handles. String lengths are
// one less than in C.
func headerConstants() []constant {
	var all []constant
	for _, m := range constantLinePattern.FindAllStringSubmatch(sourceText("constants.h"), -1) {
		if strings.HasPrefix(m[1]+m[4], "MPI_T_") {
			continue
		}
		c := constant{m[1] + m[4], m[3] + m[5], m[2]}
		var n int
		if _, err := fmt.Sscan(c.value, &n); err != nil {
			panic("toolchain: constants.h: " + m[0])
		}
		if strings.HasPrefix(c.name, "MPI_MAX_") {
			n--
		}
		c.value = fmt.Sprint(n)
		all = append(all, c)
	}
	for _, m := range synonymPattern.FindAllStringSubmatch(sourceText("constants.h"), -1) {
		if i := slices.IndexFunc(all, func(c constant) bool { return c.name == m[2] }); i >= 0 {
			all = append(all, constant{m[1], all[i].value, all[i].kind})
		}
	}
	return all
}

var synonymPattern = regexp.MustCompile(`(?m)^#define (MPI_[A-Z_]+) (MPI_[A-Z_]+)$`)

// addressConstants are constants that are identified by their address. Each is in a common block of
// its own.
var addressConstants = []struct{ name, kind, block string }{
	{"MPI_BOTTOM", "INTEGER MPI_BOTTOM", "loggp_bottom"},
	{"MPI_IN_PLACE", "INTEGER MPI_IN_PLACE", "loggp_in_place"},
	{"MPI_BUFFER_AUTOMATIC", "INTEGER MPI_BUFFER_AUTOMATIC", "loggp_buffer_automatic"},
	{"MPI_UNWEIGHTED", "INTEGER MPI_UNWEIGHTED(1)", "loggp_unweighted"},
	{"MPI_WEIGHTS_EMPTY", "INTEGER MPI_WEIGHTS_EMPTY(1)", "loggp_weights_empty"},
	{"MPI_STATUS_IGNORE", "INTEGER MPI_STATUS_IGNORE(MPI_STATUS_SIZE)", "loggp_status_ignore"},
	{"MPI_STATUSES_IGNORE", "INTEGER MPI_STATUSES_IGNORE(MPI_STATUS_SIZE,1)", "loggp_statuses_ignore"},
	{"MPI_ERRCODES_IGNORE", "INTEGER MPI_ERRCODES_IGNORE(1)", "loggp_errcodes_ignore"},
	{"MPI_ARGV_NULL", "CHARACTER*1 MPI_ARGV_NULL(1)", "loggp_argv_null"},
	{"MPI_ARGVS_NULL", "CHARACTER*1 MPI_ARGVS_NULL(1,1)", "loggp_argvs_null"},
}

// attributeFunctions are the predefined copy and delete functions of attributes.
var attributeFunctions = []string{"MPI_NULL_COPY_FN", "MPI_DUP_FN", "MPI_NULL_DELETE_FN", "MPI_COMM_NULL_COPY_FN", "MPI_COMM_DUP_FN", "MPI_COMM_NULL_DELETE_FN",
	"MPI_TYPE_NULL_COPY_FN", "MPI_TYPE_DUP_FN", "MPI_TYPE_NULL_DELETE_FN", "MPI_WIN_NULL_COPY_FN", "MPI_WIN_DUP_FN", "MPI_WIN_NULL_DELETE_FN", "MPI_CONVERSION_FN_NULL"}

// removedConstants are constants of MPI-2 that only Fortran had, and that programs may name. No
// type has these combiners: types that procedures of MPI-1 create have the ones with addresses.
var removedConstants = []constant{{name: "MPI_COMBINER_HVECTOR_INTEGER", value: "-105"}, {name: "MPI_COMBINER_HINDEXED_INTEGER", value: "-107"},
	{name: "MPI_COMBINER_STRUCT_INTEGER", value: "-110"}}

// fortranConstants returns declarations that are valid in fixed and in free form.
func fortranConstants() string {
	var b strings.Builder
	b.WriteString("! The Fortran interface of loggp. Values are those of mpi.h.\n")
	line := func(f string, a ...any) { fmt.Fprintf(&b, "      "+f+"\n", a...) }
	fixed := []constant{{name: "MPI_STATUS_SIZE", value: "8"}, {name: "MPI_SOURCE", value: "1"}, {name: "MPI_TAG", value: "2"}, {name: "MPI_ERROR", value: "3"},
		{name: "MPI_ADDRESS_KIND", value: "8"}, {name: "MPI_OFFSET_KIND", value: "8"}, {name: "MPI_COUNT_KIND", value: "8"}, {name: "MPI_INTEGER_KIND", value: "4"}}
	for _, c := range slices.Concat(fixed, removedConstants, headerConstants()) {
		line("%s %s", c.integerType(), c.name)
		line("PARAMETER (%s=%s)", c.name, c.value)
	}
	line("LOGICAL MPI_SUBARRAYS_SUPPORTED")
	line("PARAMETER (MPI_SUBARRAYS_SUPPORTED=.FALSE.)")
	line("LOGICAL MPI_ASYNC_PROTECTS_NONBLOCKING")
	line("PARAMETER (MPI_ASYNC_PROTECTS_NONBLOCKING=.FALSE.)")
	for _, p := range addressConstants {
		line("%s", p.kind)
		line("COMMON /%s/ %s", p.block, p.name)
		line("SAVE /%s/", p.block)
	}
	for _, f := range attributeFunctions {
		line("EXTERNAL %s", f)
	}
	return b.String()
}

// FortranHeader returns the text of mpif.h.
func FortranHeader() string {
	var b strings.Builder
	b.WriteString(fortranConstants())
	for _, f := range Functions {
		switch {
		case !f.IsInFortran():
		case f.Result == "double":
			fmt.Fprintf(&b, "      DOUBLE PRECISION %s, P%s\n      EXTERNAL %[1]s, P%[1]s\n", f.Name, f.Name)
		case f.Result == "MPI_Aint":
			fmt.Fprintf(&b, "      INTEGER*8 %s, P%s\n      EXTERNAL %[1]s, P%[1]s\n", f.Name, f.Name)
		}
	}
	return b.String()
}

// logicalParameters are the parameters that are LOGICAL in Fortran.
var logicalParameters = []string{"flag", "commute", "reorder", "periods", "remain_dims", "high", "weighted"}

// integerAddressFunctions are the MPI-1 functions whose addresses are default INTEGERs in Fortran.
var integerAddressFunctions = []string{"MPI_Address", "MPI_Type_extent", "MPI_Type_lb", "MPI_Type_ub", "MPI_Type_hvector", "MPI_Type_hindexed", "MPI_Type_struct"}

// takesCallback reports whether a function takes a procedure or an attribute value of the program.
// Such functions have no interface in module mpi.
func (f Function) takesCallback() bool {
	return strings.Contains(f.prototype, "_function") || strings.Contains(f.Name, "keyval_create") || strings.Contains(f.Name, "Keyval_create")
}

// FortranModule returns the source of module mpi: the contents of mpif.h, and interfaces for
// argument checking. Buffers may have any type.
func FortranModule() string {
	var b strings.Builder
	b.WriteString("module mpi\n      implicit none\n      private :: none_of_mpi\n      integer, parameter :: none_of_mpi = 0\n" + fortranConstants())
	for _, f := range Functions {
		if !f.IsInFortran() || f.IntForm != "" { // only module mpi_f08 has large counts
			continue
		}
		if f.takesCallback() {
			fmt.Fprintf(&b, "      external %s, P%[1]s\n", f.Name)
			continue
		}
		for _, prefix := range []string{"", "P"} {
			b.WriteString("      interface\n" + f.fortranInterface(prefix) + "      end interface\n")
		}
	}
	b.WriteString("      interface\n" + syncRegisterProcedure + "      end interface\n" + sizeofInterface("") + "end module mpi\n")
	return b.String()
}

// sizeofTypes are the types of Fortran variables that MPI_SIZEOF takes, of any rank, and the bytes
// of an element.
var sizeofTypes = []struct {
	declaration string
	bytes       int
}{
	{"character(len=*)", 1}, {"logical(1)", 1}, {"logical(2)", 2}, {"logical(4)", 4}, {"logical(8)", 8},
	{"integer(1)", 1}, {"integer(2)", 2}, {"integer(4)", 4}, {"integer(8)", 8}, {"integer(16)", 16},
	{"real(4)", 4}, {"real(8)", 8}, {"real(10)", 16}, {"real(16)", 16},
	{"complex(4)", 8}, {"complex(8)", 16}, {"complex(10)", 32}, {"complex(16)", 32},
}

// sizeofProcedure returns the name of the procedure for a type of sizeofTypes.
func sizeofProcedure(i int) string { return fmt.Sprintf("loggp_sizeof_%d", i) }

// sizeofInterface returns the generic interface of MPI_SIZEOF (MPI 4.1, §19.1.9), which C does not
// have. errorAttribute is that of ierror.
func sizeofInterface(errorAttribute string) string {
	var b strings.Builder
	b.WriteString("      interface MPI_Sizeof\n")
	for i, t := range sizeofTypes {
		fmt.Fprintf(&b, "      subroutine %s(x, size, ierror)\n        %s, dimension(..) :: x\n        integer, intent(out) :: size\n        integer%s, intent(out) :: ierror\n      end subroutine\n",
			sizeofProcedure(i), t.declaration, errorAttribute)
	}
	b.WriteString("      end interface\n")
	return b.String()
}

// syncRegisterProcedure is MPI_F_SYNC_REG, which makes the compiler discard what it knows about a
// variable.
const syncRegisterProcedure = "      subroutine MPI_F_sync_reg(buf)\n        !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf\n        type(*), dimension(*) :: buf\n      end subroutine\n"

func (f Function) fortranInterface(prefix string) string {
	var b strings.Builder
	names := f.fortranParameters()
	kind, name := "subroutine", prefix+f.Name
	switch f.Result {
	case "double":
		kind = "double precision function"
	case "MPI_Aint":
		kind = "integer(8) function"
	default:
		names = append(names, "ierror")
	}
	fmt.Fprintf(&b, "      %s %s(%s)\n", kind, name, strings.Join(names, ", &\n        "))
	for _, p := range f.parsedParameters() {
		if slices.Contains(names, p.name) {
			if f.takesArraysWithBuffer() && (p.array || p.baseType == "MPI_Datatype") {
				b.WriteString("        !GCC$ ATTRIBUTES NO_ARG_CHECK :: " + p.name + "\n")
			}
			b.WriteString(f.fortranDeclaration(p))
		}
	}
	if f.Result == "int" {
		b.WriteString("        integer, intent(out) :: ierror\n")
	}
	fmt.Fprintf(&b, "      end %s\n", kind[strings.LastIndex(kind, " ")+1:])
	return b.String()
}

// fortranDeclaration returns the declaration of a parameter for module mpi.
func (f Function) fortranDeclaration(p parsedParameter) string {
	of := "integer"
	if slices.Contains(logicalParameters, p.name) {
		of = "logical"
	}
	address := "integer(8)"
	if slices.Contains(integerAddressFunctions, f.Name) {
		address = "integer"
	}
	switch {
	case p.baseType == "void*" && strings.Contains(f.Name, "_attr") || strings.HasPrefix(f.Name, "MPI_Attr_") && p.baseType == "void*":
		if strings.HasPrefix(f.Name, "MPI_Attr_") {
			return "        integer :: " + p.name + "\n"
		}
		return "        integer(8) :: " + p.name + "\n"
	case p.baseType == "void*":
		return fmt.Sprintf("        !GCC$ ATTRIBUTES NO_ARG_CHECK :: %s\n        type(*), dimension(*) :: %[1]s\n", p.name)
	case p.name == "array_of_argv":
		return "        character(len=*) :: array_of_argv(count,*)\n"
	case p.baseType == "char*" && p.array:
		return "        character(len=*) :: " + p.name + "(*)\n"
	case p.baseType == "char*":
		return "        character(len=*) :: " + p.name + "\n"
	case p.baseType == "MPI_Status*" && strings.HasPrefix(p.name, "array_of"):
		return "        integer :: " + p.name + "(8,*)\n"
	case p.baseType == "MPI_Status*":
		return "        integer :: " + p.name + "(8)\n"
	case p.name == "ranges":
		return "        integer :: ranges(3,*)\n"
	case strings.HasPrefix(p.baseType, "MPI_Aint"):
		of = address
	case strings.HasPrefix(p.baseType, "MPI_Count"), strings.HasPrefix(p.baseType, "MPI_Offset"):
		of = "integer(8)"
	}
	if p.array {
		return "        " + of + " :: " + p.name + "(*)\n"
	}
	return "        " + of + " :: " + p.name + "\n"
}

// takesArraysWithBuffer reports whether a function takes a buffer of any type and arrays, of which
// module mpi checks neither: with MPI_IN_PLACE programs give a number where an array is ignored, as
// modules of other MPIs have no interface for such functions.
func (f Function) takesArraysWithBuffer() bool {
	buffer, array := false, false
	for _, p := range f.parsedParameters() {
		buffer = buffer || p.baseType == "void*"
		array = array || p.array
	}
	return buffer && array
}

// parsedParameter is a parameter of a function: its type without const, with a star for an array or
// a pointer.
type parsedParameter struct {
	baseType, name string
	array          bool
}

var parameterPartsPattern = regexp.MustCompile(`^(?:const )?(\w+) (\**)(\w+)((?:\[\d*\])*)$`)

func (f Function) parsedParameters() []parsedParameter {
	var all []parsedParameter
	for p := range strings.SplitSeq(f.prototype, ",") {
		p = strings.TrimSpace(p)
		if p == "void" || p == "..." {
			continue
		}
		m := parameterPartsPattern.FindStringSubmatch(p)
		if m == nil {
			panic("toolchain: functions.txt: " + p)
		}
		x := parsedParameter{baseType: m[1] + m[2], name: m[3], array: m[4] != ""}
		if x.array {
			x.baseType = m[1] + "*"
		}
		all = append(all, x)
	}
	return all
}

// fortranParameters returns the names of a procedure's parameters without ierror.
func (f Function) fortranParameters() []string {
	var names []string
	for _, p := range f.parsedParameters() {
		if slices.Contains(f.Parameters, "argc") && (p.name == "argc" || p.name == "argv") {
			continue
		}
		names = append(names, p.name)
	}
	return names
}

var handleTypePattern = regexp.MustCompile(`^MPI_(Comm|Group|Datatype|Op|Errhandler|Info|Request|Message|Session|Win|File)$`)

// handleArrayLength returns an expression for the length of an array of handles.
func (f Function) handleArrayLength(p parsedParameter) string {
	if strings.Contains(f.Name, "neighbor") || strings.Contains(f.Name, "Neighbor") {
		return fmt.Sprintf("loggp_neighbours(*(int *)comm, %d)", strings.Count(p.name, "send"))
	}
	if strings.Contains(f.Name, "lltoallw") {
		return "loggp_members(*(int *)comm)"
	}
	if f.Name == "MPI_Type_get_contents" {
		return "*(int *)max_datatypes"
	}
	return "*(int *)" + f.parsedParameters()[0].name
}

// fortranProcedures returns the C code of all Fortran procedures, under the names that gfortran
// uses. It omits those that fortran.c defines.
func fortranProcedures() string {
	own := sourceText("fortran.c")
	var b strings.Builder
	for _, t := range handleTypes {
		t = strings.ToLower(t)
		fmt.Fprintf(&b, "int loggp_equal_%s_(int *a, int *b) { return *a == *b; }\nint loggp_unequal_%[1]s_(int *a, int *b) { return *a != *b; }\n", t)
	}
	for i, t := range sizeofTypes {
		fmt.Fprintf(&b, "void %s_(void *x, int *size, int *ierror) { *size = %d; if (ierror) *ierror = 0; }\n", sizeofProcedure(i), t.bytes)
	}
	for i, f := range Functions {
		if !f.IsInFortran() {
			continue
		}
		fmt.Fprintf(&b, "#define NUMBER_%s %d\n", f.Name, i)
		name := "p" + strings.ToLower(f.Name) + "_"
		switch {
		case !strings.Contains(own, " "+name+"("):
			b.WriteString(f.fortranProcedure(i))
		case f.takesDescriptors():
			fmt.Fprintf(&b, "void %s();\n%s", name, f.descriptorProcedure(name+"("))
		}
	}
	return b.String()
}

// fortranAliases returns the C code that defines each procedure's name without P as a weak alias,
// which a profiling tool may override, and its names in module mpi_f08.
func fortranAliases() string {
	own := sourceText("fortran.c")
	var b strings.Builder
	for _, f := range Functions {
		if !f.IsInFortran() {
			continue
		}
		name, later := strings.ToLower(f.Name), strings.ToLower(f.specificName08(false))
		fmt.Fprintf(&b, "void %[1]s_() __attribute__((weak, alias(\"p%[1]s_\")));\n", name)
		if !strings.Contains(own, " p"+later+"_(") {
			fmt.Fprintf(&b, "void p%s_() __attribute__((alias(\"p%s_\")));\n", later, name)
		}
		fmt.Fprintf(&b, "void %[1]s_() __attribute__((weak, alias(\"p%[1]s_\")));\n", later)
	}
	return b.String()
}

// fortranProcedure returns the C code of a procedure. One with choice buffers has two entry points:
// that of mpif.h and module mpi takes addresses, and that of mpi_f08 array descriptors. Both call a
// function that also gets the place of the call and the arguments that are descriptors, a bit each.
func (f Function) fortranProcedure(number int) string {
	var parameters, lengths, words, before, after []string
	for _, p := range f.parsedParameters() {
		parameters = append(parameters, "void *"+p.name)
		handle := handleTypePattern.MatchString(strings.TrimSuffix(p.baseType, "*"))
		word := "(intptr_t)" + p.name
		switch {
		case handle && p.array:
			before = append(before, fmt.Sprintf("HANDLES(h_%s, %[1]s, %s)", p.name, f.handleArrayLength(p)))
			if p.baseType == "MPI_Request*" || f.Name == "MPI_Type_get_contents" {
				after = append(after, fmt.Sprintf("BACK(h_%s, %[1]s, %s)", p.name, f.handleArrayLength(p)))
			}
			word = "(intptr_t)h_" + p.name
		case handle && strings.HasSuffix(p.baseType, "*"):
			before = append(before, fmt.Sprintf("intptr_t h_%s = *(int *)%[1]s;", p.name))
			after = append(after, fmt.Sprintf("*(int *)%s = h_%[1]s;", p.name))
			word = "(intptr_t)&h_" + p.name
		case handle, p.baseType == "int":
			word = "*(int *)" + p.name
		case p.baseType == "MPI_Aint", p.baseType == "MPI_Count", p.baseType == "MPI_Offset":
			word = "*(intptr_t *)" + p.name
		case p.baseType == "MPI_Status*":
			word = "status_or_null(" + p.name + ")"
		case strings.HasSuffix(p.name, "weights"):
			word = "weights_of(" + p.name + ")"
		case p.baseType == "void*":
			word = "buffer_of(" + p.name + ")"
		case p.baseType == "char*":
			lengths = append(lengths, "size_t l_"+p.name)
			if strings.Contains(f.prototype, "const char *"+p.name) {
				skip := 0
				if strings.HasPrefix(f.Name, "MPI_Info") { // remove blanks before keys and values
					skip = 1
				}
				before = append(before, fmt.Sprintf("TEXT_IN(s_%s, %[1]s, l_%[1]s, %d)", p.name, skip))
			} else {
				before = append(before, fmt.Sprintf("TEXT_OUT(s_%s)", p.name))
				after = append(after, fmt.Sprintf("text_back(s_%s, %[1]s, l_%[1]s);", p.name))
			}
			word = "(intptr_t)s_" + p.name
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		words = []string{"0"}
	}
	result, ret := "void", "if (ierror) *ierror = e;"
	if f.Result == "int" {
		parameters = append(parameters, "int *ierror")
	} else {
		result, ret = f.Result, "return e;"
	}
	enter := "int64_t e = loggp_enter"
	if f.Result == "double" {
		enter = "double e = loggp_enter_real"
	}
	declared := strings.Join(slices.Concat(parameters, lengths), ", ")
	body := func(number, caller string) string {
		return fmt.Sprintf("{ %s intptr_t a[] = {%s}; %s(%s, a, %s); %s %s }\n", strings.Join(before, " "), strings.Join(words, ", "), enter, number, caller, strings.Join(after, " "), ret)
	}
	name := "p" + strings.ToLower(f.Name)
	if !f.takesDescriptors() {
		return fmt.Sprintf("%s %s_(%s) %s", result, name, declared, body(fmt.Sprint(number), "__builtin_return_address(0)"))
	}
	var arguments []string
	for _, p := range slices.Concat(parameters, lengths) {
		arguments = append(arguments, p[strings.LastIndexAny(p, " *")+1:])
	}
	return fmt.Sprintf("__attribute__((noinline)) static void %s_from(void *caller, int64_t descriptors, %s) %s", name, declared, body(fmt.Sprintf("%d | descriptors << 32", number), "caller")) +
		fmt.Sprintf("void %s_(%s) { %[1]s_from(__builtin_return_address(0), 0, %[3]s); }\n", name, declared, strings.Join(arguments, ", ")) +
		f.descriptorProcedure(name+"_from(__builtin_return_address(0), descriptors, ")
}
