// Package native generates and runs machine code for loops over lanes and for scalar code.
//
// Map of the package:
//
//	form.go      Builder and Formula: straight-line code in primitives, on virtual registers
//	frame.go     Frame: the registers of a piece of code, accumulators, the failure flag
//	alloc.go, alloccalls.go   code generation with register allocation; calls of routines
//	routines.go, log.go, pow.go   exponentials, logarithms and powers as routines, and the table
//	                              of all routines
//	normal.go, gammas.go, elementary.go, logarithms.go   routines: the normal distribution, the gamma
//	                      function, functions of exponentials, bases other than e
//	circular.go, angles.go, hyperbolic.go, roots.go   routines: sine, cosine and tangent, their
//	                      inverses, hyperbolic functions and theirs, cube roots and lengths
//	gaps.go               routines: differences of ψ minus the first term of their series
//	sums.go               sums, products and quotients in two parts; polynomials
//	gosource.go           GoSource: the routines as Go functions
//	target.go    Target, Asm: a processor and its instructions
//	asm.go       registers, operands in memory, labels, the instructions on general registers
//	amd64.go     these for amd64, and the encodings of its vector instructions
//	avx2.go, avx512.go   the vector instructions
//	arm64.go, neon.go    the same for arm64
//	code.go, code_unix.go, code_windows.go, code_other.go   executable memory, and calling it
//	cpu_amd64.go, cpu_arm64.go, call_amd64.s, call_arm64.s   detection of the processor; the way
//	             from Go into the code
//	flush_arm64.go, flush_darwin_arm64.go, flush_amd64.go   making written data visible as instructions
//
// Package vm decides what is compiled; this package knows nothing of programs. On other processors
// there is no target. Where the system refuses executable memory there is no code. In both cases
// the portable executor does all the work.
//
// # Lanes
//
// A formula is the same for every number of lanes: one number, or as many as a vector register
// holds. If fewer count, the other lanes equal one of those, so that they cannot fail in a
// different way; they are neither stored nor summed. Code of every width keeps sums in eight
// partial sums, added as one fixed tree, so that all targets and the interpreter compute the same
// bits. Truths have separate registers on processors with mask registers.
//
// # Registers
//
// Register allocation is one pass over a formula. If no register is free, the value whose next use
// is furthest is evicted (Belady's rule): constants, and values in memory, are loaded again, others
// go to scratch memory. Registers for values that outlive a formula, such as accumulators of a
// loop, are reserved before. Routines use the first registers and are generated once for each
// width.
//
// # How code runs
//
// For Go, the code is a leaf: it calls nothing of Go's, allocates nothing, uses at most a few words
// of stack, and leaves by RET, on amd64 with the upper halves of the vector registers cleared. The
// runtime knows no function at its addresses, so that it is never preempted there, and profiles
// show it as external; calling it is a point of preemption like every call. Addresses of Go's
// memory in code are safe because heap objects do not move, as long as the owner of the code keeps
// them referenced. Memory is never writable and executable at once.
//
// On amd64 instruction caches follow data caches. On arm64 they do not: before code is called, data
// lines are written back and instruction lines invalidated, by instructions on Linux and FreeBSD,
// by the system's function on macOS and Windows. Registers reserved by Go or a system (X18, X26 to
// X29) are never used there, nor is the stack: the return address is in X17 while routines are
// called.
//
// Sums, products and quotients are rounded one by one, in the same order as by the portable
// executor; multiplication and addition are fused only in products of matrices. So both compute the
// same bits, except for exponentials and powers whose arguments or results are subnormal or beyond
// ±708.
//
// # Printed functions
//
// A routine with a name in the table is the only definition of a function of package
// ad/kernel/routines. GoSource prints it as Go, and the command compile/internal/cmd/routines
// writes the files. So the interpreter, derivatives of constants and machine code of all widths
// compute the same bits. The printed function computes what only one side of a selection needs on
// that side; lanes compute both sides. After a change of a routine run
//
//	go generate ./ad/kernel/routines
//
// and the tests of package kernel, which compare with values of many digits.
//
// # Measurements
//
// On a Sapphire Rapids, in nanoseconds per number: exponentials 0.6 with AVX-512, 1.05 with AVX2;
// with their logarithms, logistic regressions are 1.5 times as fast. For tables of integers in
// memory, loading scattered numbers one by one is faster than the gather instruction, but not if
// the index is in a register, as in routines. Short strips of 512 bits slow down scalar code around
// them, which is why package vm uses them from 64 elements on.
//
// On the same machine, in nanoseconds per number as Go, with AVX2 and with AVX-512
// (TestMeasureRoutines of package vm):
//
//	sin              6.9  2.4  1.7      Phi               25   7.1  5.3
//	expm1            5.1  1.5  1.0      log_Phi           33    11  7.7
//	tanh             9.7  2.5  1.8      Phi_ratio         24   8.0  5.6
//	log1m_exp         11  3.9  2.6      log_exp_mod_tail  35    12  8.5
//	erf               20  7.8  5.7      lgamma            15   6.1  4.2
//	digamma           19  7.8  5.1      lmultichoose      30    12  8.0
//
// Logarithms divide (log.go). Before, they took a reciprocal and its logarithm from a table: with
// AVX-512 1.4 instead of 0.6 ns on a Zen 5, whose divisions take 0.15 and loads of one table 0.5.
// Other functions that need a logarithm with an error of little more than half a unit in the last
// place still use the table.
//
// On a Zen 5:
//
//	log2, log10      7.8  2.9  1.9      sinh, cosh        18   4.2  2.7
//	exp2             3.0  0.9  0.9      asinh             33   9.3  6.0
//	tan               17  4.6  2.3      acosh             20   6.1  4.3
//	asin, acos        30  7.5  3.6      atanh             12   3.4  2.3
//	atan              12  3.9  1.8      lbeta, lchoose    60    48    30
//	atan2             13  5.5  2.4      Phi_approx       6.1   1.3   0.9
//
// On a Zen 4, shared with others, compared with the functions that were called for each number
// before:
//
//	cbrt      9.9 before     12  2.4  1.7
//	hypot     4.2 before    8.7  1.6  1.2
//	trigamma   41 before     14  4.6  3.6
//
// tanh, which took 2.4 ns with AVX-512 and its derivative 1.8, now takes 1.7 and both together 1.7
// (Zen 4). Below 0.77 it is a quotient of polynomials instead of one of exponentials.
//
// lgamma and digamma of numbers that are all at least 6 take a shorter way to the same bits: a
// regression whose normalising constants are sums of these (Conway-Maxwell-Poisson) takes a tenth
// to a sixth less.
//
// Routines that share most of their work are computed together where code calls both with the same
// operands (together in routines.go). There a skew-normal regression of 500 rows takes 6.2 instead
// of 9.4 µs, an exponentially modified normal one 9.6 instead of 13.1, with the same bits.
//
// The cost is that of the instructions, nearly two per cycle: log_Phi has 291 for eight numbers.
// Fused multiply-add would save a tenth, but the printed functions would have to emulate it where
// the processor does not have it, as in a browser.
package native
