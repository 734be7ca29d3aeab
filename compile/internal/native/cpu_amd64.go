//go:build linux || darwin || freebsd || windows

package native

import "unsafe"

//go:noescape
func run(entry uintptr, mem, views, scratch unsafe.Pointer, first, last, end int) int

func cpuid(leaf, sub uint32) (ax, bx, cx, dx uint32)
func xgetbv() (ax, dx uint32)

// hasNEON is false: NEON belongs to arm64.
func hasNEON() bool { return false }

// hasAVX2 reports whether the processor and the system support AVX2 and FMA.
func hasAVX2() bool {
	const fma, osxsave, avx, avx2, ymm = 1 << 12, 1 << 27, 1 << 28, 1 << 5, 6
	if n, _, _, _ := cpuid(0, 0); n < 7 {
		return false
	}
	if _, _, cx, _ := cpuid(1, 0); cx&osxsave == 0 || cx&avx == 0 || cx&fma == 0 {
		return false
	}
	if ax, _ := xgetbv(); ax&ymm != ymm {
		return false
	}
	_, bx, _, _ := cpuid(7, 0)
	return bx&avx2 != 0
}

// hasAVX512 reports whether the processor and the system also support AVX-512F, DQ and VL.
func hasAVX512() bool {
	const f, dq, vl, zmm = 1 << 16, 1 << 17, 1 << 31, 0xe6
	if !hasAVX2() {
		return false
	}
	if ax, _ := xgetbv(); ax&zmm != zmm {
		return false
	}
	_, bx, _, _ := cpuid(7, 0)
	return bx&(f|dq|vl) == f|dq|vl
}
