package sampler_test

import (
	"context"
	"flag"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/auto"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/sampler"
)

// TestTable checks that every sampler has a name, a doc, documented options and columns with unique
// names, and runs with its defaults.
func TestTable(t *testing.T) {
	names := sampler.Names()
	if len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Errorf("names are not unique: %v", names)
	}
	for _, row := range sampler.Table() {
		if got, ok := sampler.Lookup(row.Name); !ok || got.Doc != row.Doc || row.Doc == "" {
			t.Errorf("%s: Lookup gives %q, %v", row.Name, got.Doc, ok)
		}
		fs := flag.NewFlagSet(row.Name, flag.ContinueOnError)
		row.Options(fs)
		fs.VisitAll(func(f *flag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s: option %s is not documented", row.Name, f.Name)
			}
		})
		var columns []string
		for _, c := range row.AllColumns() {
			columns = append(columns, c.Name)
		}
		if len(slices.Compact(slices.Sorted(slices.Values(columns)))) != len(columns) {
			t.Errorf("%s: columns are not unique: %v", row.Name, columns)
		}
		s, err := row.Default()
		if err != nil {
			t.Errorf("%s: %v", row.Name, err)
			continue
		}
		if got, ok := sampler.RowOf(s); !ok || got.Name != row.Name {
			t.Errorf("%s: its samplers are taken for those of %q", row.Name, got.Name)
		}
		n := 0
		for d, err := range infer.Run(context.Background(), infertest.Banana{B: 0.2, Sigma: 1}, infer.Config{Sampler: s, Chains: 2, Warmup: 200, Draws: 100}) {
			if err != nil {
				t.Fatalf("%s: %v", row.Name, err)
			}
			for _, c := range row.AllColumns() {
				c.Value(&d)
			}
			n++
		}
		if n != 200 {
			t.Errorf("%s: %d draws", row.Name, n)
		}
	}
	if _, ok := sampler.Lookup("gibbs"); ok {
		t.Error("found a sampler that does not exist")
	}
}

// TestDefaults checks that the defaults of the options are those of the packages.
func TestDefaults(t *testing.T) {
	for name, zero := range map[string]infer.Sampler{"nuts": nuts.Sampler{}, "hmc": hmc.Sampler{}, "ahmc": ahmc.Sampler{}, "nuts2011": nuts.Sampler2011{}} {
		row, _ := sampler.Lookup(name)
		s, err := row.Default()
		if err != nil {
			t.Fatal(err)
		}
		collect := func(s infer.Sampler) (xs []float64) {
			for d, err := range infer.Run(context.Background(), infertest.AR1(2, 0.5), infer.Config{Sampler: s, Chains: 1, Warmup: 300, Draws: 20}) {
				if err != nil {
					t.Fatal(err)
				}
				xs = append(xs, d.Position...)
			}
			return xs
		}
		if !slices.Equal(collect(s), collect(zero)) {
			t.Errorf("%s: the draws with default options differ from those of the zero value", name)
		}
	}
}

func TestOptions(t *testing.T) {
	row, _ := sampler.Lookup("nuts")
	fs := flag.NewFlagSet("nuts", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	build := row.Options(fs)
	if err := fs.Parse([]string{"-delta", "0.95", "-metric", "dense_e", "-max-depth", "12", "-init-buffer", "0"}); err != nil {
		t.Fatal(err)
	}
	s, err := build()
	if err != nil {
		t.Fatal(err)
	}
	n := s.(nuts.Sampler)
	if n.Adapt.Averaging.Delta != 0.95 || n.Adapt.Metric != infer.Dense || n.MaxDepth != 12 || n.Adapt.StartBuffer != -1 {
		t.Errorf("%+v", n)
	}
	for _, bad := range [][]string{{"-delta", "2"}, {"-metric", "round"}, {"-max-depth", "99"}, {"-window", "-3"}, {"-stepsize", "-1"}, {"-stepsize-jitter", "2"}, {"-reach", "-2"}} {
		fs := flag.NewFlagSet("nuts", flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		build := row.Options(fs)
		if err := fs.Parse(bad); err != nil {
			continue
		}
		if _, err := build(); err == nil {
			t.Errorf("%v passes", bad)
		}
	}
}

// TestAutoOptions checks that auto distinguishes an option that was not given from one given with
// its default value. It also checks that 0 can be given where it is an ordinary value.
func TestAutoOptions(t *testing.T) {
	row, _ := sampler.Lookup("auto")
	for _, c := range []struct {
		args []string
		want auto.Sampler
	}{
		{nil, auto.Sampler{}},
		{[]string{"-delta", "0.8"}, auto.Sampler{Delta: 0.8}},
		{[]string{"-refine", "0"}, auto.Sampler{NoRefine: true}},
		{[]string{"-refine", "0.5"}, auto.Sampler{Refine: 0.5}},
		{[]string{"-kernel", "leapfrog", "-steps", "3", "-stepsize", "0.2"}, auto.Sampler{Kind: auto.Leapfrog, Steps: 3, StepSize: 0.2}},
	} {
		fs := flag.NewFlagSet("auto", flag.ContinueOnError)
		build := row.Options(fs)
		if err := fs.Parse(c.args); err != nil {
			t.Fatal(err)
		}
		s, err := build()
		if err != nil {
			t.Fatal(err)
		}
		got := s.(auto.Sampler)
		if got.Delta != c.want.Delta || got.NoRefine != c.want.NoRefine || c.want.Refine != 0 && got.Refine != c.want.Refine || got.StepSize != c.want.StepSize || got.Kind != c.want.Kind {
			t.Errorf("%v: %+v", c.args, got)
		}
		for name, means := range map[string]bool{"refine": false, "stepsize": false, "delta": true, "race-batch": true} {
			if sampler.MeansDefault(fs.Lookup(name), "0") != means {
				t.Errorf("that 0 for %s means the default: %v", name, !means)
			}
		}
	}
}

// TestNoParameters runs a model without parameters under every sampler.
func TestNoParameters(t *testing.T) {
	for _, row := range sampler.Table() {
		s, err := row.Default()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range infer.Run(context.Background(), infertest.Logistic{}, infer.Config{Sampler: s, Chains: 1, Warmup: 100, Draws: 10}) {
			if err != nil {
				t.Errorf("%s: %v", row.Name, err)
			}
			n++
		}
		if n != 10 {
			t.Errorf("%s: %d draws", row.Name, n)
		}
	}
}

// TestRiemannian checks that the Riemannian geometries can be chosen for every sampler that may
// have them. A target without derivatives must give an error that says what it lacks.
func TestRiemannian(t *testing.T) {
	for _, c := range [][]string{
		{"nuts", "-metric", "softabs", "-softabs-alpha", "10"}, {"nuts", "-metric", "fisher"}, {"hmc", "-metric", "fisher", "-steps", "5"},
		{"rmhmc", "-metric", "softabs", "-softabs-alpha", "2"}, {"rmhmc", "-implicit", "published", "-fixed-points", "5"},
		{"armhmc", "-max-steps", "6", "-max-stepsize", "1"},
		{"nuts", "-metric", "fisher", "-frozen"}, {"armhmc", "-frozen"},
	} {
		row, _ := sampler.Lookup(c[0])
		fs := flag.NewFlagSet(c[0], flag.ContinueOnError)
		build := row.Options(fs)
		if err := fs.Parse(c[1:]); err != nil {
			t.Fatal(err)
		}
		s, err := build()
		if err != nil {
			t.Fatal(err)
		}
		if g, ok := s.(sampler.Geometric); !ok || g.Riemannian.Kind == "" {
			t.Errorf("%v: %T", c, s)
		}
		session, err := infer.NewSession(infertest.Banana{B: 0.2, Sigma: 1}, infer.Config{Sampler: s, Chains: 1, Warmup: 100, Draws: 50})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range session.Draws(context.Background()) {
			if err != nil {
				t.Errorf("%v: %v", c, err)
			}
		}
		r := session.Report().Chains[0]
		if slices.Contains(c, "-frozen") {
			// The inverse of [1 + 4B²x₁², -2Bx₁; -2Bx₁, 1] at some x₁ is
			// [1, 2Bx₁; 2Bx₁, 1 + 4B²x₁²].
			inverse := r.Metric.Inverse
			if r.Metric.Kind != infer.Dense || math.Abs(inverse[0]-1) > 1e-9 || inverse[3] < 1 {
				t.Errorf("%v: metric %v", c, r.Metric)
			}
		} else if r.Geometry["metric_evaluations"] == 0 {
			t.Errorf("%v: geometry %v", c, r.Geometry)
		}
		for _, err := range infer.Run(context.Background(), infertest.Logistic{D: 2}, infer.Config{Sampler: s, Chains: 1}) {
			if err == nil || !strings.Contains(err.Error(), "does not provide") {
				t.Errorf("%v: a target without second derivatives: %v", c, err)
			}
		}
	}
	row, _ := sampler.Lookup("rmhmc")
	for _, bad := range [][]string{{"-metric", "diag_e"}, {"-implicit", "fast"}, {"-fixed-points", "-1"}, {"-implicit-tolerance", "-1"}} {
		fs := flag.NewFlagSet("rmhmc", flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		build := row.Options(fs)
		if fs.Parse(bad) == nil {
			if _, err := build(); err == nil {
				t.Errorf("%v passes", bad)
			}
		}
	}
}

// TestImpossibleOptions checks that no sampler accepts NaN for any number, nor a number with which
// no run is possible. Errors must come before a run.
func TestImpossibleOptions(t *testing.T) {
	for _, row := range sampler.Table() {
		names := flag.NewFlagSet(row.Name, flag.ContinueOnError)
		row.Options(names)
		names.VisitAll(func(f *flag.Flag) {
			var values []string
			if g, ok := f.Value.(flag.Getter); ok {
				switch g.Get().(type) {
				case float64:
					values = []string{"nan", "-1", "-inf"}
				case int:
					values = []string{"-5"}
				}
			}
			for _, value := range values {
				fs := flag.NewFlagSet(row.Name, flag.ContinueOnError)
				fs.SetOutput(io.Discard)
				build := row.Options(fs)
				if fs.Lookup("reward") != nil && (f.Name == "folds" || f.Name == "fold-leapfrogs") {
					fs.Set("reward", "predictive")
					fs.Set("rows", "y")
					fs.Set("folds", "3")
				}
				if fs.Lookup("softabs-alpha") != nil && fs.Lookup("metric") != nil {
					fs.Set("metric", "softabs")
				}
				if err := fs.Set(f.Name, value); err != nil {
					continue
				}
				if _, err := build(); err == nil {
					t.Errorf("%s takes %s %s", row.Name, f.Name, value)
				}
			}
		})
	}
	for name, option := range map[string][2]string{"ahmc": {"stepsize-points", "2147483647"}, "armhmc": {"steps-points", "100000"}, "rmhmc": {"fixed-points", "2147483647"}} {
		row, _ := sampler.Lookup(name)
		fs := flag.NewFlagSet(name, flag.ContinueOnError)
		build := row.Options(fs)
		if err := fs.Set(option[0], option[1]); err != nil {
			t.Fatal(err)
		}
		if _, err := build(); err == nil {
			t.Errorf("%s takes %v", name, option)
		}
	}
}

// TestImpossibleNumbers checks that every option that is a number has limits that exclude NaN. A
// number beyond them must be refused before a run, with the option's name.
func TestImpossibleNumbers(t *testing.T) {
	for _, row := range sampler.Table() {
		var names []string
		fs := flag.NewFlagSet(row.Name, flag.ContinueOnError)
		row.Options(fs)
		fs.VisitAll(func(f *flag.Flag) {
			if _, err := strconv.ParseFloat(f.DefValue, 64); err == nil {
				names = append(names, f.Name)
			}
		})
		if len(names) < 3 && row.Name != "fixed_param" {
			t.Errorf("%s: only the options %v are numbers", row.Name, names)
		}
		for _, name := range names {
			for _, bad := range []string{"NaN", "-1", "-Inf", "-1e300", "9223372036854775807", "2147483648", "1e999", "-9223372036854775808"} {
				fs := flag.NewFlagSet(row.Name, flag.ContinueOnError)
				fs.SetOutput(io.Discard)
				build := row.Options(fs)
				if fs.Parse([]string{"-" + name, bad}) != nil {
					continue // not even a number of this kind
				}
				v, _ := strconv.ParseFloat(bad, 64)
				ours := !strings.HasPrefix(name, "gp-") && name != "reward-maximum" && name != "ucb-delta" // those of package bayesopt
				if ours && infer.CheckOption(name, v) == nil {
					continue // large, but possible
				}
				_, err := build()
				if !ours && v > 0 && !math.IsInf(v, 0) && err == nil {
					continue
				}
				if err == nil || ours && !strings.Contains(err.Error(), name) && !strings.Contains(err.Error(), "folds") {
					t.Errorf("%s -%s %s: %v", row.Name, name, bad, err)
				}
			}
		}
	}
}
