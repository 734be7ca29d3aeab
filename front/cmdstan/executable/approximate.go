package executable

//lint:file-ignore ST1005 errors are in CmdStan's words, which front ends look for

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/front/cmdstan/grammar"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/optimize"
	"github.com/ppl-lang/ppl/model"
)

func (r *run) checkLaplace() error {
	if r.text("laplace.mode") == "" {
		return errors.New("Missing mode argument, cannot get laplace sample without parameter estimates theta-hat")
	}
	return nil
}

func (r *run) laplace(p *model.Posterior) error {
	mode, err := r.mode(p)
	if err != nil {
		return err
	}
	n := r.integer("laplace.draws")
	if n == 0 {
		return errors.New("Number of draws must be > 0; found draws = 0")
	}
	if r.refresh() > 0 {
		r.say("Calculating Hessian")
	}
	result, err := optimize.Laplace(r.ctx, p, mode, infer.Stream(r.config.Seed(), r.id, "laplace", 0),
		optimize.LaplaceOptions{Draws: n, NoLogDensity: !r.flag("laplace.calculate_lp")})
	if err != nil {
		return err
	}
	r.visited = append([][]float64{mode}, result.Points...)
	if name := r.config.Text("output.diagnostic_file"); name != "" {
		if err := r.writeHessian(r.fileNames(name, "", ".json")[0], result); err != nil {
			return err
		}
	}
	if r.refresh() > 0 {
		r.say("Calculating inverse of Cholesky factor\nGenerating draws")
		for i := 0; i < n; i += r.refresh() {
			r.say("iteration: %d", i)
		}
	}
	return r.writeDraws(p, r.config.Text("output.file"), []string{"log_p__", "log_q__"}, result.Points,
		func(i int) []float64 { return []float64{result.LogP[i], result.LogQ[i]} }, nil, nil)
}

// writeHessian writes the results at the mode as JSON.
func (r *run) writeHessian(path string, result *optimize.LaplaceResult) error {
	dim := len(result.Mode)
	rows := make([][]float64, dim)
	for i := range rows {
		rows[i] = result.Hessian[i*dim : (i+1)*dim]
	}
	text, err := json.Marshal(map[string]any{"lp_mode": result.LogDensity, "gradient": result.Gradient, "Hessian": rows})
	if err != nil {
		return err
	}
	return replaceFile(path, append(text, '\n'))
}

// mode reads the point that the argument mode gives.
func (r *run) mode(p *model.Posterior) ([]float64, error) {
	name := r.text("laplace.mode")
	var x []float64
	switch _, suffix := splitSuffix(name); suffix {
	case ".json":
		values, err := r.readValues(name)
		if err != nil {
			return nil, err
		}
		if x, err = p.Unconstrain(values); err != nil {
			return nil, fmt.Errorf("%w\nBad or missing parameter values, cannot unconstrain.", err)
		}
	case ".csv":
		c, err := r.readCSV(name)
		if err != nil {
			return nil, err
		}
		if c.method != "optimize" {
			return nil, errors.New("CSV file is not output from Stan optimization")
		}
		columns, err := c.parameters(p, name)
		if err != nil {
			return nil, err
		}
		if len(c.rows) == 0 {
			return nil, fmt.Errorf("CSV file is incomplete, expecting at least %d columns.", len(columns)+1)
		}
		if x, err = c.point(p, columns, len(c.rows)-1); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("Mode file must be CSV or JSON, found %s", name)
	}
	for i, v := range x {
		if v != v {
			return nil, fmt.Errorf("variable does not exist; processing stage=parameter initialization; variable name=%s\nBad or missing parameter values, cannot unconstrain.",
				p.UnconstrainedNames()[i])
		}
	}
	return x, nil
}

// writeDraws writes a file with the draws of an approximation. row returns the statistics of a
// draw, whose columns come first.
func (r *run) writeDraws(p *model.Posterior, path string, columns []string, points [][]float64, row func(int) []float64, before, after []string) error {
	file, err := r.create(path, statistics(columns...), p.OutputNames(), nil)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Comment(before...); err != nil {
		return err
	}
	dst := make([]float64, len(p.OutputNames()))
	for i, x := range points {
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		r.values(p, x, infer.Stream(r.config.Seed(), r.id, "generate", uint64(i)), dst)
		if err := file.Row(row(i), dst); err != nil {
			return err
		}
	}
	return file.FinishWith(after...)
}

func (r *run) pathfinder(p *model.Posterior) error {
	if p.Dim() == 0 {
		return errNoParameters("Pathfinder")
	}
	options := r.climbing("pathfinder.")
	options.History, options.Iterations = r.integer("pathfinder.history_size"), r.integer("pathfinder.max_lbfgs_iters")
	perPath, resampled := r.integer("pathfinder.num_draws"), r.integer("pathfinder.num_psis_draws")
	if resampled > perPath*r.chains {
		r.say("Warning: Number of PSIS draws is larger than the total number of draws returned by the single Pathfinders. " +
			"This is likely unintentional and leads to re-sampling from the same draws.")
	}
	start, err := r.starts(p)
	if err != nil {
		return err
	}
	at := infer.At{}
	for path := range r.chains {
		x, err := r.find(p, start, path, false)
		if err != nil { // the other paths may succeed
			r.complain("%s\nPathfinder iteration: %d failed.", exception(err, r.words), path)
			continue
		}
		at.Positions = append(at.Positions, x)
	}
	if len(at.Positions) == 0 {
		r.say("No pathfinders ran successfully")
		return status(1)
	}
	lp := r.flag("pathfinder.calculate_lp")
	single := r.chains == 1
	resample := r.flag("pathfinder.psis_resample") && lp && !single
	begun := time.Now()
	result, err := optimize.Pathfinder(r.ctx, p, optimize.PathfinderOptions{
		PathOptions: optimize.PathOptions{Options: options, Draws: perPath, ELBODraws: r.integer("pathfinder.num_elbo_draws"), NoLogDensity: !lp},
		Paths:       len(at.Positions), Resampled: resampled, NoResample: !resample, Init: at, Seed: r.config.Seed(), FirstID: r.firstID(),
	})
	if err != nil {
		if r.ctx.Err() == nil {
			r.say("No pathfinders ran successfully")
		}
		return err
	}
	r.visited = result.Points
	took := time.Since(begun)
	var evaluations int64
	for i, path := range result.Paths {
		evaluations += path.Evaluations
		if path.Err != nil {
			r.complain("Path [%d] :%s\nPathfinder iteration: %d failed.", r.id+i, path.Err, i)
			continue
		}
		if r.refresh() > 0 {
			r.say("Path [%d] :Best Iter: [%d] ELBO (%s) evaluations: (%d)", r.id+i, path.Best, number(path.ELBO), path.Evaluations)
		}
	}
	if r.refresh() > 0 && !single {
		r.say("Total log probability function evaluations:%d", evaluations)
	}
	if err := r.savePaths(p, result, single); err != nil {
		return err
	}
	after := elapsed(took, "Total")
	if resample {
		after = elapsed(took, "Pathfinders", time.Duration(0), "PSIS", took, "Total")
	}
	if single {
		return r.writeDraws(p, r.config.Text("output.file"), []string{"lp_approx__", "lp__"}, result.Points,
			func(i int) []float64 { return []float64{result.LogQ[i], result.LogP[i]} }, nil, after)
	}
	from := r.pathsOf(result)
	return r.writeDraws(p, r.config.Text("output.file"), []string{"lp_approx__", "lp__", "path__"}, result.Points,
		func(i int) []float64 { return []float64{result.LogQ[i], result.LogP[i], from(i)} }, nil, after)
}

// pathsOf returns a function that finds the path of each draw. It compares the points by address,
// since resampling does not keep the paths.
func (r *run) pathsOf(result *optimize.PathfinderResult) func(i int) float64 {
	path := map[*float64]int{}
	for _, p := range result.Paths {
		for _, x := range p.Points {
			path[&x[0]] = p.ID
		}
	}
	return func(i int) float64 { return float64(path[&result.Points[i][0]]) }
}

// withSuffix adds .csv to a name without a suffix.
func withSuffix(name string) string {
	if _, suffix := splitSuffix(name); suffix == "" {
		name += ".csv"
	}
	return name
}

// savePaths writes the draws of each path, if the arguments ask for them.
func (r *run) savePaths(p *model.Posterior, result *optimize.PathfinderResult, single bool) error {
	diagnostics := r.config.Text("output.diagnostic_file")
	if !r.flag("pathfinder.save_single_paths") && diagnostics == "" {
		return nil
	}
	output := r.config.Text("output.file")
	if diagnostics == "" {
		diagnostics = output
	}
	tag := "_path"
	if single {
		tag = ""
	}
	csv, details := r.fileNames(output, tag, ".csv"), r.fileNames(diagnostics, tag, ".json")
	for i, path := range result.Paths {
		if path.Err != nil {
			continue
		}
		if !single {
			err := r.writeDraws(p, csv[i], []string{"lp_approx__", "lp__"}, path.Points,
				func(i int) []float64 { return []float64{path.LogQ[i], path.LogP[i]} }, nil, nil)
			if err != nil {
				return err
			}
		}
		text, err := json.Marshal(map[string]any{"0": map[string]any{
			"iter": path.Best, "unconstrained_parameters": path.Mean, "ELBO": finiteOrNil(path.ELBO), "lbfgs_success": true,
		}})
		if err != nil {
			return err
		}
		if err := replaceFile(details[i], append(text, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// finiteOrNil returns nil for numbers that JSON cannot represent.
func finiteOrNil(x float64) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return x
}

func (r *run) variational(p *model.Posterior) error {
	if p.Dim() == 0 {
		return errNoParameters("variational inference")
	}
	r.say("------------------------------------------------------------\nEXPERIMENTAL ALGORITHM:\n" +
		"  This procedure has not been thoroughly tested and may be unstable\n  or buggy. The interface is subject to change.\n" +
		"------------------------------------------------------------\n\n")
	x, err := r.single(p, true)
	if err != nil {
		return err
	}
	adapt := r.flag("variational.adapt.engaged")
	options := optimize.VariationalOptions{
		Family:        optimize.Family(r.text("variational.algorithm")),
		Iterations:    r.integer("variational.iter"),
		GradientDraws: r.integer("variational.grad_samples"), ELBODraws: r.integer("variational.elbo_samples"),
		EvalELBO: r.integer("variational.eval_elbo"), TolRelObj: r.real("variational.tol_rel_obj"),
		AdaptIter: r.integer("variational.adapt.iter"), Draws: r.integer("variational.output_samples"),
	}
	if !adapt {
		options.Eta = r.real("variational.eta")
	}
	if adapt {
		r.say("Begin eta adaptation.")
	}
	begun := false
	since := time.Now()
	options.Progress = func(e optimize.ELBO) {
		r.iterations = append(r.iterations, []float64{float64(e.Iteration), time.Since(since).Seconds(), e.Value})
		if !begun {
			begun = true
			r.say("Begin stochastic gradient ascent.\n  iter             ELBO   delta_ELBO_mean   delta_ELBO_med   notes ")
		}
		r.say("%6d  %15.3f  %16.3f  %15.3f   %s", e.Iteration, e.Value, e.Mean, e.Median, e.Note)
	}
	result, err := optimize.Variational(r.ctx, p, x, infer.Stream(r.config.Seed(), r.id, "variational", 0), options)
	if err != nil {
		return err
	}
	r.visited = append([][]float64{result.Mean}, result.Points...)
	if !result.Converged {
		r.say("Informational Message: The maximum number of iterations is reached! The algorithm may not have converged.\n" +
			"This variational approximation is not guaranteed to be meaningful.")
	}
	var before []string
	if adapt {
		before = []string{"Stepsize adaptation complete.", "eta = " + grammar.Number(result.Eta, 6)}
	}
	r.say("\nDrawing a sample of size %d from the approximate posterior... ", len(result.Points))
	err = r.writeDraws(p, r.config.Text("output.file"), []string{"lp__", "log_p__", "log_g__"}, append([][]float64{result.Mean}, result.Points...),
		func(i int) []float64 {
			if i == 0 {
				return []float64{0, 0, 0} // the mean of the approximation
			}
			return []float64{0, result.LogP[i-1], result.LogQ[i-1]}
		}, before, nil)
	if err != nil {
		return err
	}
	r.say("COMPLETED.")
	return nil
}

// unconstrain returns the unconstrained point for values from a file, which must have all
// parameters.
func (r *run) unconstrain(p *model.Posterior, values *data.Set) ([]float64, error) {
	x, err := p.Unconstrain(values)
	if err != nil {
		return nil, fmt.Errorf("%w\nBad or missing parameter values, cannot unconstrain.", err)
	}
	for i, v := range x {
		if v != v {
			return nil, fmt.Errorf("variable does not exist; processing stage=parameter initialization; variable name=%s\nBad or missing parameter values, cannot unconstrain.",
				strings.SplitN(p.UnconstrainedNames()[i], ".", 2)[0])
		}
	}
	return x, nil
}
