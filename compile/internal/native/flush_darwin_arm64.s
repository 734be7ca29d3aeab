#include "textflag.h"

TEXT invalidate<>(SB), NOSPLIT, $0-0
	JMP libc_sys_icache_invalidate(SB)

GLOBL ·invalidateAddress(SB), RODATA, $8
DATA ·invalidateAddress(SB)/8, $invalidate<>(SB)
