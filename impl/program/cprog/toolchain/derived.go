package toolchain

import (
	"slices"
	"strings"
)

// Functions of MPI 4 whose prototypes follow from those of others.

// Collective returns the name of the blocking form of a non-blocking or persistent collective
// operation; empty: the function is none.
func (f Function) Collective() string {
	n := len(f.Parameters)
	if f.Comm < 0 || f.Types[n-1] != "MPI_Request *" || slices.ContainsFunc(f.Parameters, func(p string) bool { return strings.HasSuffix(p, "tag") }) {
		return ""
	}
	if of, ok := strings.CutPrefix(f.Name, "MPI_I"); ok && f.Comm == n-2 {
		return "MPI_" + strings.ToUpper(of[:1]) + of[1:]
	}
	if of, ok := strings.CutSuffix(f.Name, "_init"); ok && f.Comm == n-3 {
		return of
	}
	return ""
}

// persistentForms returns the initializations of persistent collective operations: the non-blocking
// forms with an info.
func persistentForms(all []Function) string {
	var b strings.Builder
	for _, f := range all {
		if of := f.Collective(); of != "" {
			before, request, _ := strings.Cut(f.prototype, "MPI_Request *")
			b.WriteString(f.Result + " " + of + "_init(" + before + "MPI_Info info, MPI_Request *" + request + ")\n")
		}
	}
	return b.String()
}
