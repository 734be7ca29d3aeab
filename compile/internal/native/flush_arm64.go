//go:build linux || freebsd

package native

// flush makes instructions that were written as data visible to all processors. It writes the data
// lines back to the point where the caches of data and instructions meet, and invalidates the
// instruction lines. Linux and FreeBSD let programs do that.
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
