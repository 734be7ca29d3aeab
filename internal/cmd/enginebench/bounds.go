package main

// bounds says what bounds the workloads that miss a bar, as seen in profiles of
// the fast path (ppl explain, pprof). What no longer misses may go.
var bounds = map[string]string{
	"eight_schools": "dispatch: 14 scalar instructions and a dozen passes over strips of eight numbers, at 3 to 9 ns each (173 ns), " +
		"and the way in and out of the machine (about 90 ns), where by hand everything stays in registers",
	"hierarchical": "a dozen passes of scalar Go loops over the strips, 0.3 ns per row each, " +
		"where by hand there is one pass",
	"hierarchical_loop": "the same passes as in hierarchical",
	"garch_200":         "as garch_2000, and dispatch",
	"garch_2000": "two scans (43 %), of which the one forward takes 9 ns per day, the latency of its square root, " +
		"and a square root, a logarithm and divisions of every day in eleven passes (57 %), where by hand there is one pass, on variances, with one division per day and one logarithm for sixteen days",
}
