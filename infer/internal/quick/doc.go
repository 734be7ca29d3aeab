// Package quick contains functions on which a transition of a small model spends much of its time:
// the exponential, sine and cosine, and normal random numbers. They take less time than those of
// the standard library, especially if the next operation waits for the result. They are as
// accurate, except for one or two binary digits. Apart from the rounding of sums of products, the
// results do not depend on the instructions of the processor.
//
//	exp.go     Exp
//	sincos.go  Sincos
//	normal.go  Normals
//	tables.go  the tables of all functions
//	sort.go    Sorter, which sorts the draws of many quantities, one after another
package quick
