package fit_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/internal/clients/rules"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/model"
)

// TestReaders checks the files of every sampler and metric against the rules of programs that read
// CmdStan's files, after a run and after the files were read and written again.
func TestReaders(t *testing.T) {
	m, err := model.CompileFile("../examples/eight_schools/eight_schools.model")
	if err != nil {
		t.Fatal(err)
	}
	schools, err := m.Bind(model.DataFile{Path: "../examples/eight_schools/eight_schools.data.json"})
	if err != nil {
		t.Fatal(err)
	}
	m, err = model.Compile("coin", "generated quantities { int y = bernoulli_rng(0.5); }")
	if err != nil {
		t.Fatal(err)
	}
	coin, err := m.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, row := range sampler.Table() {
		for _, options := range short.Every(3, []string{"", "metric=unit_e", "metric=dense_e", "metric=low_rank", "metric=softabs", "recentre=off", "fixed-metric=true"}) {
			fs := flag.NewFlagSet(row.Name, flag.ContinueOnError)
			build := row.Options(fs)
			if name, value, ok := strings.Cut(options, "="); ok && (fs.Lookup(name) == nil || fs.Set(name, value) != nil) {
				continue // this sampler does not have it
			}
			s, err := build()
			if err != nil {
				t.Fatal(err)
			}
			p := schools
			if row.Name == "fixed_param" {
				p = coin
			}
			for i, o := range []fit.Options{
				{Warmup: 30, Draws: 25},
				{Warmup: 30, Draws: 25, SaveWarmup: true, Thin: 3, SigFigs: 6},
			} {
				name := strings.Join([]string{row.Name, options, []string{"", "thin"}[i]}, " ")
				base := filepath.Join(dir, strings.ReplaceAll(name, " ", "_"))
				o.Sampler, o.Chains, o.Seed, o.Output, o.Parallel = s, 2, 1, base, 1
				f, err := fit.Sample(context.Background(), p, o)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				if err := rules.Check(f.Files...); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if !strings.Contains(contents(t, f.Files[0]), fmt.Sprintf("save_warmup = %d", i)) {
					t.Errorf("%s: rstan reads save_warmup as a whole number", name)
				}
				if i == 0 {
					continue
				}
				again, err := fit.ReadCSV(f.Files...)
				if err != nil {
					t.Fatal(err)
				}
				files, err := again.WriteCSV(base + "_again")
				if err == nil {
					err = rules.Check(files...)
				}
				if err != nil {
					t.Errorf("%s, read and written again: %v", name, err)
				}
			}
		}
	}
}

// TestReadersRules checks that the rules detect files that such programs have refused.
func TestReadersRules(t *testing.T) {
	const good = `# model = m_model
# method = sample (Default)
#     num_samples = 2
#     num_warmup = 10
#     save_warmup = 0 (Default)
#     thin = 1 (Default)
#     algorithm = hmc (Default)
#             max_depth = 10 (Default)
#         metric = diag_e (Default)
# id = 1 (Default)
lp__,treedepth__,divergent__,energy__,x
# Adaptation terminated
# Step size = 0.5
# Diagonal elements of inverse mass matrix:
# 1, 2
-1,1,0,2,1.5
-1,1,0,2,1.5
# kernel: nuts
# 
#  Elapsed Time: 0.1 seconds (Warm-up)
#                0.2 seconds (Sampling)
#                0.3 seconds (Total)
# 
`
	path := filepath.Join(t.TempDir(), "m.csv")
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{"# 1, 2\n", "# 1, 2\n# kernel: nuts\n", "0 draws"},
		{"# kernel: nuts", "# kernel = nuts", "takes"},
		{"#             max_depth = 10 (Default)\n", "", "max_depth"},
		{"treedepth__", "int_time__", "no column treedepth__"},
		{"diag_e", "unit_e", "unit_e"},
		{"diag_e", "dense_e", "dense_e"},
		{"num_samples = 2", "num_samples = 3", "the head says 3"},
		{"-1,1,0,2,1.5\n#", "-1,1.5,0,2,1.5\n#", "whole number"},
		{"save_warmup = 0", "save_warmup = no", "save_warmup"},
		{"0.1 seconds", "1e-01 seconds", "rstan"},
	} {
		if err := os.WriteFile(path, []byte(strings.Replace(good, c.old, c.new, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		err := rules.Check(path)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q in the place of %q: error %v, want %q", c.new, c.old, err, c.want)
		}
	}
}
