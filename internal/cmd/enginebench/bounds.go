package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/internal/figures"
	"github.com/ppl-lang/ppl/lang/source"
)

// bound describes what limits the speed of a workload, found from profiles of its blocks (ppl
// explain). TestBounds checks that the list is complete.
type bound struct {
	What string
	// More is the number of computed numbers that the engine does not count: the products and sums
	// of factorisations.
	More float64
}

var bounds = map[string]bound{
	"eight_schools":         {What: "latency: half are an exponential and the scalar code that waits for it, half the loop over 8 numbers; the way in and out is as long again"},
	"logistic":              {What: "bandwidth: two thirds are two passes over 192 KB of data in the second-level cache; one third the exponential and division of each row"},
	"hierarchical":          {What: "loads of a few numbers of each group, to which the data are reduced when the model is bound"},
	"hierarchical_loop":     {What: "as hierarchical"},
	"volatility":            {What: "arithmetic: an exponential and a division of each day (69 %); differences of neighbours (27 %)"},
	"volatility_noncentred": {What: "arithmetic: an exponential and a division of each day (40 %); two scans, of which four steps wait for a product and a sum (28 %)"},
	"garch_200":             {What: "two scans, of which four steps wait for a product and a sum (44 %); a logarithm and divisions of each day (30 %)"},
	"garch_2000":            {What: "as garch_200"},
	"moving_average":        {What: "latency of two scans: five products and sums a day, one after the other, and as many back"},
	"renewal":               {What: "first-level cache and calls: a dot product of all earlier days in each day, 45 thousand products, and their adjoint in as many sums"},
	"successes":             {What: "calls: 400 short loops, each a row of the table or of its adjoint, and the scalar code between them"},
	"mixture_2":             {What: "arithmetic of one loop: 24 operations a row, an exponential, a division and the terms of a logarithm among them"},
	"mixture_5":             {What: "arithmetic of one loop: 89 operations a row, exponentials, a division and the terms of a logarithm among them"},
	"hmm":                   {What: "latency: a step forwards (54 %) is sums of three exponentials and logarithms, which wait for those of the step before; the rest are loops over all steps"},
	"regression":            {What: "two products with a matrix of 27 × 27, to which the data are reduced when the model is bound (77 %)"},
	"gaussian_process":      {What: "arithmetic of the factor and its adjoint (54 %), which at order 100 reach half of the peak; exponentials of covariances", More: 100 * 100 * 100 / 6 * 3},
	"irt_2pl":               {What: "an exponential and a division of each answer, and sums by person and by item, in one loop"},
	"poisson_glmm":          {What: "an exponential of each row, products with 4 columns and sums by group, in one loop"},
	"horseshoe":             {What: "bandwidth: two passes over a triangle of 180 KB, to which the data are reduced, in the second-level cache (90 %); logarithms and exponentials of the scales"},
	"factors":               {What: "loop over 5000 residuals (52 %), which gathers the scale of each outcome; three products with 3 factors (35 %)"},
	"sir":                   {What: "latency: steps of the solver, six evaluations one after the other, and their adjoints (95 %)"},
	"lotka_volterra":        {What: "as sir"},
	"robertson":             {What: "latency: steps of the implicit solver, each with a factor and solves of order 3, and their adjoints"},
	"pharmacokinetics":      {What: "matrix exponentials and their adjoints, which are such functions of order 6, one by one"},
	"areas":                 {What: "an exponential of each area, and sums by table of the differences between neighbours"},
	"network":               {What: "a hyperbolic tangent and its slope of each hidden unit (70 %)"},
	"splines":               {What: "four products with 80 KB of data, of which one in five is not zero (77 %)"},
	"hmm_4":                 {What: "latency: a step forwards is sums of four exponentials and logarithms, which wait for those of the step before"},
	"hmm_marginal_4":        {What: "arithmetic: exponentials (a fifth), products of matrices of order 4 in lanes of segments, forward and backward products with vectors"},
	"hmm_20":                {What: "latency: products of order 20 one after the other; exponentials and logarithms of all states of a step"},
	"hmm_20_5000":           {What: "as hmm_20"},
	"moving_average_2000":   {What: "as moving_average"},
	"renewal_100":           {What: "as renewal"},
	"alignment":             {What: "latency: an element of the table waits for that before it; three exponentials and a logarithm each"},
	"alignment_400":         {What: "as alignment"},
	"cholesky":              {What: "loops over the rest of the matrix, one or more for each column of the factor and of its adjoint"},
	"semi_markov":           {What: "calls: short loops over durations, several for each step and state"},
	"particles":             {What: "latency: two scans of 40,000 steps, one particle at a time (70 %)"},
}

// peaks are the highest rates that the engine reaches in single blocks on this machine, per
// nanosecond: numbers (a product that is added counts as one) in a product of matrices in the
// first-level cache, and bytes in a product with a matrix in the second-level cache.
type peaks struct {
	Numbers float64 `json:"numbers_per_ns"`
	Bytes   float64 `json:"bytes_per_ns"`
}

func measurePeaks() (peaks, error) {
	var p peaks
	for _, text := range []string{
		"parameters { matrix[128, 128] P; } model { target += sum(square(P * P)); }",
		"transformed data { matrix[128, 128] A; for (i in 1:128) for (j in 1:128) A[i, j] = sin(i * j); } parameters { vector[128] x; } model { target += sum(tanh(A * x)); }",
	} {
		program, list := compile.Compile(source.NewFile("peak", text))
		if program == nil {
			return p, fmt.Errorf("%v", list[0])
		}
		m, err := program.Bind(&data.Set{}, compile.BindOptions{})
		if err != nil {
			return p, err
		}
		e, err := m.Explain(make([]float64, m.Dim()), 500*time.Millisecond)
		if err != nil {
			return p, err
		}
		for _, b := range e.Blocks {
			if b.Ops > 1e4 {
				p.Numbers, p.Bytes = max(p.Numbers, b.Ops/b.NS), max(p.Bytes, b.Bytes/b.NS)
			}
		}
	}
	return p, nil
}

// count records the number of numbers that a gradient computes and the number of bytes that it
// moves.
func (s *subject) count() error {
	e, err := s.bound.Model.Explain(s.points[0], 0)
	if err != nil {
		return err
	}
	s.row.Numbers = bounds[s.Name].More
	for _, b := range e.Blocks {
		s.row.Numbers += b.Ops
		s.row.Bytes += b.Bytes
	}
	return nil
}

// boundsTable lists the limit of each workload, and the ratio to it.
func (r *report) boundsTable() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s by `go run ./internal/cmd/enginebench --bounds`: %v. ", r.Date, r.Machine)
	fmt.Fprintf(&b, "Numbers are the results of operations that a gradient computes; an exponential counts as one, like a sum. Bytes are what it reads and writes "+
		"outside the strips of a loop, mostly in caches. Percentages are of the highest rates of single blocks in the same run. These are %s numbers a nanosecond (multiply-adds of a product "+
		"of matrices of order 128) and %s bytes (a product of such a matrix of data with a vector). Shares in the last column come from profiles on a Zen 3 with AVX2.\n\n",
		figures.Number(r.Peaks.Numbers), figures.Number(r.Peaks.Bytes))
	b.WriteString("| workload | numbers | per ns | of the peak | KB | bytes per ns | of the peak | what bounds it |\n| --- " + strings.Repeat("| --: ", 6) + "| --- |\n")
	percent := func(a, b float64) string { return fmt.Sprintf("%.0f %%", 100*figures.Ratio(a, b)) }
	for _, w := range r.Rows {
		numbers, bytes := figures.Ratio(w.Numbers, w.FastNS), figures.Ratio(w.Bytes, w.FastNS)
		cells := []string{w.Name, fmt.Sprintf("%.0f", w.Numbers), figures.Number(numbers), percent(numbers, r.Peaks.Numbers),
			figures.Number(w.Bytes / 1024), figures.Number(bytes), percent(bytes, r.Peaks.Bytes), bounds[w.Name].What}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	return b.String()
}

// boundsSection is the section with the table of bounds. It is separate since it does not need Stan
// and may be from another machine.
var boundsSection = figures.Section{Name: "enginebench bounds", Command: "internal/cmd/enginebench --bounds", Heading: "What bounds the workloads"}
