package fit_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/model"
)

// strangers are models of several kinds, with data of any number of rows: one whose machine code
// has loops, one that is interpreted, one that runs much before its first evaluation, and one that
// is refused.
var strangers = []struct {
	text string
	data func(n int) map[string]any
}{
	{`data { int N; vector[N] x; array[N] int y; } parameters { real a; real b; vector[N] e; }
model { a ~ normal(0, 1); b ~ normal(0, 1); e ~ normal(0, 1); for (n in 1:N) y[n] ~ poisson_log(a + b * x[n] + 0.1 * e[n]); }
generated quantities { array[N] int z = poisson_log_rng(a + b * x + 0.1 * e); }`,
		func(n int) map[string]any {
			x, y := make([]float64, n), make([]int, n)
			for i := range n {
				x[i], y[i] = float64(i%7)/7, i%4
			}
			return map[string]any{"N": n, "x": x, "y": y}
		}},
	{`functions { real f(real u, int depth) { if (u < 0.1 || depth > 20) return u; return 1 + f(u * 0.5, depth + 1); } }
data { int N; } parameters { real<lower=0, upper=1> u; } model { target += -square(f(u, 0) - N % 5); }`,
		func(n int) map[string]any { return map[string]any{"N": n} }},
	{`data { int N; } transformed data { matrix[N, N] m = add_diag(rep_matrix(0.5, N, N), 1); matrix[N, N] l = cholesky_decompose(m); real s = 0; for (i in 1:N) for (j in 1:N) s += l[i, j]; }
parameters { vector[N] z; } model { z ~ std_normal(); } generated quantities { vector[N] w = l * z + s; print(s); }`,
		func(n int) map[string]any { return map[string]any{"N": n} }},
	{`data { int N; } transformed data { vector[N * 100000000] v; } parameters { real z; } model { z ~ std_normal(); }`,
		func(n int) map[string]any { return map[string]any{"N": n} }},
}

// footprint is the memory and the goroutines that a process uses.
type footprint struct {
	heap, goroutines  int
	executable, pages int // mappings of generated machine code, and their bytes
}

func measure(t *testing.T) footprint {
	runtime.GC()
	runtime.GC() // collect what cleanups have released
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	f := footprint{heap: int(s.HeapAlloc), goroutines: runtime.NumGoroutine()}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return f // another system
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to, offset, inode int
		var rights, device string
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x %s %x %s %d", &from, &to, &rights, &offset, &device, &inode); n == 6 && strings.Contains(rights, "x") && inode == 0 {
			f.executable++
			f.pages += to - from
		}
	}
	return f
}

// TestManyBinds checks that memory, executable memory and the number of goroutines do not grow when
// models are compiled, bound and evaluated repeatedly. PPL_BINDS sets how often.
func TestManyBinds(t *testing.T) {
	n := short.Of(400, 100)
	if s := os.Getenv("PPL_BINDS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	once := func(i int) {
		s := strangers[i%len(strangers)]
		m, err := model.Compile("stranger.stan", s.text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.BindContext(t.Context(), s.data(5+i%30), model.BindOptions{Memory: 100e6, Print: func(string) {}})
		if err != nil {
			if i%len(strangers) != 3 {
				t.Fatal(err)
			}
			return
		}
		x, grad := make([]float64, p.Dim()), make([]float64, p.Dim())
		for range 3 {
			if _, err := p.LogDensityGrad(x, grad); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Constrain(x); err != nil {
				t.Fatal(err)
			}
			if err := p.Generate(x, rng, make([]float64, len(p.OutputNames()))); err != nil {
				t.Fatal(err)
			}
		}
		c := p.Clone()
		_, _ = c.LogDensityGrad(x, grad)
	}
	for i := range n / 4 {
		once(i)
	}
	before := measure(t)
	for i := range n {
		once(i)
	}
	var after footprint
	for range 20 { // cleanups run beside
		after = measure(t)
		if after.executable <= before.executable+5 && after.goroutines <= before.goroutines {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("%d binds: heap %d to %d kB, goroutines %d to %d, executable mappings %d to %d (%d to %d kB)", n,
		before.heap>>10, after.heap>>10, before.goroutines, after.goroutines, before.executable, after.executable, before.pages>>10, after.pages>>10)
	if after.heap > before.heap+2<<20 || after.goroutines > before.goroutines+1 || after.executable > before.executable+5 {
		t.Errorf("%+v has become %+v", before, after)
	}
}

// TestStress runs many goroutines that compile, bind, evaluate, sample, cancel and generate on
// shared models. It takes half a second, or the time PPL_STRESS. It is for the race detector, and
// checks that each goroutine gets the same results as alone.
func TestStress(t *testing.T) {
	limit := 500 * time.Millisecond
	if s := os.Getenv("PPL_STRESS"); s != "" {
		var err error
		if limit, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	var models []*model.Model
	var posteriors []*model.Posterior
	for _, s := range strangers[:3] {
		m, err := model.Compile("stranger.stan", s.text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Bind(s.data(12))
		if err != nil {
			t.Fatal(err)
		}
		models, posteriors = append(models, m), append(posteriors, p)
	}
	// With refined steps, the interpreted recursion would take 3 s of processor time per run.
	options := func(i int) fit.Options {
		o := fit.Options{Chains: 2, Warmup: 30, Draws: 10, Seed: 3}
		if i == 1 {
			o.Sampler = nuts.Sampler{MaxDepth: 3}
		}
		return o
	}
	alone := map[int][]float64{}
	var fits []*fit.Fit
	for i, p := range posteriors {
		fit, err := fit.Sample(t.Context(), p, options(i))
		if err != nil {
			t.Fatal(err)
		}
		fits, alone[i] = append(fits, fit), fit.Draws.Column(nil, 1, 0)
	}
	shared, err := data.FromGo(strangers[0].data(12))
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	done := map[string]int{}
	var mu sync.Mutex
	end := time.Now().Add(limit)
	for g := range 8 {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			for first := true; first || time.Now().Before(end); first = false {
				i := rng.IntN(3)
				what := []string{"compile", "bind", "evaluate", "sample", "cancel", "generate", "summarise"}[(g+rng.IntN(7))%7]
				mu.Lock()
				done[what]++
				mu.Unlock()
				switch what {
				case "compile":
					s := strangers[rng.IntN(len(strangers))]
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rng.IntN(3))*time.Millisecond)
					if _, err := model.CompileContext(ctx, "stranger.stan", s.text, model.CompileOptions{}); err != nil && !errors.Is(err, context.DeadlineExceeded) {
						t.Error(err)
					}
					cancel()
				case "bind":
					if _, err := models[0].BindContext(t.Context(), shared, model.BindOptions{Memory: 50e6}); err != nil {
						t.Error(err)
					}
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rng.IntN(3))*time.Millisecond)
					if _, err := models[i].BindContext(ctx, strangers[i].data(40), model.BindOptions{}); err != nil && !errors.Is(err, context.DeadlineExceeded) {
						t.Error(err)
					}
					cancel()
				case "evaluate":
					c := posteriors[i].CloneDensity()
					x, grad := make([]float64, c.Dim()), make([]float64, c.Dim())
					if _, err := c.LogDensityGrad(x, grad); err != nil {
						t.Error(err)
					}
					g := c.(infer.Generator)
					if err := g.Generate(x, rng, make([]float64, len(g.OutputNames()))); err != nil {
						t.Error(err)
					}
				case "sample":
					fit, err := fit.Sample(t.Context(), posteriors[i], options(i))
					if err != nil {
						t.Error(err)
						return
					}
					for k, v := range fit.Draws.Column(nil, 1, 0) {
						if v != alone[i][k] {
							t.Errorf("model %d: draw %d is %v, but alone it was %v", i, k, v, alone[i][k])
							break
						}
					}
				case "cancel":
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rng.IntN(20))*time.Millisecond)
					o := fit.Options{Chains: 3, Warmup: 1000, Draws: 1000, Seed: 1}
					o.Sampler = []infer.Sampler{nuts.Sampler{}, hmc.Sampler{}}[rng.IntN(2)]
					_, _ = fit.Sample(ctx, posteriors[i], o)
					cancel()
				case "generate":
					if _, err := fit.Generate(t.Context(), posteriors[i], fits[i], fit.GenerateOptions{Seed: 2}); err != nil {
						t.Error(err)
					}
				case "summarise":
					_, _ = fits[i].Summary(), fits[i].Findings()
				}
			}
		})
	}
	wait.Wait()
	t.Log(done)
}
