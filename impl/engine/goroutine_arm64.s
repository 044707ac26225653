#include "textflag.h"

// func goroutineID() uintptr
TEXT ·goroutineID(SB), NOSPLIT, $0-8
	MOVD g, ret+0(FP)
	RET
