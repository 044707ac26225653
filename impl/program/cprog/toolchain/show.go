package toolchain

import (
	"context"
	"strings"
)

// AnswerShowOption returns what an option in front of the arguments asks to show, in the words of
// Open MPI and MPICH, or nil if there is none.
func (c *Compiler) AnswerShowOption(ctx context.Context, args []string, version string) []string {
	if !strings.HasPrefix(args[0], "-") {
		return nil
	}
	switch strings.ReplaceAll(strings.TrimLeft(args[0], "-"), "_", "-") {
	case "show", "showme", "showme:command":
		return c.ShowCommand(ctx, args[1:])
	case "showme:compile", "compile-info":
		return c.CompileOptions()
	case "showme:link", "link-info":
		return c.LinkOptions()
	case "showme:incdirs", "showme:libdirs":
		return []string{c.Directory()}
	case "showme:libs":
		return []string{c.Library()}
	case "showme:version":
		return []string{"loggp", version}
	}
	return nil
}
