// Command agreement compares compiled log densities with the reference evaluator, in the same way
// as runs do, and measures the cost. For each posterior of posteriordb, of the benchmark suite, and
// of folders of programs, it prints the verdicts at a few points and the time that they took.
//
//	PPL_POSTERIORDB=…/posterior_database go run ./compile/internal/cmd/agreement
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/contest"
	"github.com/ppl-lang/ppl/internal/benchsuite"
	"github.com/ppl-lang/ppl/internal/planted"
	"github.com/ppl-lang/ppl/lang/format"
	"github.com/ppl-lang/ppl/lang/source"
)

func main() {
	log.SetFlags(0)
	os.Setenv(planted.Panics, "1")
	points := flag.Int("points", 4, "points of each posterior")
	radius := flag.Float64("radius", 1, "coordinates are drawn from -radius to radius")
	allowed := flag.Duration("allowed", time.Minute, "time of a comparison")
	only := flag.String("only", "", "posteriors whose names have this part")
	gradients := flag.Float64("gradients", 20000, "gradients of a run, all chains together: a twentieth of their time is what a run may spend")
	limit := flag.Duration("limit", 10*time.Hour, "no further posterior is begun after this time; those with few data come first")
	flag.Parse()
	var list []contest.Posterior
	for _, w := range benchsuite.All() {
		values, _ := w.Make()
		b, err := json.Marshal(values)
		if err != nil {
			log.Fatal(err)
		}
		list = append(list, contest.Posterior{Name: "benchmark " + w.Name, Text: w.Source().Text, Data: string(b)})
	}
	if folder := os.Getenv("PPL_POSTERIORDB"); folder != "" {
		more, err := contest.Posteriors(folder)
		if err != nil {
			log.Fatal(err)
		}
		list = append(list, more...)
	} else {
		log.Print("posteriordb is left out: PPL_POSTERIORDB does not name a checkout's folder posterior_database")
	}
	slices.SortStableFunc(list, func(a, b contest.Posterior) int { return cmp.Compare(len(a.Data), len(b.Data)) })
	s := &summary{perRun: *gradients}
	begin := time.Now()
	fmt.Println("posterior\tdimension\tbind ms\tgradient µs\treference ms\tcomparison ms\tverdicts\texcess")
	for _, p := range list {
		switch {
		case !strings.Contains(p.Name, *only):
		case time.Since(begin) > *limit:
			s.left = append(s.left, p.Name)
		default:
			s.posterior(p, *points, *radius, *allowed)
		}
	}
	s.print()
}

// summary contains the results for all posteriors.
type summary struct {
	perRun                              float64 // gradients
	posteriors, wrong, compared, within int
	reference, comparison, gradients    []float64
	over, left                          []string // that take longer than a run has time for; that were left out
}

// atOnce is the time that a run may spend on its first comparison.
const atOnce = 20 * time.Millisecond

func (s *summary) posterior(p contest.Posterior, points int, radius float64, allowed time.Duration) {
	text := p.Text
	if upgraded, list := format.Upgrade(source.NewFile(p.Name, text), compile.Known); !list.HasErrors() {
		text = upgraded
	}
	prog, list := compile.Compile(source.NewFile(p.Name, text))
	if prog == nil {
		fmt.Printf("%s\tdoes not compile: %v\n", p.Name, list[0])
		return
	}
	set, err := data.ParseJSON("data", []byte(p.Data))
	if err != nil {
		fmt.Printf("%s\t%v\n", p.Name, err)
		return
	}
	begin := time.Now()
	m, err := prog.Bind(set, compile.BindOptions{})
	if err != nil {
		fmt.Printf("%s\tdoes not bind: %v\n", p.Name, err)
		return
	}
	bind := time.Since(begin)
	rng := rand.New(rand.NewPCG(1, 2))
	x, grad := make([]float64, m.Dim()), make([]float64, m.Dim())
	s.posteriors++
	var verdicts []string
	var took, each []float64
	gradient, excess := 0.0, 0.0
	wrong, good := "", false
	for range points {
		for range 20 { // find a point that the program accepts
			for i := range x {
				x[i] = radius * (2*rng.Float64() - 1)
			}
			begin := time.Now()
			lp, err := m.LogDensityGrad(x, grad)
			gradient = float64(time.Since(begin).Nanoseconds()) / 1e3
			if err == nil && lp-lp == 0 {
				break
			}
		}
		a, err := m.Agree(x, rng, allowed)
		if err != nil {
			verdicts = append(verdicts, "error: "+err.Error())
			continue
		}
		v := a.Verdict.String()
		if a.Verdict == compile.Agrees && !a.Sloped {
			v += " without slope"
		}
		if a.Reason != "" {
			v += " (" + a.Reason + ")"
		}
		verdicts = append(verdicts, v)
		excess = max(excess, a.Excess())
		good = good || a.Verdict == compile.Agrees
		if a.Evaluations > 0 {
			took = append(took, 1e3*a.Elapsed.Seconds())
			each = append(each, 1e3*a.Elapsed.Seconds()/float64(a.Evaluations))
		}
		if a.Wrong() {
			wrong = fmt.Sprintf("\n    %+v", *a)
		}
	}
	slices.Sort(verdicts)
	fmt.Printf("%s\t%d\t%.1f\t%.1f\t%.3f\t%.2f\t%s\t%.3g%s\n", p.Name, m.Dim(), 1e3*bind.Seconds(), gradient, median(each), median(took), strings.Join(slices.Compact(verdicts), ", "), excess, wrong)
	if wrong != "" {
		s.wrong++
	}
	if good {
		s.compared++
	}
	if budget := max(1e3*atOnce.Seconds(), 0.05*s.perRun*gradient/1e3); len(took) > 0 && median(took) <= budget && good {
		s.within++
	} else {
		s.over = append(s.over, fmt.Sprintf("%s (%.0f of %.0f ms)", p.Name, median(took), budget))
	}
	s.reference, s.comparison = append(s.reference, median(each)), append(s.comparison, median(took))
	s.gradients = append(s.gradients, 1e3*median(took)/gradient)
}

func (s *summary) print() {
	if s.posteriors == 0 {
		return
	}
	fmt.Printf("%d posteriors, %d of them compared, %d (%.1f %%) whole in %v or a twentieth of %.0f gradients; %d disagree\n",
		s.posteriors, s.compared, s.within, 100*float64(s.within)/float64(s.posteriors), atOnce, s.perRun, s.wrong)
	fmt.Printf("not whole: %s\nleft out: %s\n", strings.Join(s.over, ", "), strings.Join(s.left, ", "))
	fmt.Printf("one evaluation of the reference: median %.3f ms, at most %.1f ms\n", median(s.reference), slices.Max(s.reference))
	fmt.Printf("a comparison: median %.3f ms, at most %.1f ms; in gradients: median %.0f, at most %.0f\n", median(s.comparison), slices.Max(s.comparison), median(s.gradients), slices.Max(s.gradients))
}

func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	y := slices.Sorted(slices.Values(x))
	return y[len(y)/2]
}
