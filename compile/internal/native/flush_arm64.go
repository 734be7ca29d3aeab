//go:build linux || freebsd

package native

// flush makes instructions that were written as data visible to instruction fetch on all
// processors. It writes data lines back to the point where both kinds of caches meet, and
// invalidates instruction lines. Both systems allow programs to do that.
func flush(at, n uintptr) {
	types := cacheTypes()
	// The logarithms of the numbers of words of 32 bits in the smallest line of each kind.
	writeBack(at, n, uintptr(4)<<(types>>16&15))
	giveUp(at, n, uintptr(4)<<(types&15))
}

// cacheTypes is the register CTR_EL0.
func cacheTypes() uint64

// writeBack writes back data, giveUp gives up instructions, of lines of a size.
func writeBack(at, n, line uintptr)
func giveUp(at, n, line uintptr)
