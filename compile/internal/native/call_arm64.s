//go:build linux || darwin || freebsd || windows

#include "textflag.h"

// The code overwrites R30, which is on the stack here, and no register that Go or the
// system keeps things in.

// func run(entry uintptr, mem, views, scratch unsafe.Pointer, first, last, end int) int
TEXT ·run(SB), 0, $0-64
	MOVD entry+0(FP), R16
	MOVD mem+8(FP), R7
	MOVD views+16(FP), R6
	MOVD scratch+24(FP), R10
	MOVD first+32(FP), R1
	MOVD last+40(FP), R2
	MOVD end+48(FP), R8
	CALL (R16)
	MOVD R0, ret+56(FP)
	RET
