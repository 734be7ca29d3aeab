//go:build linux || freebsd

#include "textflag.h"

// func cacheTypes() uint64
TEXT ·cacheTypes(SB), NOSPLIT, $0-8
	MRS  CTR_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func writeBack(at, n, line uintptr)
TEXT ·writeBack(SB), NOSPLIT, $0-24
	MOVD at+0(FP), R0
	MOVD n+8(FP), R1
	MOVD line+16(FP), R2
	ADD  R0, R1
	SUB  $1, R2, R3
	BIC  R3, R0

data:
	WORD $0xd50b7b20 // DC CVAU, X0
	ADD  R2, R0
	CMP  R1, R0
	BLO  data
	DSB  $11         // of all processors that share memory
	RET

// func giveUp(at, n, line uintptr)
TEXT ·giveUp(SB), NOSPLIT, $0-24
	MOVD at+0(FP), R0
	MOVD n+8(FP), R1
	MOVD line+16(FP), R2
	ADD  R0, R1
	SUB  $1, R2, R3
	BIC  R3, R0

instructions:
	WORD $0xd50b7520 // IC IVAU, X0
	ADD  R2, R0
	CMP  R1, R0
	BLO  instructions
	DSB  $11
	ISB  $15
	RET
