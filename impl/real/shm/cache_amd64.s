#include "textflag.h"

// func release(word *atomic.Uint64, v uint64)
TEXT ·release(SB), NOSPLIT, $0-16
	MOVQ word+0(FP), AX
	MOVQ v+8(FP), CX
	MOVQ CX, (AX)
	RET

// func claim(b []byte)
TEXT ·claim(SB), NOSPLIT, $0-24
	MOVQ b_base+0(FP), AX
	MOVQ b_len+8(FP), CX
	ADDQ AX, CX
next:
	CMPQ AX, CX
	JAE  done
	BYTE $0x0F; BYTE $0x0D; BYTE $0x08 // PREFETCHW (AX)
	ADDQ $64, AX
	JMP  next
done:
	RET

// func demote(b []byte)
TEXT ·demote(SB), NOSPLIT, $0-24
	MOVQ b_base+0(FP), AX
	MOVQ b_len+8(FP), CX
	ADDQ AX, CX
next:
	CMPQ AX, CX
	JAE  done
	BYTE $0x0F; BYTE $0x1C; BYTE $0x00 // CLDEMOTE (AX), a NOP where it is not known
	ADDQ $64, AX
	JMP  next
done:
	RET
