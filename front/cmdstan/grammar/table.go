package grammar

import (
	"flag"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/infer/sampler"
)

// Table returns the arguments of an executable, in the order in which they are printed. threads is
// the default of num_threads.
func Table(threads string) []*Argument {
	return []*Argument{
		choice("method", "What is to be done", "sample",
			sampleArguments(), optimizeArguments(), variationalArguments(), diagnoseArguments(),
			generateArguments(), pathfinderArguments(), logProbArguments(), laplaceArguments()),
		notNegativeInt("id", "Number of the chain, or of the first of several", "1"),
		group("data", "Where the data are",
			text("file", "File with the data; the name of one in JSON ends in .json", "", "Path to existing file")),
		text("init", "Where to start: a number x for random points within [-x, x] on the unconstrained scale, 0 for zero; or a file with values", "2",
			"All"),
		group("random", "Random numbers",
			number(Seed, "seed", "Seed of the random numbers", "-1", "non-negative integer < 4294967296  or -1 to generate seed from system time",
				func(x float64) bool { return x >= -1 && x < 1<<32 })),
		group("output", "What is written, and where",
			text("file", "File for the results", "output.csv", "Path to existing file"),
			text("diagnostic_file", "File for unconstrained values, momenta and gradients", "", "Path to existing file"),
			notNegativeInt("refresh", "Iterations between lines of progress", "100"),
			number(Int, "sig_figs", "Significant digits of the results", "8", "0 <= integer <= 18 or -1 to use default precision",
				func(x float64) bool { return x >= -1 && x <= 18 }),
			text("profile_file", "File for the times of profile statements", "profile.csv", "Valid path and write acces to the folder"),
			boolean("save_cmdstan_config", "Write the configuration as JSON too?", false)),
		number(Int, "num_threads", "Threads that the chains and the model may use; -1: as many as there are cores", threads, "num_threads > 0 || num_threads == -1",
			func(x float64) bool { return x > 0 || x == -1 }),
	}
}

func sampleArguments() *Argument {
	engines := append([]*Argument{
		group("static", "Hamiltonian Monte Carlo with trajectories of fixed length",
			positiveReal("int_time", "Length of a trajectory in time", "6.28318530717959")),
		group("nuts", "The no-U-turn sampler",
			positiveInt("max_depth", "Largest depth of a tree", "10")),
	}, ownEngines()...)
	return group("sample", "Draw from the posterior by Markov chains",
		notNegativeInt("num_samples", "Draws after warm-up", "1000"),
		notNegativeInt("num_warmup", "Iterations of warm-up", "1000"),
		boolean("save_warmup", "Write the draws of warm-up too?", false),
		positiveInt("thin", "Write each draw of so many", "1"),
		group("adapt", "Adaptation in warm-up",
			boolean("engaged", "Adapt step size and metric?", true),
			positiveReal("gamma", "How strongly dual averaging shrinks", "0.05"),
			number(Real, "delta", "Mean acceptance statistic to aim at", "0.8", "0.1 <= delta <= 1", func(x float64) bool { return x >= 0.1 && x <= 1 }),
			positiveReal("kappa", "How fast dual averaging forgets", "0.75"),
			positiveReal("t0", "How much the first iterations count", "10"),
			number(Uint, "init_buffer", "Iterations at the start in which only the step size is adapted", "75", "All", nil),
			number(Uint, "term_buffer", "The same at the end", "50", "All", nil),
			number(Uint, "window", "Length of the first window in which the metric is learnt", "25", "All", nil),
			boolean("save_metric", "Write step size and metric as JSON?", false)),
		choice("algorithm", "How to draw", "hmc",
			group("hmc", "Hamiltonian Monte Carlo",
				choice("engine", "How trajectories are made", "nuts", engines...),
				choice("metric", "Geometry of the space", "diag_e",
					leaf("unit_e", "The identity"), leaf("diag_e", "A diagonal matrix"), leaf("dense_e", "A full matrix"),
					leaf("fisher", "The expected Fisher information of the model, at each point"),
					leaf("softabs", "The absolute curvature of the density, at each point")),
				text("metric_file", "File with a metric to start from", "", "Path to existing file"),
				positiveReal("stepsize", "Step size to start from", "1"),
				number(Real, "stepsize_jitter", "Random relative variation of the step size", "0", "0 <= stepsize_jitter <= 1", func(x float64) bool { return x >= 0 && x <= 1 })),
			leaf("fixed_param", "Stay at the start, and compute generated quantities")),
		positiveInt("num_chains", "Number of chains", "1"))
}

// common lists the options of ppl's own engines that are not repeated below the engine, since
// CmdStan has an argument for them elsewhere.
var common = []string{"metric", "stepsize", "stepsize_jitter", "max_depth", "delta", "gamma", "kappa", "t0", "init_buffer", "term_buffer", "window", "init_radius"}

// ownEngines returns the samplers that CmdStan does not have, with their options. All accept
// max_depth, even samplers without trees, since front ends expect it.
func ownEngines() []*Argument {
	var engines []*Argument
	for _, row := range sampler.Table() {
		if slices.Contains([]string{"nuts", "hmc", "fixed_param"}, row.Name) {
			continue
		}
		e := group(row.Name, strings.TrimSuffix(row.Doc, "."), positiveInt("max_depth", "Largest depth of a tree", "10"))
		fs := flag.NewFlagSet(row.Name, flag.ContinueOnError)
		row.Options(fs)
		fs.VisitAll(func(f *flag.Flag) {
			name := FromFlag(f.Name)
			if slices.Contains(common, name) {
				return
			}
			usage, _, _ := strings.Cut(f.Usage, " (default ")
			e.Args = append(e.Args, text(name, usage, f.DefValue, "All"))
		})
		engines = append(engines, e)
	}
	return engines
}

// FromFlag converts the name of an option in package sampler to a name in the table.
func FromFlag(name string) string { return strings.ReplaceAll(name, "-", "_") }

// ToFlag converts a name in the table to the name of an option in package sampler.
func ToFlag(name string) string { return strings.ReplaceAll(name, "_", "-") }

func quasiNewton() []*Argument {
	return []*Argument{
		positiveReal("init_alpha", "First step of the first line search", "0.001"),
		number(Real, "tol_obj", "End where the log density changes by less", "1e-12", "0 <= tol_obj", notNegative),
		number(Real, "tol_rel_obj", "End where its relative change is smaller, in multiples of the machine epsilon", "10000", "0 <= tol_rel_obj", notNegative),
		number(Real, "tol_grad", "End where the norm of the gradient is smaller", "1e-08", "0 <= tol_grad", notNegative),
		number(Real, "tol_rel_grad", "End where the relative gradient is smaller, in multiples of the machine epsilon", "10000000", "0 <= tol_rel_grad", notNegative),
		number(Real, "tol_param", "End where the parameters change by less", "1e-08", "0 <= tol_param", notNegative),
	}
}

func limitedMemory() []*Argument {
	return append(quasiNewton(), positiveInt("history_size", "Steps that the inverse Hessian is made of", "5"))
}

func optimizeArguments() *Argument {
	return group("optimize", "Find the mode",
		choice("algorithm", "How to climb", "lbfgs",
			group("bfgs", "BFGS with line search", quasiNewton()...),
			group("lbfgs", "L-BFGS with line search", limitedMemory()...),
			leaf("newton", "Newton's method")),
		boolean("jacobian", "Add the log Jacobians of the constraints? Then it is the mode on the unconstrained scale", false),
		positiveInt("iter", "Iterations at most", "2000"),
		boolean("save_iterations", "Write every iteration?", false))
}

func variationalArguments() *Argument {
	return group("variational", "Fit a normal distribution by stochastic gradients",
		choice("algorithm", "Family of distributions", "meanfield",
			leaf("meanfield", "Independent coordinates"), leaf("fullrank", "Any covariance")),
		positiveInt("iter", "Iterations at most", "10000"),
		positiveInt("grad_samples", "Draws for a gradient", "1"),
		positiveInt("elbo_samples", "Draws for an estimate of the evidence lower bound", "100"),
		positiveReal("eta", "Scale of the steps", "1"),
		group("adapt", "Adaptation of the steps",
			boolean("engaged", "Find eta by trial?", true),
			positiveInt("iter", "Iterations of a trial", "50")),
		positiveReal("tol_rel_obj", "End where the bound changes by less, relatively", "0.01"),
		positiveInt("eval_elbo", "Iterations between estimates of the bound", "100"),
		positiveInt("output_samples", "Draws to write", "1000"))
}

func pathfinderArguments() *Argument {
	return group("pathfinder", "Approximate the posterior along paths to the mode", append(limitedMemory(),
		positiveInt("num_psis_draws", "Draws after importance resampling", "1000"),
		positiveInt("num_paths", "Number of paths", "4"),
		boolean("save_single_paths", "Write the draws of each path too?", false),
		boolean("psis_resample", "Resample the draws of all paths by importance?", true),
		boolean("calculate_lp", "Compute the log density of all draws?", true),
		positiveInt("max_lbfgs_iters", "Iterations of L-BFGS at most", "1000"),
		positiveInt("num_draws", "Draws of a path", "1000"),
		positiveInt("num_elbo_draws", "Draws that approximations are compared by", "25"))...)
}

func laplaceArguments() *Argument {
	return group("laplace", "Draw from the normal approximation at the mode",
		text("mode", "File with the mode: the CSV file of optimize, or JSON", "", "Path to existing file"),
		boolean("jacobian", "Was the mode found with the log Jacobians of the constraints?", true),
		notNegativeInt("draws", "Number of draws", "1000"),
		boolean("calculate_lp", "Compute the log density of the draws?", true))
}

func generateArguments() *Argument {
	return group("generate_quantities", "Compute generated quantities at draws that there are",
		text("fitted_params", "CSV file with the draws", "", "Path to existing file"),
		positiveInt("num_chains", "Number of chains", "1"))
}

func logProbArguments() *Argument {
	return group("log_prob", "Log density and gradient at given points",
		text("unconstrained_params", "File with unconstrained points, params_r, in JSON", "", "Path to existing file"),
		text("constrained_params", "File with values of the parameters, CSV or JSON", "", "Path to existing file"),
		boolean("jacobian", "Add the log Jacobians of the constraints?", true))
}

func diagnoseArguments() *Argument {
	return group("diagnose", "Check the model",
		choice("test", "What to check", "gradient",
			group("gradient", "Compare the gradient with finite differences",
				positiveReal("epsilon", "Step of the differences", "1e-06"),
				positiveReal("error", "Differences to complain about", "1e-06"))))
}
