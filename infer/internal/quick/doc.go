// Package quick has what a transition of a small model spends much of its time on: the exponential,
// sine and cosine, and normal random numbers. They take less time than those of the standard
// library, above all where a result is waited for, and are as accurate but for a digit or two in
// binary. Nothing in them depends on what instructions a processor has but for the rounding of a
// sum of products.
//
//	exp.go     Exp
//	sincos.go  Sincos
//	normal.go  Normals
//	tables.go  the tables of all
package quick
