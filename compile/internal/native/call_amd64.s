//go:build linux || darwin || freebsd || windows

#include "textflag.h"

// func run(entry uintptr, mem, views, scratch unsafe.Pointer, first, last, end int) int
TEXT ·run(SB), 0, $8-64
	MOVQ entry+0(FP), AX
	MOVQ mem+8(FP), DI
	MOVQ views+16(FP), SI
	MOVQ scratch+24(FP), R10
	MOVQ first+32(FP), CX
	MOVQ last+40(FP), DX
	MOVQ end+48(FP), R8
	CALL AX
	MOVQ AX, ret+56(FP)
	RET

// func cpuid(leaf, sub uint32) (ax, bx, cx, dx uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-24
	MOVL leaf+0(FP), AX
	MOVL sub+4(FP), CX
	CPUID
	MOVL AX, ax+8(FP)
	MOVL BX, bx+12(FP)
	MOVL CX, cx+16(FP)
	MOVL DX, dx+20(FP)
	RET

// func xgetbv() (ax, dx uint32)
TEXT ·xgetbv(SB), NOSPLIT, $0-8
	XORL CX, CX
	XGETBV
	MOVL AX, ax+0(FP)
	MOVL DX, dx+4(FP)
	RET
