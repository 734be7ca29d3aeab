// Package native assembles machine code for amd64 with AVX2 and runs it: the
// executor's loops over lanes and its scalar code, without an interpreter.
//
// Map of the package:
//
//	asm.go       Asm: instructions, labels, constants
//	lanes.go     Lanes: the same operation on four numbers or on one
//	routines.go  exponentials and logarithms, as subroutines
//	pow.go       powers
//	code.go      Code: executable memory, and calling it
//
// What is compiled is package vm's business; here is nothing of programs. Where
// there is no such processor, or executable memory is refused, Available is false
// and the portable executor does all the work.
//
// # How code runs
//
// Code is a leaf as far as Go is concerned: it calls nothing of Go's, allocates
// nothing, uses a few words of stack, and leaves by RET with the upper halves of
// the vector registers cleared. The runtime knows no function at its addresses, so
// that it is never preempted there, and profiles show it as external; calling it
// is a point of preemption like every call. Addresses of Go's memory in
// code are safe because heap objects do not move, as long as who owns the code
// keeps them referenced.
//
// Sums, products and quotients are rounded one by one, in the same order as by the
// portable executor; multiplication and addition are not contracted. So both
// compute the same bits, but for exponentials, logarithms and powers whose arguments or
// results are subnormal or beyond ±708.
package native
