package executable

import (
	"fmt"

	"github.com/ppl-lang/ppl/front/cmdstan/grammar"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/optimize"
	"github.com/ppl-lang/ppl/model"
)

// climbing reads the options of L-BFGS or BFGS. Their paths in the table begin with path.
func (r *run) climbing(path string) optimize.Options {
	tolerance := func(name string) float64 {
		if x := r.real(path + name); x != 0 {
			return x
		}
		return -1 // none; 0 would be the default
	}
	return optimize.Options{
		InitAlpha: r.real(path + "init_alpha"),
		TolObj:    tolerance("tol_obj"), TolRelObj: tolerance("tol_rel_obj"),
		TolGrad: tolerance("tol_grad"), TolRelGrad: tolerance("tol_rel_grad"),
		TolParam: tolerance("tol_param"),
	}
}

func (r *run) optimize(p *model.Posterior) error {
	algorithm := r.text("optimize.algorithm")
	options := optimize.Options{Algorithm: optimize.Newton}
	if algorithm != "newton" {
		path := "optimize.algorithm." + algorithm + "."
		options = r.climbing(path)
		options.Algorithm = optimize.Algorithm(algorithm)
		if algorithm == "lbfgs" {
			options.History = r.integer(path + "history_size")
		}
	}
	options.Iterations = r.integer("optimize.iter")
	x, err := r.single(p, false)
	if err != nil {
		return err
	}
	file, err := r.create(r.config.Text("output.file"), statistics("lp__"), p.OutputNames(), nil)
	if err != nil {
		return err
	}
	defer file.Close()
	w := &climbWriter{run: r, file: file, posterior: p, all: r.flag("optimize.save_iterations"), newton: algorithm == "newton"}
	options.Progress = w.iteration
	result, err := optimize.Maximize(r.ctx, p, x, options)
	if err != nil {
		return err
	}
	r.evaluations, r.generated, r.point = result.Evaluations, 1, result.X
	r.visited = [][]float64{result.X}
	if w.err == nil && (!w.all || w.written != result.Iterations+1) {
		w.row(result.LogDensity, result.X)
	}
	if w.err != nil {
		return w.err
	}
	if !w.newton {
		if result.Reason < 0 {
			// If CmdStanR reads this on the standard output, it assumes that the optimisation
			// succeeded.
			r.complain("Optimization terminated with error: \n  %s", result.Reason)
		} else {
			r.say("Optimization terminated normally: \n  %s", result.Reason)
		}
	}
	if err := file.FinishWith(); err != nil {
		return err
	}
	if result.Reason < 0 {
		return status(1)
	}
	return nil
}

// climbWriter writes the progress of an optimisation to the console and to its file.
type climbWriter struct {
	*run
	file      *draws.File
	posterior *model.Posterior
	all       bool // write each iteration
	newton    bool
	written   int
	last      float64
	err       error
}

// row writes a row of the file.
func (w *climbWriter) row(lp float64, x []float64) {
	dst := make([]float64, len(w.posterior.OutputNames()))
	w.values(w.posterior, x, infer.Stream(w.config.Seed(), w.id, "generate", uint64(w.written)), dst)
	w.written++
	w.err = w.file.Row([]float64{lp}, dst)
}

func (w *climbWriter) iteration(i *optimize.Iteration) {
	if w.all && w.err == nil {
		w.row(i.LogDensity, i.X)
	}
	refresh := w.refresh()
	improved := i.LogDensity - w.last
	w.last = i.LogDensity
	switch {
	case i.Number == 0:
		w.say("Initial log joint probability = %s", grammar.Number(i.LogDensity, 6))
		if refresh > 0 && !w.newton {
			w.say("%s", climbHeader)
		}
		return
	case w.newton:
		w.say("Iteration %2d. Log joint probability = %10s. Improved by %s.", i.Number, grammar.Number(i.LogDensity, 6), grammar.Number(improved, 6))
		return
	case refresh == 0:
		return
	}
	if i.Note != "" || i.Number == 1 || i.Number%refresh == 0 {
		w.say(" %7d  %12s  %12s  %12s  %10s  %10s  %7d  %s ", i.Number, grammar.Number(i.LogDensity, 6), grammar.Number(i.Step, 6),
			grammar.Number(i.GradientNorm(), 6), grammar.Number(i.Alpha, 4), grammar.Number(i.Alpha0, 4), i.Evaluations, i.Note)
	}
	if i.Number%refresh == 0 {
		w.say("%s", climbHeader)
	}
}

const climbHeader = "    Iter      log prob        ||dx||      ||grad||       alpha      alpha0  # evals  Notes "

// number formats a number for the console.
func number(x float64) string { return fmt.Sprintf("%.6g", x) }
