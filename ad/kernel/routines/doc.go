// Package routines holds elementary and special functions that compiled programs compute in
// vector lanes, as plain Go. The Go functions and the machine code come from one definition
// each, so all of them compute the same bits.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// Map of the package:
//
//	tables.go                exponentials and logarithms that the functions look up; written by hand
//	log.go, elementary.go    log, log1p; expm1, tanh, log(1-eˣ)
//	logarithms.go            powers of 2, logarithms to the bases 2 and 10
//	normal.go, erf.go        the normal distribution function, its logarithm and their
//	                         derivatives; the error function
//	invphi.go                the normal quantile function
//	lgamma.go, digamma.go, trigamma.go, digammarise.go, digammagap.go   log Γ and its derivatives
//	lbeta.go, lchoose.go, lmultichoose.go   log B, binomial coefficients and their relatives
//	circular.go, angles.go   sine, cosine, tangent and their inverses
//	hyperbolic.go, roots.go  hyperbolic functions and their inverses; cube roots, lengths
//	…_rest.go                arguments outside the range of the short code: zero, negative,
//	                         subnormal, huge, not a number
//
// All files but this one and tables.go are generated. The definitions are the texts of package
// compile/internal/native (table in its routines.go). To change a function, edit its text, then run
//
//	go generate ./ad/kernel/routines
//	go test ./ad/kernel ./compile/internal/cmd/routines
//
// The first test compares with mpmath, the second compares the files with the texts byte by
// byte. Functions that need loops or their own tables are written by hand, in package kernel.
package routines

//go:generate go run github.com/ppl-lang/ppl/compile/internal/cmd/routines .
