// Package native makes machine code and runs it: the executor's loops over lanes and its
// scalar code, without an interpreter.
//
// Map of the package:
//
//	form.go      Builder and Text: straight-line code in primitives, on virtual registers
//	frame.go     Frame: what a piece of code finds: registers, accumulators, the mark of failures
//	alloc.go, alloccalls.go   the making of such code, which finds registers for values;
//	             calls of routines in it
//	routines.go, log.go, pow.go   exponentials, logarithms and powers, as texts that others call, and
//	                              the table of all such routines
//	normal.go, gammas.go, elementary.go, logarithms.go   the normal distribution, the gamma
//	                      function, functions of exponentials, other bases than e, likewise
//	circular.go, angles.go, hyperbolic.go, roots.go   sine, cosine and tangent, their inverses,
//	                      hyperbolic functions and theirs, cube roots and lengths, likewise
//	gaps.go               rises of ψ less the first term of their series, likewise
//	sums.go               sums, products and quotients in two parts; polynomials
//	gosource.go           GoSource: the texts as Go functions
//	target.go    Target, Asm: a processor and its instructions
//	asm.go       registers, places in memory, labels, the instructions on general registers
//	amd64.go     these for amd64, and the encodings of its vector instructions
//	avx2.go, avx512.go   the vector instructions
//	arm64.go, neon.go    the same for arm64
//	code.go, code_unix.go, code_windows.go, code_other.go   executable memory, and calling it
//	cpu_amd64.go, cpu_arm64.go, call_amd64.s, call_arm64.s   which processor this is; the way
//	             from Go into the code
//	flush_arm64.go, flush_darwin_arm64.go, flush_amd64.go   what was written as data becomes instructions
//
// What is compiled is package vm's business; here is nothing of programs. Where
// there is no such processor there is no target, and where executable memory is refused
// no code: then the portable executor does all the work.
//
// # Lanes
//
// A text is the same for every number of lanes: one number, or as many as a vector
// register holds. Where fewer count, the others are like one of those, so that nothing
// happens in them that would not happen anyway; they are neither stored nor summed up.
// Sums are kept in eight parts by code of every width, and added up by one tree, so that
// all targets and the interpreter compute the same bits. Truths have registers of their
// own where the processor has masks.
//
// # Registers
//
// Values of a text are put into registers in one pass. Where there is none left the value
// that is needed last is given up (Belady): constants, and what memory holds, are had
// again from there, others go to scratch memory. What outlives a text, as
// accumulators of a loop, is reserved before. Routines use the first registers and are
// made once for each width.
//
// # How code runs
//
// Code is a leaf as far as Go is concerned: it calls nothing of Go's, allocates
// nothing, uses a few words of stack at most, and leaves by RET, on amd64 with the upper
// halves of the vector registers cleared. The runtime knows no function at its addresses, so
// that it is never preempted there, and profiles show it as external; calling it
// is a point of preemption like every call. Addresses of Go's memory in
// code are safe because heap objects do not move, as long as who owns the code
// keeps them referenced. Memory is never writable and executable at once.
//
// On amd64 caches of instructions follow those of data. On arm64 they do not: before code is
// called, data are written back and lines of instructions given up, by instructions on Linux
// and FreeBSD, by the system's function on macOS and Windows. Registers that Go or a system
// keeps things in (X18, X26 to X29) are never touched there, nor is the stack: the return
// address waits in X17 while routines are called.
//
// Sums, products and quotients are rounded one by one, in the same order as by the
// portable executor; multiplication and addition are contracted only in products of
// matrices. So both compute the same bits, but for exponentials and powers
// whose arguments or results are subnormal or beyond ±708.
//
// # Functions that are printed
//
// A routine with a name in the table is the only definition of a function of package
// ad/kernel/routines. GoSource prints its text as Go, and the command compile/internal/cmd/routines
// writes the files. So the interpreter, derivatives of constants and machine code of all widths
// compute the same bits. The printed function computes what only one side of a selection needs on
// that side; lanes compute both sides. After a change of a text run
//
//	go generate ./ad/kernel/routines
//
// and the tests of package kernel, which compare with values of many digits.
//
// # What was measured
//
// On a Sapphire Rapids, in nanoseconds per number: exponentials 0.6 with AVX-512, 1.05
// with AVX2; with their logarithms, logistic regressions are 1.5 times as fast. Loads of
// scattered numbers one by one, for tables of integers in memory, are faster than the
// instruction for that, but not where the index is in a register, as in routines. Short
// strips of 512 bits slow down scalar code around them, which is why package vm uses
// them from 64 elements on.
//
// There, in nanoseconds per number as Go, with AVX2 and with AVX-512 (TestMeasureTexts of
// package vm):
//
//	sin              6.9  2.4  1.7      Phi               25   7.1  5.3
//	expm1            5.1  1.5  1.0      log_Phi           33    11  7.7
//	tanh             9.7  2.5  1.8      Phi_ratio         24   8.0  5.6
//	log1m_exp         11  3.9  2.6      log_exp_mod_tail  35    12  8.5
//	erf               20  7.8  5.7      lgamma            15   6.1  4.2
//	digamma           19  7.8  5.1      lmultichoose      30    12  8.0
//
// Logarithms divide (log.go), where they took a reciprocal and its logarithm from a table: with
// AVX-512 0.6 instead of 1.4 ns on a Zen 5, whose divisions take 0.15 and loads of one table 0.5.
// Where other functions need one that is exact to little more than half a unit in the last place
// they take it from the table.
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
// On a Zen 4, shared with others, beside the functions that were called for each number before:
//
//	cbrt      9.9 before     12  2.4  1.7
//	hypot     4.2 before    8.7  1.6  1.2
//	trigamma   41 before     14  4.6  3.6
//
// lgamma and digamma of numbers that are all at least 6 take a shorter way to the same bits:
// a regression whose normalising constants are sums over such (Conway-Maxwell-Poisson) takes
// a tenth to a sixth less.
//
// Routines that share most of their work are computed together where code calls both with the same
// operands (together in routines.go): there a skew-normal regression of 500 rows takes 6.2 instead
// of 9.4 µs, an exponentially modified normal one 9.6 instead of 13.1, bits being the same.
//
// What they cost is their instructions, nearly two in a cycle: log_Phi has 291 for eight
// numbers. The primitive that multiplies and adds with one rounding would save a tenth, but is
// computed by software where the printed functions run without one, as in a browser.
package native
