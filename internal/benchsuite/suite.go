package benchsuite

import (
	"embed"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

//go:embed models/*.model
var models embed.FS

// Gradient returns the log density at the unconstrained point x and writes its gradient to grad. It
// has scratch memory, so only one goroutine may use it.
type Gradient func(x, grad []float64) float64

// Workload is a model with data.
type Workload struct {
	Name  string
	About string
	Model string // file in models, without its suffix
	// Make generates the data (a struct for data.FromGo and for JSON) and returns the hand-written
	// gradient, or nil if there is none.
	Make func() (any, Gradient)
	// OwnTransform reports that a parameter has the transform of Stan 2.37 and later, so that
	// gradients of older versions differ at the same point.
	OwnTransform bool
	// Copied reports that ad's evaluator, which copies an array whenever an element changes, would
	// take gigabytes. These workloads are not compared with it.
	Copied bool
}

// All returns all workloads of the suite.
func All() []Workload {
	return []Workload{
		{Name: "eight_schools", About: "8 groups, non-centred", Model: "eight_schools",
			Make: func() (any, Gradient) { return schools(8) }},
		{Name: "logistic", About: "logistic regression, 1000 × 24", Model: "logistic",
			Make: func() (any, Gradient) { return logistic(1000, 24) }},
		{Name: "hierarchical", About: "hierarchical regression, 12 500 rows, 386 groups", Model: "hierarchical",
			Make: func() (any, Gradient) { return hierarchical(12500, 386) }},
		{Name: "hierarchical_loop", About: "the same, a loop over the rows", Model: "hierarchical_loop",
			Make: func() (any, Gradient) { return hierarchical(12500, 386) }},
		{Name: "volatility", About: "stochastic volatility, 2000 days", Model: "volatility",
			Make: func() (any, Gradient) { return volatility(2000) }},
		{Name: "volatility_noncentred", About: "the same, by innovations", Model: "volatility_noncentred",
			Make: func() (any, Gradient) { return volatilityNoncentred(2000) }},
		{Name: "garch_200", About: "GARCH(1,1), 200 days", Model: "garch",
			Make: func() (any, Gradient) { return garch(200) }},
		{Name: "garch_2000", About: "GARCH(1,1), 2000 days", Model: "garch",
			Make: func() (any, Gradient) { return garch(2000) }},
		{Name: "moving_average", About: "moving average of 5 shocks, in place, 500 days", Model: "moving_average",
			Make: func() (any, Gradient) { return movingAverage(500, 5) }},
		{Name: "renewal", About: "renewal equation, 300 days", Model: "renewal",
			Make: func() (any, Gradient) { return renewal(300) }},
		{Name: "successes", About: "Poisson-binomial table of 200 trials", Model: "successes",
			Make: func() (any, Gradient) { return successes(200) }},
		{Name: "mixture_2", About: "mixture of 2 normals, 1000 rows", Model: "mixture", OwnTransform: true,
			Make: func() (any, Gradient) { return mixture(1000, 2) }},
		{Name: "mixture_5", About: "mixture of 5 normals, 1000 rows", Model: "mixture", OwnTransform: true,
			Make: func() (any, Gradient) { return mixture(1000, 5) }},
		{Name: "hmm", About: "hidden Markov model, 3 states, 400 steps", Model: "hmm", OwnTransform: true,
			Make: func() (any, Gradient) { return hmm(400, 3) }},
		{Name: "regression", About: "linear regression, 5000 × 25", Model: "regression",
			Make: func() (any, Gradient) { return regression(5000, 25) }},
		{Name: "gaussian_process", About: "Gaussian process, 100 points", Model: "gaussian_process",
			Make: func() (any, Gradient) { return gaussianProcess(100) }},
		{Name: "irt_2pl", About: "item response, 100 persons, 50 items", Model: "irt_2pl",
			Make: func() (any, Gradient) { return itemResponse(100, 50) }},
		{Name: "poisson_glmm", About: "Poisson regression, 2000 rows, 4 predictors, 100 groups", Model: "poisson_glmm",
			Make: func() (any, Gradient) { return poissonGLMM(2000, 4, 100) }},
		{Name: "horseshoe", About: "horseshoe regression, 300 × 200", Model: "horseshoe",
			Make: func() (any, Gradient) { return horseshoe(300, 200) }},
		{Name: "factors", About: "factor model, 500 rows, 10 outcomes, 3 factors", Model: "factors",
			Make: func() (any, Gradient) { return factors(500, 10, 3) }},
		{Name: "sir", About: "epidemic of 14 days, ode_rk45, 3 states", Model: "sir",
			Make: func() (any, Gradient) { return epidemic(14) }},
		{Name: "lotka_volterra", About: "predators and prey, 20 years, ode_rk45, 2 states", Model: "lotka_volterra",
			Make: func() (any, Gradient) { return predators(20) }},
		{Name: "robertson", About: "stiff reaction, 10 times, ode_bdf, 3 states", Model: "robertson",
			Make: func() (any, Gradient) { return robertson(10) }},
		{Name: "pharmacokinetics", About: "20 subjects, 8 times, matrix exponentials of order 3", Model: "pharmacokinetics",
			Make: func() (any, Gradient) { return pharmacokinetics(20, 8) }},
		{Name: "areas", About: "counts on a map of 20 × 25 areas, effects of neighbours (BYM2)", Model: "areas",
			Make: func() (any, Gradient) { return areas(20, 25) }},
		{Name: "network", About: "neural network, 500 rows, 10 inputs, 8 hidden units", Model: "network",
			Make: func() (any, Gradient) { return network(500, 10, 8) }},
		{Name: "splines", About: "splines for location and scale, 500 rows, 20 coefficients", Model: "splines",
			Make: func() (any, Gradient) { return splines(500, 20) }},
		{Name: "hmm_4", About: "hidden Markov model, 4 states, 1000 steps", Model: "hmm", OwnTransform: true,
			Make: func() (any, Gradient) { return hmm(1000, 4) }},
		{Name: "hmm_marginal_4", About: "the same by hmm_marginal", Model: "hmm_marginal", OwnTransform: true,
			Make: func() (any, Gradient) { return hmm(1000, 4) }},
		{Name: "hmm_20", About: "hidden Markov model, 20 states, 1000 steps", Model: "hmm", OwnTransform: true,
			Make: func() (any, Gradient) { return hmm(1000, 20) }},
		{Name: "hmm_20_5000", About: "the same, 5000 steps", Model: "hmm", OwnTransform: true,
			Make: func() (any, Gradient) { return hmm(5000, 20) }},
		{Name: "moving_average_2000", About: "moving average of 5 shocks, in place, 2000 days", Model: "moving_average",
			Make: func() (any, Gradient) { return movingAverage(2000, 5) }},
		{Name: "renewal_100", About: "renewal equation, 100 days", Model: "renewal",
			Make: func() (any, Gradient) { return renewal(100) }},
		{Name: "alignment", About: "alignment of two sequences of 100 letters", Model: "alignment", Copied: true,
			Make: func() (any, Gradient) { return alignment(100) }},
		{Name: "alignment_400", About: "alignment of two sequences of 400 letters", Model: "alignment", Copied: true,
			Make: func() (any, Gradient) { return alignment(400) }},
		{Name: "cholesky", About: "Gaussian process of 80 points, Cholesky factor by loops", Model: "cholesky", Copied: true,
			Make: func() (any, Gradient) { return processByLoops(80) }},
		{Name: "semi_markov", About: "hidden semi-Markov model, 200 steps, 3 states, durations to 20", Model: "semi_markov", Copied: true, OwnTransform: true,
			Make: func() (any, Gradient) { return semiMarkov(200, 3, 20) }},
		{Name: "particles", About: "200 steps of 200 particles", Model: "particles", Copied: true,
			Make: func() (any, Gradient) { return particles(200, 200) }},
	}
}

// Source returns the text of the model.
func (w Workload) Source() *source.File {
	name := "models/" + w.Model + ".model"
	text, err := models.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("benchsuite: workload %s has no model: %v", w.Name, err))
	}
	return source.NewFile(w.Model+".model", string(text))
}

// Compile compiles the model.
func (w Workload) Compile() (*compile.Program, error) {
	p, list := compile.Compile(w.Source())
	for _, d := range list {
		if d.Severity != diag.Error {
			continue
		}
		return nil, fmt.Errorf("%s, line %d: %s", w.Model, d.Span.Begin().Line, d.Summary)
	}
	return p, nil
}

// Bound is a workload that is ready to run.
type Bound struct {
	Workload
	Program *compile.Program
	Data    any       // as generated
	Set     *data.Set // the same data in the form for Bind
	Model   *compile.Model
	ByHand  Gradient
}

// Bind compiles the model and binds it to its data.
func (w Workload) Bind() (*Bound, error) {
	p, err := w.Compile()
	if err != nil {
		return nil, err
	}
	b := &Bound{Workload: w, Program: p}
	b.Data, b.ByHand = w.Make()
	if b.Set, err = data.FromGo(b.Data); err != nil {
		return nil, fmt.Errorf("%s: %w", w.Name, err)
	}
	if b.Model, err = p.Bind(b.Set, compile.BindOptions{}); err != nil {
		return nil, fmt.Errorf("%s: %w", w.Name, err)
	}
	return b, nil
}

// Reference evaluates the differentiated graph by ad's own evaluator. It returns nil if that would
// take too much memory.
func (b *Bound) Reference() Gradient {
	if b.Copied {
		return nil
	}
	g := b.Model.DensityGraph()
	inputs := make([][]float64, len(g.Inputs))
	env := &ad.Env{}
	return func(x, grad []float64) float64 {
		at := 0
		for i, r := range g.Inputs {
			n := g.Type(r).Total()
			inputs[i] = x[at : at+n]
			at += n
		}
		out, err := g.Eval(inputs, env)
		if err != nil {
			return math.NaN()
		}
		at = 0
		for _, v := range out[1:] {
			at += copy(grad[at:], v)
		}
		return out[0][0]
	}
}

// Ops returns the number of operations of the differentiated graph: nodes other than inputs and
// constants. Those in the bodies of loops and branches count once.
func (b *Bound) Ops() int { return countOps(b.Model.DensityGraph()) }

func countOps(g *ad.Graph) int {
	n := 0
	live := g.Live(g.Outputs, true)
	for i := range g.Nodes {
		node := &g.Nodes[i]
		if !live[i] || node.Op == ad.OpInput || node.Op == ad.OpConst {
			continue
		}
		n++
		for _, body := range node.Bodies() {
			n += countOps(body)
		}
	}
	return n
}

// Points returns unconstrained points with a finite density: three uniform in (-2, 2), as at the
// start of sampling, and three in (-0.5, 0.5), as later.
func (b *Bound) Points() ([][]float64, error) {
	rng := rand.New(rand.NewPCG(20, 26))
	grad := make([]float64, b.Model.Dim())
	var points [][]float64
	for attempt := 0; len(points) < 6; attempt++ {
		if attempt == 200 {
			return nil, fmt.Errorf("%s: no point with a finite density", b.Name)
		}
		radius := 2.0
		if len(points) >= 3 {
			radius = 0.5
		}
		x := make([]float64, b.Model.Dim())
		for i := range x {
			x[i] = radius * (2*rng.Float64() - 1)
		}
		if lp, err := b.Model.LogDensityGrad(x, grad); err == nil && !math.IsInf(lp, 0) && !math.IsNaN(lp) {
			points = append(points, x)
		}
	}
	return points, nil
}

// Rebind binds the compiled model to its data again, for timing.
func (b *Bound) Rebind() error {
	_, err := b.Program.Bind(b.Set, compile.BindOptions{})
	return err
}
