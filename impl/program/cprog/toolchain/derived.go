package toolchain

import (
	"slices"
	"strings"
)

// Functions of MPI-4 whose prototypes are derived from those of others.

// BlockingName returns the name of the blocking form of a nonblocking or persistent collective
// operation, or "" for other functions.
func (f Function) BlockingName() string {
	n, name := len(f.Parameters), f.Name
	if f.IntForm != "" {
		name = f.IntForm
	}
	if f.Comm < 0 || f.Types[n-1] != "MPI_Request *" || slices.ContainsFunc(f.Parameters, func(p string) bool { return strings.HasSuffix(p, "tag") }) {
		return ""
	}
	if of, ok := strings.CutPrefix(name, "MPI_I"); ok && f.Comm == n-2 {
		return "MPI_" + strings.ToUpper(of[:1]) + of[1:]
	}
	if of, ok := strings.CutSuffix(name, "_init"); ok && f.Comm == n-3 {
		return of
	}
	return ""
}

// persistentPrototypes returns the prototypes of persistent initializations: those of nonblocking
// forms plus an info.
func persistentPrototypes(all []Function) string {
	var b strings.Builder
	for _, f := range all {
		if of := f.BlockingName(); of != "" {
			before, request, _ := strings.Cut(f.prototype, "MPI_Request *")
			b.WriteString(f.Result + " " + of + "_init(" + before + "MPI_Info info, MPI_Request *" + request + ")\n")
		}
	}
	return b.String()
}

// largeParameters are the parameters that are MPI_Count in functions with large counts, and int
// otherwise.
var largeParameters = []string{"count", "sendcount", "recvcount", "sendcounts", "recvcounts", "incount", "outcount", "insize", "outsize", "position", "size",
	"origin_count", "result_count", "target_count", "blocklength", "stride", "lb", "extent", "true_lb", "true_extent",
	"array_of_blocklengths", "array_of_displacements", "array_of_gsizes", "array_of_sizes", "array_of_subsizes", "array_of_starts"}

// functionsWithoutLargeForm are functions with such parameters that have no large form in MPI-4, or
// whose large form is in functions.txt because its other parameters differ.
var functionsWithoutLargeForm = []string{"MPI_Type_hvector", "MPI_Type_hindexed", "MPI_Type_struct", "MPI_Type_extent", "MPI_Type_match_size", "MPI_Status_set_elements",
	"MPI_Status_set_elements_x", "MPI_Type_size_x", "MPI_Type_get_extent_x", "MPI_Type_get_true_extent_x", "MPI_Get_elements_x", "MPI_Fetch_and_op", "MPI_Type_get_envelope", "MPI_Type_get_contents",
	"MPI_T_event_get_info"}

// largeCountPrototypes returns the prototypes of functions with large counts. They have MPI_Count
// for numbers of elements, and MPI_Aint for displacements in collective operations and for
// displacement units.
func largeCountPrototypes(all []Function) string {
	var b strings.Builder
	for _, f := range all {
		if len(f.Parameters) == 0 || !strings.Contains(f.prototype, "MPI_Datatype") && !strings.HasPrefix(f.Name, "MPI_Buffer_") && !strings.HasSuffix(f.Name, "tach_buffer") && !slices.Contains(f.Parameters, "disp_unit") && f.Name != "MPI_Op_create" || slices.Contains(functionsWithoutLargeForm, f.Name) {
			continue
		}
		var parameters []string
		for i, t := range f.Types {
			name := f.Parameters[i]
			kind := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(t, "const "), "[]"), " *")
			switch {
			case kind == "MPI_User_function":
				t = "MPI_User_function_c *"
			case kind == "int" && slices.Contains([]string{"displs", "sdispls", "rdispls"}, name):
				t = "const MPI_Aint[]"
			case name == "disp_unit":
				t = strings.Replace(t, "int", "MPI_Aint", 1)
			case slices.Contains(f.Parameters, "disp_unit"):
			case (kind == "int" || kind == "MPI_Aint") && slices.Contains(largeParameters, name) && !(name == "size" && f.Name == "MPI_Type_create_darray"):
				t = strings.Replace(t, kind, "MPI_Count", 1)
			}
			t, brackets, array := strings.Cut(t, "[")
			if array {
				brackets = "[" + brackets
			}
			parameters = append(parameters, strings.ReplaceAll(t+" "+name+brackets, "* ", "*"))
		}
		if text := strings.Join(parameters, ", "); text != f.prototype {
			b.WriteString(f.Result + " " + f.Name + "_c(" + text + ")\n")
		}
	}
	return b.String()
}
