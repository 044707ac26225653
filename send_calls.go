package loggp

import (
	"slices"
	"strings"

	"github.com/loggp/loggp/model"
)

// SendCalls are the blocking calls of the send modes, as files of samples name them.
var SendCalls = [model.NumModes]string{model.StandardMode: "send", model.SynchronousMode: "ssend", model.ReadyMode: "rsend", model.BufferedMode: "bsend"}

// SendMode returns the mode of a call, and whether the call does not block.
func SendMode(call string) (mode model.Mode, nonblocking bool) {
	name, nonblocking := strings.CutPrefix(call, "i")
	return model.Mode(max(0, slices.Index(SendCalls[:], name))), nonblocking
}
