package mpi

import (
	"reflect"
	"runtime"
	"strings"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model/collective"
)

// Site is a line of a program.
type Site = engine.Site

// Packages by their paths: this one, and those that call back into it.
var (
	here    = reflect.TypeFor[Comm]().PkgPath()
	between = map[string]bool{here: true, reflect.TypeFor[collective.Job]().PkgPath(): true}
)

// where returns the line of the program whose call is under way, or none if none is. It is called when something has gone wrong, on top of the rank's
// stack, which is there also while the rank is being left by a panic or by runtime.Goexit. So many frames are above those of the library.
//
// Note: what is below this package is not told by its name, as there may be anything.
func where(above int) Site {
	pcs := make([]uintptr, 128)
	return siteOf(pcs[:runtime.Callers(2+above, pcs)])
}

// siteOf returns the line of the program on a stack.
func siteOf(pcs []uintptr) Site {
	frames := runtime.CallersFrames(pcs)
	for inside, more := false, true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch in := packageOf(f.Function); {
		case in == here && strings.HasSuffix(f.Function, ".(*job).rank"):
			return Site{}
		case f.Function == "runtime.gopanic":
			inside = false // what is above is deferred
		case in == here:
			inside = true
		case inside && !between[in]:
			return Site{File: f.File, Line: f.Line}
		}
	}
	return Site{}
}

// onNil returns the call that has failed for a nil communicator, and where, or "" if a panic was for something else. It is called in a deferred function.
func onNil(e runtime.Error) (call string, at Site) {
	if !strings.Contains(e.Error(), "nil pointer") {
		return "", Site{}
	}
	pcs := make([]uintptr, 128)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for panicked, more := false, true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch in := packageOf(f.Function); {
		case in == "runtime":
			panicked = panicked || f.Function == "runtime.gopanic"
		case !panicked:
		case call == "" && !strings.HasPrefix(f.Function, here+".(*Comm)."):
			return "", Site{}
		case in == here:
			name, _, _ := strings.Cut(f.Function, "[")
			call = name[strings.LastIndexByte(name, '.')+1:]
		default:
			return call, Site{File: f.File, Line: f.Line}
		}
	}
	return "", Site{}
}

// packageOf returns the path of a function's package.
func packageOf(function string) string {
	last := strings.LastIndexByte(function, '/') + 1
	name, _, _ := strings.Cut(function[last:], ".")
	return function[:last] + name
}
