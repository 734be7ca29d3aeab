package main

// bounds says what bounds the workloads that miss a bar, as seen in profiles of
// the fast path (ppl explain, pprof). What no longer misses may go.
var bounds = map[string]string{
	"eight_schools": "dispatch: 30 instructions and two checks, each for one number or for eight, " +
		"at 3 to 12 ns, where by hand everything stays in registers",
	"hierarchical": "eleven passes of scalar Go loops over the strips, 0.3 to 0.6 ns per row each (87 % of the time), " +
		"and one more for the check that the means are finite (11 %), where by hand there is one pass",
	"hierarchical_loop": "the same passes as in hierarchical",
	"garch_200": "two scans in the interpreter of scalar code, 18 ns per day each (60 %), " +
		"and a logarithm, two square roots and a division for every day (30 %), where by hand there is one pass and one logarithm for sixteen days",
	"garch_2000": "as in garch_200, without its share of fixed costs",
	"gaussian_process": "the derivative of the Cholesky factor: two triangular solves with 100 right-hand sides (53 %), " +
		"of which the one from the right goes row by row in scalar Go (44 %), and a full product of two matrices of which triangles would do (26 %)",
}
