package mpi_test

import (
	"go/ast"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Each call that the package enters has the name that the page or its rule gives to its function.
func TestFunctionNames(t *testing.T) {
	functionOf := map[string]string{}
	addName := func(function, goName string) {
		owner, call, _ := strings.Cut(goName, ".")
		if owner == "Comm" || owner == "mpi" || owner == "Request" && call != "Free" {
			functionOf[call] = function
		}
	}
	for _, r := range row.FindAllStringSubmatch(read(t, page), -1) {
		for _, n := range name.FindAllStringSubmatch(r[2], -1) {
			addName(r[1], n[1])
		}
	}
	declared := declarations(t)
	for _, f := range standardFunctions(t) {
		if n := nameByRule(f); declared[n] {
			addName(f, n)
		}
	}
	seen := 0
	for _, f := range sources(t, ".") {
		ast.Inspect(f, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok || len(c.Args) == 0 {
				return true
			}
			s, isSelector := c.Fun.(*ast.SelectorExpr)
			literal, isLiteral := c.Args[0].(*ast.BasicLit)
			if !isSelector || !isLiteral || !strings.HasPrefix(strings.ToLower(s.Sel.Name), "enter") {
				return true
			}
			call, err := strconv.Unquote(literal.Value)
			if err != nil || call == "" {
				return true
			}
			got := mpi.FunctionName(call)
			if want, known := functionOf[call]; known {
				seen++
				if got != want {
					t.Errorf("%s is %s, want %s", call, got, want)
				}
			}
			if rest, ok := strings.CutPrefix(got, "MPI_"); !ok || rest == "" || strings.ToLower(rest[1:]) != rest[1:] && !strings.HasPrefix(got, "MPI_T_") {
				t.Errorf("%s is %s, which is no name of the standard", call, got)
			}
			return true
		})
	}
	if seen < 20 {
		t.Errorf("%d calls are on the page", seen)
	}
	for call, want := range map[string]string{"ReduceScatter": "MPI_Reduce_scatter", "SendInit": "MPI_Send_init", "Window.Put": "MPI_Put", "Window.FlushLocalAll": "MPI_Win_flush_local_all", "File.SeekShared": "MPI_File_seek_shared", "MPI_Iallreduce": "MPI_Iallreduce", "": ""} {
		if got := mpi.FunctionName(call); got != want {
			t.Errorf("%s is %s, want %s", call, got, want)
		}
	}
}
