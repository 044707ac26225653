package check

import (
	"reflect"
	"runtime"
	"strings"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model/collective"
)

// CallSite is the source line from which a program makes a call.
type CallSite = engine.CallSite

// Import paths of the library, package mpi, and of the packages that it calls and that call back
// into it.
var (
	packageOfCheck     = reflect.TypeFor[CallHistory]().PkgPath()
	packageOfLibrary   = strings.TrimSuffix(packageOfCheck, "/check")
	packageOfPrograms  = strings.TrimSuffix(packageOfLibrary, "/library/mpi") + "/program/cprog" // C programs, whose lines are not on Go's stack
	packageOfInternals = map[string]bool{packageOfLibrary: true, packageOfCheck: true, reflect.TypeFor[collective.Job]().PkgPath(): true}
)

// CurrentCallSite returns the program's line of the current call, or the zero value outside a call.
// It is called after an error, on top of the rank's stack, which is complete even while a panic or
// runtime.Goexit unwinds it. It skips a number of frames of package mpi above those of the call.
//
// Note: packages below the library are not recognized by name, because an engine may come from any
// package.
func CurrentCallSite(skip int) CallSite {
	pcs := make([]uintptr, 128)
	return SiteOf(pcs[:runtime.Callers(2+skip, pcs)])
}

// SiteOf returns the program's line on a stack.
func SiteOf(pcs []uintptr) CallSite {
	frames := runtime.CallersFrames(pcs)
	for inside, more := false, true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch in := packagePath(f.Function); {
		case in == packageOfLibrary && strings.HasSuffix(f.Function, ".(*job).runRank"):
			return CallSite{}
		case f.Function == "runtime.gopanic":
			inside = false // the frames above belong to deferred calls
		case in == packageOfLibrary:
			inside = true
		case inside && in == packageOfPrograms:
			return CallSite{}
		case inside && !packageOfInternals[in]:
			return CallSite{File: f.File, Line: f.Line}
		}
	}
	return CallSite{}
}

// CallOnStack returns the library call on a stack, and the program's line that made it.
func CallOnStack(stack []uintptr) (call string, at CallSite) {
	frames := runtime.CallersFrames(stack)
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch in := packagePath(f.Function); {
		case in == packageOfLibrary:
			name, _, _ := strings.Cut(f.Function, "[")
			call = name[strings.LastIndexByte(name, '.')+1:]
		case call != "" && !packageOfInternals[in]:
			return call, SiteOf(stack)
		}
	}
	return call, CallSite{}
}

// CallOnNilCommunicator returns the call that failed because its communicator is nil, and its line.
// It returns "" if a panic has another cause. Call it in a deferred function.
func CallOnNilCommunicator(e runtime.Error) (call string, at CallSite) {
	if !strings.Contains(e.Error(), "nil pointer") {
		return "", CallSite{}
	}
	pcs := make([]uintptr, 128)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for panicked, more := false, true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch in := packagePath(f.Function); {
		case in == "runtime":
			panicked = panicked || f.Function == "runtime.gopanic"
		case !panicked:
		case call == "" && !strings.HasPrefix(f.Function, packageOfLibrary+".(*Comm)."):
			return "", CallSite{}
		case in == packageOfLibrary:
			name, _, _ := strings.Cut(f.Function, "[")
			call = name[strings.LastIndexByte(name, '.')+1:]
		default:
			return call, CallSite{File: f.File, Line: f.Line}
		}
	}
	return "", CallSite{}
}

// packagePath returns the import path of a function's package.
func packagePath(function string) string {
	last := strings.LastIndexByte(function, '/') + 1
	name, _, _ := strings.Cut(function[last:], ".")
	return function[:last] + name
}
