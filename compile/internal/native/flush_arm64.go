//go:build linux || freebsd

package native

// flush makes instructions that were written as data visible to instruction fetch on all
// processors. It writes data lines back to the point where both kinds of caches meet, and
// invalidates instruction lines. Both systems allow programs to do that.
func flush(at, n uintptr) {
	types := cacheTypes()
	// Fields of the register: the binary logarithm of the smallest cache line of each kind, in
	// 32-bit words.
	writeBack(at, n, uintptr(4)<<(types>>16&15))
	giveUp(at, n, uintptr(4)<<(types&15))
}

// cacheTypes reads the register CTR_EL0.
func cacheTypes() uint64

// writeBack writes back data lines, and giveUp invalidates instruction lines. line is their size.
func writeBack(at, n, line uintptr)
func giveUp(at, n, line uintptr)
