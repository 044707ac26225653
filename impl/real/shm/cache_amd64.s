#include "textflag.h"

// func storeRelease(word *atomic.Uint64, v uint64)
TEXT ·storeRelease(SB), NOSPLIT, $0-16
	MOVQ word+0(FP), AX
	MOVQ v+8(FP), CX
	MOVQ CX, (AX)
	RET

// func prefetchForWrite(b []byte)
TEXT ·prefetchForWrite(SB), NOSPLIT, $0-24
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

// func demoteLines(b []byte)
TEXT ·demoteLines(SB), NOSPLIT, $0-24
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
