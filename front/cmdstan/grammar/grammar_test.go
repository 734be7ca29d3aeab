package grammar

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// parse parses a command line and returns its output.
func parse(line string) (c *Config, outcome Outcome, stdout, stderr string) {
	var out, wrong strings.Builder
	c, outcome = Parse("./m", strings.Fields(line), Table("1"), &out, &wrong)
	return c, outcome, out.String(), wrong.String()
}

// TestDefaults compares the printed defaults with those in CmdStan's documentation, since front
// ends read these lines.
func TestDefaults(t *testing.T) {
	c, outcome, stdout, stderr := parse("sample random seed=7")
	if outcome != Run || stdout != "" || stderr != "" {
		t.Fatalf("outcome %d, %q, %q", outcome, stdout, stderr)
	}
	const want = `method = sample (Default)
  sample
    num_samples = 1000 (Default)
    num_warmup = 1000 (Default)
    save_warmup = false (Default)
    thin = 1 (Default)
    adapt
      engaged = true (Default)
      gamma = 0.05 (Default)
      delta = 0.8 (Default)
      kappa = 0.75 (Default)
      t0 = 10 (Default)
      init_buffer = 75 (Default)
      term_buffer = 50 (Default)
      window = 25 (Default)
      save_metric = false (Default)
    algorithm = hmc (Default)
      hmc
        engine = nuts (Default)
          nuts
            max_depth = 10 (Default)
        metric = diag_e (Default)
        metric_file =  (Default)
        stepsize = 1 (Default)
        stepsize_jitter = 0 (Default)
    num_chains = 1 (Default)
id = 1 (Default)
data
  file =  (Default)
init = 2 (Default)
random
  seed = 7
output
  file = output.csv (Default)
  diagnostic_file =  (Default)
  refresh = 100 (Default)
  sig_figs = 8 (Default)
  profile_file = profile.csv (Default)
  save_cmdstan_config = false (Default)
num_threads = 1 (Default)`
	if got := strings.Join(c.Lines(), "\n"); got != want {
		t.Errorf("got\n%s", got)
	}
}

// TestMethods checks the lines in which other methods differ.
func TestMethods(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"optimize algorithm=bfgs init_alpha=0.002 tol_obj=1e-9 iter=50", `method = optimize
  optimize
    algorithm = bfgs
      bfgs
        init_alpha = 0.002
        tol_obj = 1e-09
        tol_rel_obj = 10000 (Default)
        tol_grad = 1e-08 (Default)
        tol_rel_grad = 1e+07 (Default)
        tol_param = 1e-08 (Default)
    jacobian = false (Default)
    iter = 50
    save_iterations = false (Default)`},
		{"method=sample algorithm=hmc metric=dense_e stepsize=0.5 engine=nuts max_depth=12 adapt delta=0.95 num_chains=2", `method = sample (Default)
  sample
    num_samples = 1000 (Default)
    num_warmup = 1000 (Default)
    save_warmup = false (Default)
    thin = 1 (Default)
    adapt
      engaged = true (Default)
      gamma = 0.05 (Default)
      delta = 0.95`},
		{"variational algorithm=fullrank adapt iter=20 engaged=0", `method = variational
  variational
    algorithm = fullrank
    iter = 10000 (Default)
    grad_samples = 1 (Default)
    elbo_samples = 100 (Default)
    eta = 1 (Default)
    adapt
      engaged = false
      iter = 20
    tol_rel_obj = 0.01 (Default)
    eval_elbo = 100 (Default)
    output_samples = 1000 (Default)`},
		{"laplace mode=m.csv draws=10", "method = laplace\n  laplace\n    mode = m.csv\n    jacobian = true (Default)\n    draws = 10\n    calculate_lp = true (Default)"},
		{"log_prob jacobian=0 constrained_params=p.json", "method = log_prob\n  log_prob\n    unconstrained_params =  (Default)\n    constrained_params = p.json\n    jacobian = false"},
		{"diagnose test=gradient epsilon=1e-5", "method = diagnose\n  diagnose\n    test = gradient (Default)\n      gradient\n        epsilon = 1e-05\n        error = 1e-06 (Default)"},
		{"generate_quantities fitted_params=f.csv", "method = generate_quantities\n  generate_quantities\n    fitted_params = f.csv\n    num_chains = 1 (Default)"},
	} {
		config, outcome, _, stderr := parse(c.line)
		if outcome != Run {
			t.Errorf("%s: refused: %s", c.line, stderr)
			continue
		}
		if got := strings.Join(config.Lines(), "\n"); !strings.HasPrefix(got, c.want+"\n") {
			t.Errorf("%s:\n%s", c.line, got)
		}
	}
}

// TestRefused checks that errors are reported in CmdStan's words.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ line, stderr string }{
		{"data file=x.json", "A method must be specified!\n"},
		{"sample num_samples=-1", "-1 is not a valid value for \"num_samples\"\n  Valid values: 0 <= num_samples\n"},
		{"sample num_samples=x", "x is not a valid value for \"num_samples\"\n  Valid values: 0 <= num_samples\n"},
		{"sample num_samples=1.5", "1.5 is not a valid value for \"num_samples\"\n  Valid values: 0 <= num_samples\n"},
		{"sample adapt delta=1.5", "1.5 is not a valid value for \"delta\"\n  Valid values: 0.1 <= delta <= 1\n"},
		{"sample save_warmup=yes", "yes is not a valid value for \"save_warmup\"\n  Valid values: [0, 1, false, true]\n"},
		{"sample algorithm=rwm", "rwm is not a valid value for \"algorithm\"\n  Valid values: hmc, fixed_param\n"},
		{"optimize algorithm=newton history_size=3",
			"history_size=3 is either mistyped or misplaced.\nPerhaps you meant one of the following valid configurations?\n" +
				"  method=optimize algorithm=lbfgs history_size=<int>\n  method=pathfinder history_size=<int>\n"},
		{"sample nonsense", "nonsense is either mistyped or misplaced.\n"},
		{"sample id=1 id=2", "id=2 is either mistyped or misplaced.\nPerhaps you meant one of the following valid configurations?\n  id=<int>\n"},
		{"sample output sig_figs=19", "19 is not a valid value for \"sig_figs\"\n  Valid values: 0 <= integer <= 18 or -1 to use default precision\n"},
		{"sample random seed=4294967296",
			"4294967296 is not a valid value for \"seed\"\n  Valid values: non-negative integer < 4294967296  or -1 to generate seed from system time\n"},
		{"method=nothing", "nothing is not a valid value for \"method\"\n" +
			"  Valid values: sample, optimize, variational, diagnose, generate_quantities, pathfinder, log_prob, laplace\n"},
		{"sample opencl", "opencl is either mistyped or misplaced.\nRe-compile the model with STAN_OPENCL to use OpenCL CmdStan arguments.\n"},
	} {
		_, outcome, _, stderr := parse(c.line)
		if outcome != Refuse || stderr != c.stderr {
			t.Errorf("%s: outcome %d:\n%s", c.line, outcome, stderr)
		}
	}
	if _, outcome, stdout, stderr := parse(""); outcome != Refuse || stderr != "" || !strings.HasPrefix(stdout, "Usage: ./m <arg1> ") {
		t.Errorf("no arguments: outcome %d, %q, %q", outcome, stdout, stderr)
	}
}

// TestHelp checks that help is printed wherever a command line asks for it, and that nothing else
// is done then.
func TestHelp(t *testing.T) {
	for line, want := range map[string]string{
		"help":                      "Usage: ./m ",
		"help-all":                  "  method=<list element>\n    What is to be done\n",
		"sample help":               "sample\n  Draw from the posterior by Markov chains\n  Valid subarguments: num_samples, num_warmup, save_warmup, thin, adapt, algorithm, num_chains\n\n",
		"sample adapt help":         "adapt\n  Adaptation in warm-up\n",
		"sample algorithm help":     "algorithm=<list element>\n",
		"sample thin help":          "thin=<int>\n  Write each draw of so many\n  Valid values: 0 < thin\n  Defaults to 1\n\n",
		"sample data file=x help":   "",
		"optimize help-all":         "optimize\n",
		"sample num_samples=5 help": "sample\n",
	} {
		_, outcome, stdout, stderr := parse(line)
		if outcome != Helped && want != "" || stderr != "" || !strings.HasPrefix(stdout, want) {
			t.Errorf("%s: outcome %d:\n%s%s", line, outcome, stdout, stderr)
		}
	}
	if _, outcome, _, _ := parse("info"); outcome != Asked {
		t.Errorf("info: outcome %d", outcome)
	}
}

// TestHelpAllIsRead parses the output of help-all as CmdStanR does to find the defaults: sections
// by indentation, name=<type>, "Defaults to".
func TestHelpAllIsRead(t *testing.T) {
	_, _, stdout, _ := parse("sample help-all")
	lines := strings.Split(stdout, "\n")
	for name, want := range map[string]string{"    max_depth=<int>": "1", "  num_samples=<int>": "1000"} {
		i := slices.Index(lines, name)
		for i < 0 && len(name) < 40 {
			name = "  " + name
			i = slices.Index(lines, name)
		}
		if i < 0 || i+3 >= len(lines) || !strings.Contains(lines[i+3], "Defaults to "+want) {
			t.Errorf("%s: no default", name)
		}
	}
}

// TestTable checks that every row of the table is complete, with a default that is allowed.
func TestTable(t *testing.T) {
	var look func(a *Argument, path string)
	look = func(a *Argument, path string) {
		path += "." + a.Name
		if a.Help == "" || a.Help[0] >= 'a' && a.Help[0] <= 'z' && len(strings.Fields(a.Help)) == 1 {
			t.Errorf("%s: help %q", path, a.Help)
		}
		switch a.Kind {
		case Group, Leaf:
		case Choice:
			if a.child(a.Default) == nil {
				t.Errorf("%s: no default %s", path, a.Default)
			}
		default:
			if v, ok := a.read(a.Default); !ok || v != a.Default {
				t.Errorf("%s: default %q reads as %q", path, a.Default, v)
			}
			if a.Valid == "" {
				t.Errorf("%s: its values are not told", path)
			}
		}
		for _, c := range a.Args {
			look(c, path)
		}
	}
	for _, a := range Table("1") {
		look(a, "")
	}
}

func TestJSON(t *testing.T) {
	c, _, _, _ := parse("sample algorithm=hmc metric=unit_e adapt delta=0.9 random seed=3 data file=a\"b.json")
	text := c.AppendJSON([]byte("{\n"), "  ")
	text = append(text, '}')
	var got struct {
		Method struct {
			Value  string
			Sample struct {
				Samples   int `json:"num_samples"`
				Adapt     struct{ Delta float64 }
				Algorithm struct {
					Value string
					HMC   struct {
						Metric struct{ Value string }
						Engine struct {
							Value string
							NUTS  struct {
								Depth int `json:"max_depth"`
							}
						}
					}
				}
			}
		}
		Data   struct{ File string }
		Random struct{ Seed int }
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	m := got.Method
	if m.Value != "sample" || m.Sample.Samples != 1000 || m.Sample.Adapt.Delta != 0.9 || m.Sample.Algorithm.HMC.Metric.Value != "unit_e" ||
		m.Sample.Algorithm.HMC.Engine.NUTS.Depth != 10 || got.Data.File != `a"b.json` || got.Random.Seed != 3 {
		t.Errorf("%+v\n%s", got, text)
	}
}

// TestOwnEngines checks that samplers that CmdStan does not have are accepted with their options.
func TestOwnEngines(t *testing.T) {
	c, outcome, _, stderr := parse("sample algorithm=hmc engine=ahmc batches=7")
	if outcome != Run || c.Text("method.sample.algorithm.hmc.engine") != "ahmc" || c.Text("method.sample.algorithm.hmc.engine.ahmc.batches") != "7" {
		t.Fatalf("outcome %d: %s", outcome, stderr)
	}
	c, _, _, _ = parse("sample")
	if err := c.SetWithin("method.sample.algorithm.hmc", []string{"engine=ahmc", "batches=5", "metric=dense_e"}); err != nil {
		t.Fatal(err)
	}
	if got := c.GivenPaths(); !slices.Contains(got, "method.sample.algorithm.hmc.engine.ahmc.batches") || !c.IsGiven("method.sample.algorithm.hmc.metric") {
		t.Errorf("given %v", got)
	}
	if err := c.SetWithin("method.sample.algorithm.hmc", []string{"engine=nosuch"}); err == nil || !strings.Contains(err.Error(), "nosuch is not a valid value") {
		t.Errorf("error %v", err)
	}
}
