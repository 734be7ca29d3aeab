package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// The bars that the engine is held to.
const (
	barStanMean = 1.5 // times as fast as Stan, geometric mean
	barStan     = 0.7 // times as fast as Stan, each
	barByHand   = 2.5 // times the gradient by hand, each
)

// report holds what was measured.
type report struct {
	Date    string  `json:"date"`
	Machine machine `json:"machine"`
	Rounds  int     `json:"rounds"`
	Rows    []row   `json:"workloads"`
	// Geometric means of Stan ÷ fast and of fast ÷ by hand, and the numbers of
	// workloads that they are over; 0 where there are none.
	Stan    mean   `json:"stan_over_fast"`
	ByHand  mean   `json:"fast_over_by_hand"`
	Missing []miss `json:"misses"`
}

type machine struct {
	CPU   string `json:"cpu"`
	Cores int    `json:"cores"`
	Go    string `json:"go"`
	OS    string `json:"os"`
	Arch  string `json:"arch"`
}

// row is a workload's figures. Times are the least of all batches: CPU
// nanoseconds per log density with gradient, 0 where not measured.
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
	BindMS      float64 `json:"bind_ms"`  // wall
	ReadyMS     float64 `json:"ready_ms"` // wall, from the texts of model and data to the first gradient
	// Stan's wall seconds to compile the model, where it was compiled.
	StanCompileS float64 `json:"stan_compile_s"`
	// Largest difference of the gradient from Stan's, relative to its largest
	// element; nil where not compared.
	StanDifference *float64 `json:"stan_difference,omitempty"`
}

type mean struct {
	Ratio float64 `json:"ratio"`
	Count int     `json:"count"`
}

type miss struct {
	Name   string  `json:"name"`
	Stan   float64 `json:"stan_over_fast"`
	ByHand float64 `json:"fast_over_by_hand"`
	Bound  string  `json:"bound"`
}

// conclude computes what follows from the rows.
func (r *report) conclude() {
	var stan, hand []float64
	for _, w := range r.Rows {
		m := miss{Name: w.Name, Stan: ratio(w.StanNS, w.FastNS), ByHand: ratio(w.FastNS, w.ByHandNS)}
		if m.Stan > 0 {
			stan = append(stan, m.Stan)
		}
		if m.ByHand > 0 {
			hand = append(hand, m.ByHand)
		}
		if m.Stan > 0 && m.Stan < barStan || m.ByHand > barByHand {
			m.Bound = bounds[w.Name]
			r.Missing = append(r.Missing, m)
		}
	}
	r.Stan, r.ByHand = geometric(stan), geometric(hand)
}

// ratio is a/b, or 0 if one of them is not known.
func ratio(a, b float64) float64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	return a / b
}

func geometric(v []float64) mean {
	if len(v) == 0 {
		return mean{}
	}
	s := 0.0
	for _, x := range v {
		s += math.Log(x)
	}
	return mean{math.Exp(s / float64(len(v))), len(v)}
}

func (r *report) markdown() string {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "Measured on %s by `go run ./internal/cmd/enginebench`: %s, %d cores, %s %s/%s. ", r.Date, m.CPU, m.Cores, m.Go, m.OS, m.Arch)
	fmt.Fprintf(&b, "Times are per log density with gradient: the least CPU time of short batches in turn, over %d rounds; ", r.Rounds)
	b.WriteString("bind and ready (from the texts of model and data to the first gradient) are least wall times. " +
		"Fast is what users run, reference is ad's evaluator on the same differentiated graph, by hand is scalar Go for this very model, ops are those of the graph.\n\n")

	b.WriteString("| workload | | dim | ops | fast | reference | by hand | Stan | Stan ÷ fast | fast ÷ by hand | allocs | bind, ms | ready, ms | Stan's compile, s |\n")
	b.WriteString("| --- | --- " + strings.Repeat("| --: ", 12) + "|\n")
	for _, w := range r.Rows {
		cells := []string{w.Name, w.About, count(w.Dim), count(w.Ops), duration(w.FastNS), duration(w.ReferenceNS), duration(w.ByHandNS), duration(w.StanNS),
			number(ratio(w.StanNS, w.FastNS)), number(ratio(w.FastNS, w.ByHandNS)), strconv.FormatFloat(w.Allocs, 'g', 3, 64), number(w.BindMS), number(w.ReadyMS), number(w.StanCompileS)}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	b.WriteByte('\n')
	if r.Stan.Count > 0 {
		fmt.Fprintf(&b, "- Geometric mean of Stan ÷ fast over %d workloads: **%s** (bar: at least %v).\n", r.Stan.Count, number(r.Stan.Ratio), barStanMean)
	}
	if r.ByHand.Count > 0 {
		fmt.Fprintf(&b, "- Geometric mean of fast ÷ by hand over %d workloads: **%s**.\n", r.ByHand.Count, number(r.ByHand.Ratio))
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
	fmt.Fprintf(&b, "\nMisses: slower than %v× Stan, or more than %v times the gradient by hand.\n\n", barStan, barByHand)
	for _, m := range r.Missing {
		bound := m.Bound
		if bound == "" {
			bound = "not looked into yet"
		}
		fmt.Fprintf(&b, "- **%s**: ", m.Name)
		if m.Stan > 0 {
			fmt.Fprintf(&b, "%s× Stan, ", number(m.Stan))
		}
		fmt.Fprintf(&b, "%s times by hand. What bounds it: %s.\n", number(m.ByHand), bound)
	}
	if len(r.Missing) == 0 {
		b.WriteString("None.\n")
	}
	return b.String()
}

// number has three significant digits; 0 is "not known".
func number(v float64) string {
	switch {
	case v <= 0:
		return "–"
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, 2-int(math.Floor(math.Log10(v)))), 64)
}

func count(n int) string {
	if n == 0 {
		return "–"
	}
	return strconv.Itoa(n)
}

// duration shows nanoseconds.
func duration(ns float64) string {
	switch {
	case ns <= 0:
		return "–"
	case ns < 1e3:
		return number(ns) + " ns"
	case ns < 1e6:
		return number(ns/1e3) + " µs"
	}
	return number(ns/1e6) + " ms"
}

const (
	beginMarker = "<!-- enginebench: begin; what stands here is written by internal/cmd/enginebench -->"
	endMarker   = "<!-- enginebench: end -->"
)

// writeBetween puts text between the markers of a file, which is made with its
// folder if it does not exist.
func writeBetween(file, text string) error {
	old, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = []byte("# The engine, measured\n\n" + beginMarker + "\n" + endMarker + "\n")
	case err != nil:
		return err
	}
	head, rest, ok := strings.Cut(string(old), beginMarker)
	_, tail, ok2 := strings.Cut(rest, endMarker)
	if !ok || !ok2 {
		return fmt.Errorf("%s lacks the markers\n%s\n%s", file, beginMarker, endMarker)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(head+beginMarker+"\n"+text+endMarker+tail), 0o644)
}

func thisMachine() machine {
	m := machine{CPU: "unknown CPU", Cores: runtime.NumCPU(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return m
	}
	defer f.Close()
	cores := 0 // the machine's, not those that this process may use
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		switch strings.TrimSpace(name) {
		case "model name":
			m.CPU = strings.TrimSpace(value)
		case "processor":
			cores++
		}
	}
	m.Cores = max(m.Cores, cores)
	return m
}
