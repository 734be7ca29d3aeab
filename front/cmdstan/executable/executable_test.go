package executable

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/internal/clients/rules"
	"github.com/ppl-lang/ppl/internal/planted"
)

// coin is a model with a known posterior: a beta distribution.
const coin = `data {
  int<lower=0> N;
  array[N] int<lower=0, upper=1> y;
}
parameters {
  real<lower=0, upper=1> theta;
}
model {
  profile("likelihood") {
    y ~ bernoulli(theta);
  }
}
generated quantities {
  int k = binomial_rng(10, theta);
}
`

const coinData = `{"N": 10, "y": [0, 1, 0, 0, 0, 0, 0, 0, 0, 1]}`

// folder is the folder with the data in which a test runs executables.
type folder struct {
	t   *testing.T
	dir string
	env map[string]string
}

func newFolder(t *testing.T) *folder {
	f := &folder{t, t.TempDir(), map[string]string{}}
	f.write("d.json", coinData)
	return f
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

func (f *folder) write(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(f.path(name), []byte(text), 0o666); err != nil {
		f.t.Fatal(err)
	}
}

// run runs a program. @ in the arguments is replaced by the folder.
func (f *folder) run(program, line string) (code int, stdout, stderr string) {
	return f.runContext(context.Background(), program, line)
}

func (f *folder) runContext(ctx context.Context, program, line string) (code int, stdout, stderr string) {
	var out, wrong bytes.Buffer
	args := strings.Fields(strings.ReplaceAll(line, "@", f.dir+string(filepath.Separator)))
	p := &Program{Name: "coin_model", File: "coin.stan", Text: program}
	code = Run(ctx, "./coin", p, args, Streams{Out: &out, Err: &wrong, Getenv: func(name string) string { return f.env[name] }})
	return code, out.String(), wrong.String()
}

// ok runs a program, which must succeed.
func (f *folder) ok(program, line string) string {
	f.t.Helper()
	code, stdout, stderr := f.run(program, line)
	if code != 0 {
		f.t.Fatalf("%s: exit code %d\n%s%s", line, code, stdout, stderr)
	}
	return stdout
}

// table is the content of a CSV file: the comments before and after, the names, the rows.
type table struct {
	text  string
	head  []string // comments before the names
	names []string
	rows  [][]float64
}

func (f *folder) table(name string) *table {
	f.t.Helper()
	text, err := os.ReadFile(f.path(name))
	if err != nil {
		f.t.Fatal(err)
	}
	c := &table{text: string(text)}
	for line := range strings.Lines(c.text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "#"):
			if c.names == nil {
				c.head = append(c.head, line)
			}
		case c.names == nil:
			c.names = strings.Split(line, ",")
		default:
			var row []float64
			for word := range strings.SplitSeq(line, ",") {
				v, err := strconv.ParseFloat(word, 64)
				if err != nil {
					f.t.Fatalf("%s: %v", name, err)
				}
				row = append(row, v)
			}
			if len(row) != len(c.names) {
				f.t.Fatalf("%s: a row of %d values for %d names", name, len(row), len(c.names))
			}
			c.rows = append(c.rows, row)
		}
	}
	return c
}

// column returns the values of the column with a name.
func (c *table) column(name string) []float64 {
	for i, n := range c.names {
		if n == name {
			var all []float64
			for _, row := range c.rows {
				all = append(all, row[i])
			}
			return all
		}
	}
	return nil
}

func average(all []float64) float64 {
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	return sum / float64(len(all))
}

func (f *folder) files() string {
	entries, _ := os.ReadDir(f.dir)
	var names []string
	for _, e := range entries {
		if e.Name() != "d.json" {
			names = append(names, e.Name())
		}
	}
	return strings.Join(names, " ")
}

// TestWrongDensity plants a fault in the compiler. It must be found, and the results must come from
// a program without it.
func TestWrongDensity(t *testing.T) {
	program := "parameters { real x; } model { x ~ normal(10, 1); }"
	wide := func(from float64) func(any) any { // from a point on
		return func(made any) any {
			g := made.(*ad.Graph).Fork()
			lp, x := g.Outputs[0], g.Reshape(g.Inputs[0], nil)
			g.Outputs[0] = g.Select(g.Less(g.Const(from), x), g.Scale(0.25, lp), lp)
			return g
		}
	}
	for _, from := range []float64{-1e9, 5} {
		f := newFolder(t)
		ctx := planted.With(context.Background(), &planted.Fault{Pass: "if-convert", Change: wide(from)})
		code, _, stderr := f.runContext(ctx, program, "sample num_samples=500 num_warmup=300 random seed=4 output file=@o.csv")
		x := f.table("o.csv").column("x")
		variance := 0.0
		for _, v := range x {
			variance += (v - average(x)) * (v - average(x)) / float64(len(x))
		}
		// With the fault, the standard deviation would be 2.
		if code != 0 || len(x) != 500 || math.Abs(average(x)-10) > 0.3 || math.Abs(math.Sqrt(variance)-1) > 0.2 || !strings.Contains(stderr, "without the compiler's pass if-convert") {
			t.Errorf("exit code %d, %d draws, mean %v, standard deviation %v\n%s", code, len(x), average(x), math.Sqrt(variance), stderr)
		}
	}
	f := newFolder(t)
	f.write("x.json", `{"x": 11}`)
	ctx := planted.With(context.Background(), &planted.Fault{Pass: "if-convert", Change: wide(-1e9)})
	code, _, stderr := f.runContext(ctx, program, "log_prob constrained_params=@x.json output file=@o.csv")
	if lp := f.table("o.csv").column("lp__"); code != 0 || len(lp) != 1 || lp[0] != -0.5 || !strings.Contains(stderr, "without the compiler's pass if-convert") {
		t.Errorf("exit code %d, log density %v\n%s", code, lp, stderr)
	}
	// Methods without draws compare the density at their results, too.
	moved := func(made any) any {
		g := made.(*ad.Graph).Fork()
		lp, x := g.Outputs[0], g.Reshape(g.Inputs[0], nil)
		wrong := g.Scale(-0.02, g.Mul(g.Sub(x, g.Const(13)), g.Sub(x, g.Const(13))))
		g.Outputs[0] = g.Select(g.Less(g.Const(5), x), wrong, lp)
		return g
	}
	f.write("mode.json", `{"x": 10}`)
	for _, method := range []string{"log_prob constrained_params=@x.json", "optimize", "laplace mode=@mode.json", "pathfinder", "variational", "diagnose"} {
		ctx := planted.With(context.Background(), &planted.Fault{Pass: "if-convert", Change: moved})
		line := method + " random seed=4 output file=@o.csv"
		if method == "diagnose" {
			line = method + " init=@x.json random seed=4 output file=@o.csv"
		}
		code, stdout, stderr := f.runContext(ctx, program, line)
		if code != 0 || !strings.Contains(stderr, "without the compiler's pass if-convert") {
			t.Errorf("%s: exit code %d\n%s%s", method, code, stdout, stderr)
			continue
		}
		if method == "diagnose" {
			continue
		}
		column, want, near := "x", 10.0, 0.3
		if strings.HasPrefix(method, "log_prob") {
			column, want, near = "lp__", -0.5, 0
		}
		if got := average(f.table("o.csv").column(column)); math.Abs(got-want) > near {
			t.Errorf("%s: %s is %v", method, column, got)
		}
	}
}

// TestSample compares the sampler's file and console output line by line with the formats that
// CmdStan's documentation describes.
func TestSample(t *testing.T) {
	f := newFolder(t)
	stdout := f.ok(coin, "sample num_samples=300 num_warmup=200 save_warmup=1 thin=2 data file=@d.json random seed=4 output file=@o.csv profile_file=@p.csv refresh=150")
	for _, want := range []string{
		"\n  refresh = 150\n", "\nnum_threads = 1 (Default)\n\n",
		"\nAdjust your expectations accordingly!\n\n\n",
		"\nIteration:   1 / 500 [  0%]  (Warmup)\nIteration: 150 / 500 [ 30%]  (Warmup)\nIteration: 201 / 500 [ 40%]  (Sampling)\nIteration: 350 / 500 [ 70%]  (Sampling)\nIteration: 500 / 500 [100%]  (Sampling)\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the console does not have %q:\n%s", want, stdout)
		}
	}
	for _, want := range []string{
		`(?m)^Gradient evaluation took [0-9.e-]+ seconds\n1000 transitions using 10 leapfrog steps per transition would take [0-9.e-]+ seconds\.$`,
		`(?m)^\n Elapsed Time: [0-9.e-]+ seconds \(Warm-up\)\n               [0-9.e-]+ seconds \(Sampling\)\n               [0-9.e-]+ seconds \(Total\)\n$`,
	} {
		if !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("the console does not match %s:\n%s", want, stdout)
		}
	}
	c := f.table("o.csv")
	if got := strings.Join(c.names, ","); got != "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,theta,k" {
		t.Errorf("names %s", got)
	}
	if len(c.rows) != 100+150 {
		t.Errorf("%d rows", len(c.rows))
	}
	for i, want := range []string{"# stan_version_major = 2", "# stan_version_minor = 40", "# stan_version_patch = 0", "# model = coin_model"} {
		if c.head[i] != want {
			t.Errorf("line %d is %q", i+1, c.head[i])
		}
	}
	if !regexp.MustCompile(`^# start_datetime = \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$`).MatchString(c.head[4]) {
		t.Errorf("the date is %q", c.head[4])
	}
	if last := strings.Join(c.head[len(c.head)-2:], "|"); last != "# stanc_version = stanc3 v2.40.0|# stancflags = " {
		t.Errorf("the head ends in %q", last)
	}
	adapted := `(?m)^[-0-9].*\n# Adaptation terminated\n# Step size = [0-9.]+\n# Diagonal elements of inverse mass matrix:\n# [0-9.]+\n[-0-9]`
	if !regexp.MustCompile(adapted).MatchString(c.text) {
		t.Errorf("no block between warm-up and draws:\n%s", c.text)
	}
	if got := average(c.column("theta")); math.Abs(got-0.25) > 0.05 { // of beta(3, 9)
		t.Errorf("the mean of theta is %g", got)
	}
	profile, err := os.ReadFile(f.path("p.csv"))
	if err != nil {
		t.Fatal(err)
	}
	form := regexp.MustCompile(`^name,thread_id,total_time,forward_time,reverse_time,chain_stack,no_chain_stack,autodiff_calls,no_autodiff_calls\nlikelihood,1,([0-9.e-]+),([0-9.e-]+),([0-9.e-]+),0,0,[1-9][0-9]+,300\n$`)
	if m := form.FindSubmatch(profile); m == nil {
		t.Errorf("times:\n%s", profile)
	} else {
		var times [3]float64
		for i := range times {
			times[i], _ = strconv.ParseFloat(string(m[i+1]), 64)
		}
		if total, forward, reverse := times[0], times[1], times[2]; !(forward > 0 && reverse >= 0 && math.Abs(forward+reverse-total) < 1e-6*total) {
			t.Errorf("times: %v", times)
		}
	}
}

// TestChains checks runs of several chains: numbered files, prefixed lines, and the same draws as
// in runs of a single chain.
func TestChains(t *testing.T) {
	f := newFolder(t)
	stdout := f.ok(coin, "sample num_chains=2 num_samples=50 num_warmup=50 adapt save_metric=1 id=3 data file=@d.json random seed=4 output file=@o.csv save_cmdstan_config=1 diagnostic_file=@g.csv profile_file=@p.csv num_threads=2")
	for _, want := range []string{"\nChain [3] Iteration:   1 / 100 [  1%]  (Warmup)\n", "\nChain [4] Iteration: 100 / 100 [100%]  (Sampling)\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the console does not have %q:\n%s", want, stdout)
		}
	}
	if got := f.files(); got != "g_3.csv g_4.csv o_3.csv o_4.csv o_config.json o_metric_3.json o_metric_4.json p.csv" {
		t.Errorf("files %s", got)
	}
	var metric struct {
		StepSize float64   `json:"stepsize"`
		Kind     string    `json:"metric_type"`
		Inverse  []float64 `json:"inv_metric"`
	}
	text, _ := os.ReadFile(f.path("o_metric_4.json"))
	if err := json.Unmarshal(text, &metric); err != nil || metric.Kind != "diag_e" || len(metric.Inverse) != 1 || !(metric.StepSize > 0) {
		t.Errorf("metric %s: %v", text, err)
	}
	text, _ = os.ReadFile(f.path("o_config.json"))
	var config map[string]any
	if err := json.Unmarshal(text, &config); err != nil || config["model_name"] != "coin_model" || config["id"] != 3.0 {
		t.Errorf("configuration %s: %v", text, err)
	}
	g := f.table("g_4.csv")
	if got := strings.Join(g.names, ","); got != "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,theta,p_theta,g_theta" {
		t.Errorf("names %s", got)
	}
	// The gradient of the log density with respect to logit(theta) is 3 − 12·theta (3 is k + 1).
	for i, u := range g.column("theta") {
		theta := 1 / (1 + math.Exp(-u))
		if want := 3 - 12*theta; math.Abs(g.column("g_theta")[i]-want) > 1e-6 {
			t.Fatalf("draw %d: gradient %g, not %g", i, g.column("g_theta")[i], want)
		}
		if o := f.table("o_4.csv").column("theta")[i]; math.Abs(o-theta) > 1e-7 {
			t.Fatalf("draw %d: theta %g, not %g", i, o, theta)
		}
	}
	f.ok(coin, "sample num_samples=50 num_warmup=50 id=4 data file=@d.json random seed=4 output file=@alone.csv profile_file=@p.csv")
	if fmt.Sprint(f.table("alone.csv").rows) != fmt.Sprint(f.table("o_4.csv").rows) {
		t.Error("chain 4 alone draws otherwise")
	}
}

// TestFiles reads metrics and starts from one file for all chains, from one file per chain, and
// from lists of files.
func TestFiles(t *testing.T) {
	f := newFolder(t)
	f.write("m.json", `{"inv_metric": [0.7]}`)
	f.write("i_1.json", `{"theta": 0.1}`)
	f.write("i_2.json", `{"theta": 0.9}`)
	const common = " data file=@d.json random seed=4 output file=@o.csv profile_file=@p.csv"
	f.ok(coin, "sample num_chains=2 num_samples=1 num_warmup=0 adapt engaged=0 algorithm=hmc stepsize=1e-9 metric_file=@m.json init=@i.json"+common)
	for i, want := range []float64{0.1, 0.9} {
		c := f.table(fmt.Sprintf("o_%d.csv", i+1))
		if got := c.column("theta")[0]; math.Abs(got-want) > 1e-4 {
			t.Errorf("chain %d starts at %g", i+1, got)
		}
		if !strings.Contains(c.text, "# Step size = 1e-09\n# Diagonal elements of inverse mass matrix:\n# 0.7\n") {
			t.Errorf("the metric is not that of the file:\n%s", c.text)
		}
	}
	f.ok(coin, "sample num_chains=2 num_samples=1 num_warmup=0 adapt engaged=0 algorithm=hmc stepsize=1e-9 init=@i_2.json,@i_1.json"+
		strings.Replace(common, "@o.csv", "@first.csv,@second.csv", 1))
	if got := f.table("second.csv").column("theta")[0]; math.Abs(got-0.1) > 1e-4 {
		t.Errorf("the second chain of a list starts at %g", got)
	}
	f.ok(coin, "sample num_samples=1 num_warmup=0 adapt engaged=0 algorithm=hmc stepsize=1e-9 init=0"+common)
	if got := f.table("o.csv").column("theta")[0]; math.Abs(got-0.5) > 1e-4 {
		t.Errorf("init=0 starts at %g", got)
	}
}

// TestOtherMethods checks the column names of the other methods, and results that are known.
func TestOtherMethods(t *testing.T) {
	f := newFolder(t)
	const common = " data file=@d.json random seed=4 output profile_file=@p.csv"
	stdout := f.ok(coin, "optimize"+common+" file=@mode.csv")
	if !strings.Contains(stdout, "\nOptimization terminated normally: \n  ") || !strings.Contains(stdout, "\nInitial log joint probability = -") {
		t.Errorf("console of optimize:\n%s", stdout)
	}
	mode := f.table("mode.csv")
	if got := strings.Join(mode.names, ","); got != "lp__,theta,k" || len(mode.rows) != 1 || math.Abs(mode.rows[0][1]-0.2) > 1e-5 {
		t.Errorf("mode: %s %v", got, mode.rows)
	}
	if want := 2*math.Log(0.2) + 8*math.Log(0.8); math.Abs(mode.rows[0][0]-want) > 1e-6 {
		t.Errorf("lp__ at the mode is %g, not %g", mode.rows[0][0], want)
	}

	f.ok(coin, "laplace jacobian=0 draws=50 mode=@mode.csv"+common+" file=@l.csv")
	if l := f.table("l.csv"); strings.Join(l.names, ",") != "log_p__,log_q__,theta,k" || len(l.rows) != 50 {
		t.Errorf("laplace: %v, %d rows", l.names, len(l.rows))
	}

	f.ok(coin, "pathfinder save_single_paths=1 num_paths=2 num_draws=40 num_psis_draws=30"+common+" file=@path.csv")
	if p := f.table("path.csv"); strings.Join(p.names, ",") != "lp_approx__,lp__,path__,theta,k" || len(p.rows) != 30 {
		t.Errorf("pathfinder: %v, %d rows", p.names, len(p.rows))
	}
	if one := f.table("path_path_2.csv"); len(one.rows) != 40 {
		t.Errorf("a path has %d rows", len(one.rows))
	}

	stdout = f.ok(coin, "variational output_samples=20"+common+" file=@v.csv")
	v := f.table("v.csv")
	if strings.Join(v.names, ",") != "lp__,log_p__,log_g__,theta,k" || len(v.rows) != 21 || fmt.Sprint(v.rows[0][:3]) != "[0 0 0]" {
		t.Errorf("variational: %v, %d rows, %v", v.names, len(v.rows), v.rows[0])
	}
	if !regexp.MustCompile(`(?m)^# Stepsize adaptation complete\.\n# eta = [0-9.]+\n0,0,0,`).MatchString(v.text) || !strings.Contains(stdout, "\nCOMPLETED.\n") {
		t.Errorf("variational:\n%s\n%s", v.text, stdout)
	}

	f.ok(coin, "sample num_samples=20 num_warmup=20 save_warmup=1"+common+" file=@fit.csv")
	f.ok(coin, "generate_quantities fitted_params=@fit.csv"+common+" file=@gq.csv")
	if g := f.table("gq.csv"); strings.Join(g.names, ",") != "k" || len(g.rows) != 40 {
		t.Errorf("generate_quantities: %v, %d rows", g.names, len(g.rows))
	}

	f.write("u.json", `{"params_r": [[0], [1]]}`)
	f.ok(coin, "log_prob unconstrained_params=@u.json"+common+" file=@lp.csv")
	lp := f.table("lp.csv")
	if strings.Join(lp.names, ",") != "lp__,g_theta" || len(lp.rows) != 2 {
		t.Fatalf("log_prob: %v, %d rows", lp.names, len(lp.rows))
	}
	if want := 12 * math.Log(0.5); math.Abs(lp.rows[0][0]-want) > 1e-6 || math.Abs(lp.rows[0][1]+3) > 1e-6 {
		t.Errorf("at 0: %v, not %g and -3", lp.rows[0], want)
	}
	f.write("c.json", `{"theta": 0.5}`)
	f.ok(coin, "log_prob jacobian=0 constrained_params=@c.json"+common+" file=@lp.csv")
	if got, want := f.table("lp.csv").rows[0][0], 10*math.Log(0.5); math.Abs(got-want) > 1e-6 {
		t.Errorf("without Jacobian: %g, not %g", got, want)
	}

	stdout = f.ok(coin, "diagnose"+common+" file=@diag.csv")
	table := `(?m)^ Log probability=-[0-9.]+\n\n param idx           value           model     finite diff           error\n         0( +[-0-9.e]+){4}\n`
	if !strings.Contains(stdout, "\nTEST GRADIENT MODE\n\n") || !regexp.MustCompile(table).MatchString(stdout) {
		t.Errorf("diagnose:\n%s", stdout)
	}
	text, _ := os.ReadFile(f.path("diag.csv"))
	if !strings.Contains(string(text), "\n# TEST GRADIENT MODE\n# \n#  Log probability=-") {
		t.Errorf("diagnose:\n%s", text)
	}
}

// schools has no mode: its density grows without bound as the effects approach each other and their
// scale approaches 0. CmdStan's optimisation failed from all 60 random starts (Stan 2.32.2).
const schools = `data {
  int J;
  vector[J] y, sigma;
}
parameters {
  real mu;
  real<lower=0> tau;
  vector[J] theta;
}
model {
  tau ~ normal(0, 10);
  mu ~ normal(0, 10);
  theta ~ normal(mu, tau);
  y ~ normal(theta, sigma);
}
`

// TestOptimizeFails checks that a failed optimisation is reported on the standard error, where
// CmdStanR looks, and not on the standard output. The file still has its last point.
func TestOptimizeFails(t *testing.T) {
	f := newFolder(t)
	f.write("s.json", `{"J": 8, "y": [28, 8, -3, 7, -1, 1, 18, 12], "sigma": [15, 10, 16, 11, 9, 11, 10, 18]}`)
	for _, algorithm := range []string{"lbfgs", "bfgs"} {
		code, stdout, stderr := f.run(schools, "optimize algorithm="+algorithm+" data file=@s.json random seed=123 output file=@o.csv")
		const said = "Optimization terminated with error: \n  Line search failed to achieve a sufficient decrease, no more progress can be made\n"
		if code != 1 || stderr != said || strings.Contains(stdout, "terminated") {
			t.Errorf("%s: exit code %d, %s\n%s", algorithm, code, stdout, stderr)
		}
		if c := f.table("o.csv"); len(c.rows) != 1 {
			t.Errorf("%s: %d rows", algorithm, len(c.rows))
		}
	}
}

// TestNoParameters checks that the file for a model without parameters looks as if NUTS had written
// it. fixed_param has other columns.
func TestNoParameters(t *testing.T) {
	f := newFolder(t)
	const none = "generated quantities { real z = normal_rng(0, 1); }"
	f.ok(none, "sample num_samples=5 num_warmup=4 save_warmup=1 random seed=1 output file=@o.csv")
	c := f.table("o.csv")
	if strings.Join(c.names, ",") != "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,z" || len(c.rows) != 9 ||
		!strings.Contains(c.text, "# Adaptation terminated\n# Step size = nan\n# Diagonal elements of inverse mass matrix:\n# \n") {
		t.Errorf("%s", c.text)
	}
	f.ok(none, "sample num_samples=5 algorithm=fixed_param random seed=1 output file=@o.csv")
	if c = f.table("o.csv"); strings.Join(c.names, ",") != "lp__,accept_stat__,z" || len(c.rows) != 5 || strings.Contains(c.text, "Adaptation") {
		t.Errorf("%s", c.text)
	}
}

// TestAdviseEngine checks that the console names ppl's own choice of sampler after a chain of NUTS
// with divergences, and only then.
func TestAdviseEngine(t *testing.T) {
	const funnel = "parameters { real v; vector[5] x; } model { v ~ normal(0, 3); x ~ normal(0, exp(v / 2)); }"
	f := newFolder(t)
	const run = "sample num_samples=500 num_warmup=500 random seed=1 output file=@o.csv"
	if got := f.ok(funnel, run); !strings.Contains(got, "divergent transitions. With PPL_ENGINE=auto in the environment") {
		t.Errorf("no advice:\n%s", got)
	}
	if got := f.ok(coin, run+" data file=@d.json"); strings.Contains(got, "PPL_ENGINE") {
		t.Errorf("advice without trouble:\n%s", got)
	}
	f.env[EngineVariable] = "auto"
	if got := f.ok(funnel, run); strings.Contains(got, "With PPL_ENGINE") {
		t.Errorf("advice where it is followed:\n%s", got)
	}
}

// TestOwnSamplers checks that ppl's own samplers, chosen by argument or environment variable, write
// the columns that front ends look for.
func TestOwnSamplers(t *testing.T) {
	f := newFolder(t)
	const common = " data file=@d.json random seed=4 output file=@o.csv profile_file=@p.csv"
	const columns = "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,theta,k"
	f.ok(coin, "sample num_samples=200 num_warmup=200 algorithm=hmc engine=ahmc batches=10"+common)
	if c := f.table("o.csv"); strings.Join(c.names, ",") != columns || !strings.Contains(c.text, "#         engine = ahmc\n") || !strings.Contains(c.text, "#             batches = 10\n") {
		t.Errorf("%s", c.text)
	}
	f.env[EngineVariable] = "ahmc batches=10"
	f.ok(coin, "sample num_samples=200 num_warmup=200 algorithm=hmc engine=nuts max_depth=9"+common)
	if c := f.table("o.csv"); strings.Join(c.names, ",") != columns || !strings.Contains(c.text, "#         engine = ahmc\n") || !strings.Contains(c.text, "#             max_depth = 9\n") {
		t.Errorf("%s", c.text)
	}
	f.env[EngineVariable] = "nosuch"
	if code, _, stderr := f.run(coin, "sample"+common); code != 1 || !strings.Contains(stderr, "nosuch is not a valid value for \"engine\"") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	delete(f.env, EngineVariable)
	f.ok(coin, "sample num_samples=100 num_warmup=100 algorithm=hmc metric=fisher"+common)
	if c := f.table("o.csv"); !strings.Contains(c.text, "#         metric = diag_e") || !strings.Contains(c.text, "# Diagonal elements of inverse mass matrix:\n# 1\n") || !strings.Contains(c.text, "# geometry: fisher\n") {
		t.Errorf("%s", c.text)
	}
	f.ok(coin, "sample num_samples=100 num_warmup=100 algorithm=hmc engine=static int_time=2"+common)
	if c := f.table("o.csv"); strings.Join(c.names, ",") != "lp__,accept_stat__,stepsize__,int_time__,energy__,theta,k" {
		t.Errorf("names %v", c.names)
	}
}

// TestOwnSamplersReadable checks that the files are readable by all front ends if an environment
// variable names the engine.
func TestOwnSamplersReadable(t *testing.T) {
	f := newFolder(t)
	for _, row := range sampler.Table() {
		for _, more := range []string{"", " save_warmup=1 thin=2"} {
			if row.Name == "fixed_param" {
				continue
			}
			f.env[EngineVariable] = row.Name
			f.ok(coin, "sample num_samples=60 num_warmup=80"+more+" data file=@d.json random seed=4 output file=@o.csv profile_file=@p.csv")
			if err := rules.Check(f.path("o.csv")); err != nil {
				t.Errorf("%s%s: %v", row.Name, more, err)
			}
		}
	}
}

// TestFailures checks that errors are reported in CmdStan's words, with exit code 1, and that no
// file remains.
func TestFailures(t *testing.T) {
	f := newFolder(t)
	f.write("short.json", `{"N": 11, "y": [0, 1]}`)
	f.write("empty.json", `{}`)
	f.write("m2.json", `{"inv_metric": [1, 2]}`)
	f.write("bad.json", `{"theta": 1.5}`)
	const impossible = "parameters { real x; } model { target += negative_infinity(); }"
	const rejecting = `parameters { real x; } model { reject("never ", 1); }`
	for _, c := range []struct{ program, line, said string }{
		{coin, "sample data file=@nosuch.json output file=@o.csv", "Can't open specified file, \"@nosuch.json\"\n"},
		{coin, "sample data file=@empty.json output file=@o.csv", "Exception: variable does not exist; processing stage=data initialization; variable name=N; "},
		{coin, "sample data file=@short.json output file=@o.csv", "Exception: mismatch in dimension declared and found in context; processing stage=data initialization; variable name=y; "},
		{coin, "sample num_warmup=0 data file=@d.json output file=@o.csv", "The number of warmup samples (num_warmup) must be greater than zero if adaptation is enabled.\n"},
		{coin, "sample num_chains=2 algorithm=hmc engine=static data file=@d.json output file=@o.csv", "Argument 'num_chains' is unavailable for the 'static' HMC engine.\n"},
		{coin, "sample adapt engaged=0 save_metric=1 data file=@d.json output file=@o.csv", "Saving the adapted metric (save_metric=1) can only be enabled when adaptation is engaged (adapt engaged=1)\n"},
		{coin, "sample algorithm=hmc metric_file=@m2.json data file=@d.json output file=@o.csv", "Cannot get inverse metric from input file.\nCaught exception: \n"},
		{coin, "sample algorithm=hmc metric_file=@nosuch.json data file=@d.json output file=@o.csv", "Can't open specified file, \"@nosuch.json\"\n"},
		{coin, "sample init=@bad.json data file=@d.json output file=@o.csv", "Exception: Bounded variable is 1.5, but must be within its bounds\n"},
		{coin, "sample data file=@d.json output file=@no/such/o.csv", "no/such/o.csv"},
		{coin, "sample data file=@d.json output file=@", "Ill-formed output filename @\n"},
		{coin, "sample num_chains=2000000000 data file=@d.json output file=@o.csv", "chains must be at most 10000, but is 2000000000\n"},
		{coin, "pathfinder num_paths=2000000000 data file=@d.json output file=@o.csv", "chains must be at most 10000, but is 2000000000\n"},
		{coin, "generate_quantities data file=@d.json output file=@o.csv", "Missing fitted_params argument, cannot run generate_quantities without fitted sample.\n"},
		{coin, "generate_quantities fitted_params=@d.json data file=@d.json output file=@o.csv", "Fitted params file must be a CSV file.\n"},
		{coin, "generate_quantities fitted_params=@cut.csv data file=@d.json output file=@o.csv", "Error: expected 3 columns, but found 2 instead for row 2\n"},
		{coin, "log_prob constrained_params=@cut.csv data file=@d.json output file=@o.csv", "Error: expected 3 columns, but found 2 instead for row 2\n"},
		{coin, "laplace data file=@d.json output file=@o.csv", "Missing mode argument, cannot get laplace sample without parameter estimates theta-hat\n"},
		{coin, "laplace mode=@o.csv data file=@d.json output file=@o.csv", "Filename conflict, mode file @o.csv and output file names are identical, must be different.\n"},
		{coin, "log_prob data file=@d.json output file=@o.csv", "No input parameter files provided, cannot calculate log probability density.\n"},
		{impossible, "sample random seed=1 output file=@o.csv", "Initialization between (-2, 2) failed after 100 attempts. \n"},
		{rejecting, "sample random seed=1 output file=@o.csv", "Exception: never 1 (in 'coin.stan', line 1, column 31 to column 51)\n"},
		{"generated quantities { int i = 1; }", "pathfinder output file=@o.csv", "Model has 0 parameters, cannot run Pathfinder.\n"},
	} {
		f.write("cut.csv", "# method = sample\nlp__,theta,k\n-1,0.2,1\n-1,0.3")
		before := f.files()
		code, stdout, stderr := f.run(c.program, c.line)
		said := strings.ReplaceAll(c.said, "@", f.dir+string(filepath.Separator))
		if code != 1 || !strings.Contains(stdout+stderr, said) {
			t.Errorf("%s: exit code %d, not said: %q\n%s", c.line, code, said, stderr)
		}
		if _, err := os.Stat(f.path("o.csv")); err == nil && strings.Contains(stdout+stderr, "Initialization failed.\n") || strings.Contains(c.line, "init=") {
			if c := f.table("o.csv"); c.names == nil || len(c.rows) > 0 { // no start, no draws
				t.Errorf("%s", c.text)
			}
			os.Remove(f.path("o.csv"))
		}
		if after := f.files(); after != before {
			t.Errorf("%s: leaves %s, was %s", c.line, after, before)
		}
	}
	f.env["STAN_NUM_THREADS"] = "3"
	if code, _, stderr := f.run(coin, "sample num_threads=2 data file=@d.json"); code != 1 || !strings.Contains(stderr, "STAN_NUM_THREADS= 3 but argument num_threads= 2.") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

// TestEndless checks that reading an endless file, or a pipe without a writer, can be interrupted.
func TestEndless(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	pipe := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if _, err := os.Stat(pipe); err != nil {
		t.Skip("there are no files of open pipes: ", err)
	}
	for _, line := range []string{"sample data file=" + pipe, "sample data file=@d.json init=" + pipe} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		f := newFolder(t)
		p := &Program{Name: "coin_model", File: "coin.stan", Text: coin}
		args := strings.Fields(strings.ReplaceAll(line, "@", f.dir+string(filepath.Separator)))
		if code := Run(ctx, "./coin", p, args, Streams{Out: io.Discard, Err: io.Discard, Getenv: func(string) string { return "" }}); code != interrupted {
			t.Errorf("%s: exit code %d", line, code)
		}
		cancel()
	}
}

func TestInfo(t *testing.T) {
	f := newFolder(t)
	const want = "stan_version_major = 2\nstan_version_minor = 40\nstan_version_patch = 0\n" +
		"STAN_THREADS=false\nSTAN_MPI=false\nSTAN_OPENCL=false\nSTAN_NO_RANGE_CHECKS=false\nSTAN_CPP_OPTIMS=false\n"
	if got := f.ok(coin, "info"); got != want {
		t.Errorf("info:\n%s", got)
	}
}

// TestProgram checks that a program can be read back from the file to which it was appended.
func TestProgram(t *testing.T) {
	p := &Program{Name: "m", Text: "model { } // π\n#ppl-program:", Included: map[string]string{"a": "b"}}
	file, err := p.Append([]byte("#!/bin/sh\n"))
	if err != nil {
		t.Fatal(err)
	}
	at := len(file) - TrailerLength
	n := ProgramLength(file[at:])
	got, err := ParseProgram(file[at-n : at])
	if err != nil || got.Text != p.Text || got.Included["a"] != "b" || string(file[:at-n]) != "#!/bin/sh\n" {
		t.Errorf("%+v, %v, %q", got, err, file[:max(at-n, 0)])
	}
	for _, text := range []string{"", "#0000000001", "#00000x00012", "x00000000012"} {
		if n := ProgramLength([]byte(text)); n != 0 {
			t.Errorf("%q: %d", text, n)
		}
	}
}

func TestStanWords(t *testing.T) {
	for text, want := range map[string]string{
		"normal_lpdf: Scale parameter must be positive, but is -1":                              "normal_lpdf: Scale parameter is -1, but must be positive!",
		"normal_lpdf: Scale parameter must be positive, but is -1 (a b.stan, line 3, column 5)": "normal_lpdf: Scale parameter is -1, but must be positive! (in 'a b.stan', line 3, column 4)",
		"never 1": "never 1",
	} {
		if got := stanWords(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}
