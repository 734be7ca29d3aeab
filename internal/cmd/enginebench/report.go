package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/internal/figures"
)

// The required speeds of the engine.
const (
	barStanMean = 20  // times as fast as Stan, geometric mean
	barStan     = 5   // times as fast as Stan, each
	barByHand   = 1.5 // times the gradient by hand, each
	// A gradient by hand that is not this many times as fast as Stan says that the model leaves
	// little to gain. Its workload has to reach barByHand only.
	littleToGain = 8
)

// report contains the measurements.
type report struct {
	Date    string          `json:"date"`
	Machine figures.Machine `json:"machine"`
	Load    string          `json:"load,omitempty"` // load averages before the run; see figures.Load
	Rounds  int             `json:"rounds"`
	Peaks   peaks           `json:"peaks"`
	Rows    []row           `json:"workloads"`
	// Geometric means of Stan ÷ fast and of fast ÷ by hand, and the numbers of workloads in each
	// mean; 0 if there are none.
	Stan    figures.Mean `json:"stan_over_fast"`
	ByHand  figures.Mean `json:"fast_over_by_hand"`
	Missing []miss       `json:"misses"`
}

// row contains a workload's figures. Times are the minimum over all batches: CPU nanoseconds per
// log density with gradient, 0 if not measured.
type row struct {
	Name        string  `json:"name"`
	About       string  `json:"about"`
	Dim         int     `json:"dim"`
	Ops         int     `json:"ops"` // of the differentiated graph
	FastNS      float64 `json:"fast_ns"`
	ReferenceNS float64 `json:"reference_ns"`
	ByHandNS    float64 `json:"by_hand_ns"`
	StanNS      float64 `json:"stan_ns"`
	Allocs      float64 `json:"allocs_per_gradient"`
	BindMS      float64 `json:"bind_ms"`  // wall-clock time of binding
	ReadyMS     float64 `json:"ready_ms"` // wall-clock time from the texts of model and data to the first gradient
	// The numbers that a gradient computes, and the bytes that it moves.
	Numbers float64 `json:"numbers"`
	Bytes   float64 `json:"bytes"`
	// Wall time of Stan's compilation of the model, in seconds, if the model was compiled.
	StanCompileS float64 `json:"stan_compile_s"`
	// Largest difference of the gradient from Stan's, relative to its largest element; nil if not
	// compared.
	StanDifference *float64 `json:"stan_difference,omitempty"`
}

type miss struct {
	Name   string  `json:"name"`
	Stan   float64 `json:"stan_over_fast"`
	ByHand float64 `json:"fast_over_by_hand"`
	Bound  string  `json:"bound"`
}

// conclude computes the summary figures from the rows.
func (r *report) conclude() {
	var stan, hand []float64
	for _, w := range r.Rows {
		m := miss{Name: w.Name, Stan: figures.Ratio(w.StanNS, w.FastNS), ByHand: figures.Ratio(w.FastNS, w.ByHandNS)}
		if m.Stan > 0 {
			stan = append(stan, m.Stan)
		}
		if m.ByHand > 0 {
			hand = append(hand, m.ByHand)
		}
		possible := w.ByHandNS == 0 || figures.Ratio(w.StanNS, w.ByHandNS) >= littleToGain
		if m.Stan > 0 && m.Stan < barStan && possible || m.ByHand > barByHand {
			m.Bound = bounds[w.Name].What
			r.Missing = append(r.Missing, m)
		}
	}
	r.Stan, r.ByHand = figures.Geometric(stan), figures.Geometric(hand)
}

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s by `go run ./internal/cmd/enginebench`: %v. ", r.Date, r.Machine)
	fmt.Fprintf(&b, "Times are per log density with gradient: the least CPU time of alternating short batches, over %d rounds. ", r.Rounds)
	b.WriteString("Bind and ready (from model and data to the first gradient) are least wall-clock times. " +
		"Fast is what users run. Reference is ad's evaluator on the same differentiated graph. By hand is scalar Go written for this model. Ops is the number of operations of the graph.\n\n")

	b.WriteString("| workload | | dim | ops | fast | reference | by hand | Stan | Stan ÷ fast | fast ÷ by hand | allocs | bind, ms | ready, ms | Stan's compile, s |\n")
	b.WriteString("| --- | --- " + strings.Repeat("| --: ", 12) + "|\n")
	for _, w := range r.Rows {
		cells := []string{w.Name, w.About, count(w.Dim), count(w.Ops), figures.Nanoseconds(w.FastNS), figures.Nanoseconds(w.ReferenceNS), figures.Nanoseconds(w.ByHandNS), figures.Nanoseconds(w.StanNS),
			figures.Number(figures.Ratio(w.StanNS, w.FastNS)), figures.Number(figures.Ratio(w.FastNS, w.ByHandNS)), strconv.FormatFloat(w.Allocs, 'g', 3, 64), figures.Number(w.BindMS), figures.Number(w.ReadyMS), figures.Number(w.StanCompileS)}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	b.WriteByte('\n')
	if r.Stan.Count > 0 {
		fmt.Fprintf(&b, "- Geometric mean of Stan ÷ fast over %d workloads: **%s** (bar: at least %v).\n", r.Stan.Count, figures.Number(r.Stan.Ratio), barStanMean)
	}
	if r.ByHand.Count > 0 {
		fmt.Fprintf(&b, "- Geometric mean of fast ÷ by hand over %d workloads: **%s**.\n", r.ByHand.Count, figures.Number(r.ByHand.Ratio))
	}
	worst, compared := 0.0, 0
	for _, w := range r.Rows {
		if w.StanDifference != nil {
			worst = max(worst, *w.StanDifference)
			compared++
		}
	}
	if compared > 0 {
		fmt.Fprintf(&b, "- Gradients differ from Stan's by at most %.1e of the largest element, over %d workloads (the others have transforms that this version of Stan does otherwise).\n", worst, compared)
	}
	fmt.Fprintf(&b, "\nMisses: slower than %v× Stan, unless the gradient by hand is below %v× Stan itself, or more than %v times the gradient by hand.\n\n", barStan, littleToGain, barByHand)
	for _, m := range r.Missing {
		bound := m.Bound
		if bound == "" {
			bound = "not looked into yet"
		}
		fmt.Fprintf(&b, "- **%s**: ", m.Name)
		if m.Stan > 0 {
			fmt.Fprintf(&b, "%s× Stan. ", figures.Number(m.Stan))
		}
		if m.ByHand > 0 {
			fmt.Fprintf(&b, "%s times by hand. ", figures.Number(m.ByHand))
		}
		fmt.Fprintf(&b, "What bounds it: %s.\n", bound)
	}
	if len(r.Missing) == 0 {
		b.WriteString("None.\n")
	}
	return b.String()
}

func count(n int) string {
	if n == 0 {
		return "–"
	}
	return strconv.Itoa(n)
}

// section is the part of a Markdown file that contains the table.
var section = figures.Section{Name: "enginebench", Command: "internal/cmd/enginebench", Heading: "The engine, measured"}
