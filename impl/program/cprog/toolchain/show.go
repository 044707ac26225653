package toolchain

import (
	"context"
	"strings"
)

// AnswerShowOption returns the answer to a leading option such as those of Open MPI's and MPICH's
// wrappers that show the compiler command, or nil if there is no such option.
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
