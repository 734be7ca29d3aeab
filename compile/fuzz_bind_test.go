package compile_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/contest"
	"github.com/ppl-lang/ppl/lang/source"
)

// Limits of FuzzBind. The budget of bytes does not count garbage that Go's collector has not freed,
// and a heavily loaded machine is slow.
const (
	fuzzMemory     = 64e6
	fuzzStatements = 200_000
	fuzzTime       = 2 * time.Second  // time after which an input is stopped
	fuzzPatience   = 20 * time.Second // processor time after which an input counts as endless
	fuzzHeap       = 1 << 30          // largest growth of the process in one input
)

// hostile are statements that ask for too much, and recursions.
var hostile = []string{
	"while (1) { }", "{ vector[2147483647] h; }", "{ array[70000, 70000] int h; }", "for (h in 1:2147483647) { }",
	"{ matrix[3000, 3000] h = rep_matrix(1, 3000, 3000); h = h * h; }", "{ vector[9] h; for (i in 1:2000000000) h[1 + i % 9] = i; }",
	"{ array[2] vector[3] h; h[3][1] = 1; }", "for (h in -2147483647:2147483647) print(h);", "reject(2147483647 + 1);",
	"{ real h = 0; while (h < 1) h += 1e-9; }", "{ vector[3] h = cumulative_sum(rep_vector(1e308, 3)); print(h, h'); }",
}

var anInteger = regexp.MustCompile(`\b\d+\b`)

// vary changes a program at a few places. It changes its meaning a little, as package contest does,
// or makes it ask for more.
func vary(text string, seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 7))
	for n := seed % 4; n > 0; n-- {
		switch rng.IntN(4) {
		case 0:
			numbers := anInteger.FindAllStringIndex(text, -1)
			if len(numbers) > 0 {
				at := numbers[rng.IntN(len(numbers))]
				big := []string{"0", "-1", "1000", "46341", "65536", "1000000", "2147483647", "4", "1e300", "2147483648"}
				text = text[:at[0]] + big[rng.IntN(len(big))] + text[at[1]:]
			}
		case 1:
			ends := regexp.MustCompile(`[;{}]\n`).FindAllStringIndex(text, -1)
			if len(ends) > 0 {
				at := ends[rng.IntN(len(ends))][1]
				text = text[:at] + hostile[rng.IntN(len(hostile))] + "\n" + text[at:]
			}
		default:
			text, _ = contest.Mutate(text, rng.Uint64())
		}
	}
	return text
}

// seedPrograms returns the programs of the repository with their data, reduced to few rows.
func seedPrograms(t testing.TB) (list [][2]string) {
	for _, pattern := range []string{"testdata/found/*.model", "testdata/functions/*.model", "internal/bind/testdata/loops/*.model"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal("no programs", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(text), "\n")
			list = append(list, [2]string{string(text), strings.TrimPrefix(first, "// DATA ")})
		}
	}
	return slices.Concat(list, smallExamples(t), compile.DecidedPrograms())
}

// FuzzBind checks that any program with any data is either compiled, bound and evaluated, or
// refused. Both must happen quickly and within the budget, without a panic.
func FuzzBind(f *testing.F) {
	fuzzing := flag.Lookup("test.fuzz").Value.String() != ""
	for i, p := range seedPrograms(f) {
		if fuzzing || i%12 == 5 { // other tests run all of them unchanged
			f.Add(p[0], p[1], uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, text, values string, seed uint64) {
		if len(text) > 10_000 || len(values) > 10_000 {
			return
		}
		text = vary(text, seed)
		defer watch(text, values)()
		prog, _ := compile.Compile(source.NewFile("fuzz.model", text))
		if prog == nil {
			return
		}
		set, err := data.ParseJSON("fuzz.json", []byte(values))
		if err != nil {
			return
		}
		before := heapOf()
		ctx, cancel := context.WithTimeout(t.Context(), fuzzTime)
		defer cancel()
		printed := int64(0)
		o := compile.BindOptions{Memory: fuzzMemory, Statements: fuzzStatements, MaxPrint: 1 << 16, Print: func(s string) { printed += int64(len(s)) + 1 }}
		m, err := prog.BindContext(ctx, set, o)
		if err != nil {
			if e := (*compile.Error)(nil); !errors.As(err, &e) && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("an error without a place: %v\n%s\n%s", err, text, values)
			}
		} else {
			evaluateAll(ctx, m, seed)
		}
		if grown := heapOf() - before; grown > fuzzHeap {
			t.Errorf("%d MB for a budget of %d\n%s\n%s", grown>>20, int(fuzzMemory)>>20, text, values)
		}
		if printed > 2<<16 {
			t.Errorf("%d bytes are printed\n%s", printed, text)
		}
	})
}

// watch ends the process unless the returned function is called in time. Otherwise fuzzing would
// wait forever.
func watch(text, values string) (ended func()) {
	begin, done := contest.ProcessorTime(), make(chan bool)
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if contest.ProcessorTime()-begin > fuzzPatience {
					panic("this takes too long:\n" + text + "\n" + values)
				}
			}
		}
	}()
	return func() { close(done) }
}

// evaluateAll calls all methods of a model at a point, until ctx ends. They may reject the point.
func evaluateAll(ctx context.Context, m *compile.Model, seed uint64) {
	if m.Dim() > 1_000_000 || len(m.OutputNames()) > 1_000_000 {
		return
	}
	m.SetStop(func() error { return context.Cause(ctx) })
	rng := rand.New(rand.NewPCG(seed, 1))
	x, grad := make([]float64, m.Dim()), make([]float64, m.Dim())
	for range 2 {
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		_, _ = m.LogDensityGrad(x, grad)
	}
	_ = m.Constrain(x, make([]float64, len(m.ConstrainedNames())))
	out := make([]float64, len(m.OutputNames()))
	if m.Generate(x, rng, out) == nil {
		values := make([]float64, len(m.ParameterNames()))
		copy(values, out)
		_ = m.UnconstrainValues(values, x)
	}
	_ = m.HessianVector(x, grad, make([]float64, m.Dim()))
	if n := m.Dim(); n <= 20 && ctx.Err() == nil {
		_ = m.Hessian(x, make([]float64, n*n))
		_ = m.FisherMetric(x, make([]float64, n*n))
		c := m.Clone()
		_, _ = c.LogDensityGrad(x, grad)
	}
}

// heapOf returns the number of bytes that the heap has taken from the system. It never shrinks.
func heapOf() int64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapSys)
}
