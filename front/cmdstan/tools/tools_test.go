package tools

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
)

// chain is an output file of a chain, as CmdStan writes it.
const chain = `# stan_version_major = 2
# model = m_model
# method = sample (Default)
#   sample
#     num_samples = 8
#     algorithm = hmc (Default)
#       hmc
#         engine = nuts (Default)
#           nuts
#             max_depth = 3
lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,b.1.1,b.2.1,b.1.2
# Adaptation terminated
# Step size = 0.5
# Diagonal elements of inverse mass matrix:
# 1, 1, 1
-1,1,0.5,3,7,0,2,1,10,5
-2,1,0.5,2,3,1,3,2,20,6
-1,1,0.5,2,3,0,1,3,30,4
-2,1,0.5,2,3,0,4,4,40,7
-1,1,0.5,2,3,0,2,5,50,5
-2,1,0.5,2,3,0,3,6,60,6
-1,1,0.5,2,3,0,1,7,70,4
-2,1,0.5,2,3,0,4,8,80,7
# 
#  Elapsed Time: 1 seconds (Warm-up)
#                2 seconds (Sampling)
#                3 seconds (Total)
# 
`

func write(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.csv")
	if err := os.WriteFile(path, []byte(chain), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSummary checks the table's columns, the order of its rows (the last index runs fastest), and
// values computed by hand: b[1,1] is 1 to 8, with mean 4.5, standard deviation √6 and median
// absolute deviation 2.
func TestSummary(t *testing.T) {
	path := write(t)
	csv := filepath.Join(t.TempDir(), "s.csv")
	var out strings.Builder
	if code := Summary(t.Context(), []string{"--percentiles= 25,50", "--sig_figs=6", "--csv_filename=" + csv, path}, compile.DefaultMemory(), &out, &out); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out.String())
	}
	text, err := os.ReadFile(csv)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	if lines[0] != "name,Mean,MCSE,StdDev,MAD,25%,50%,ESS_bulk,ESS_tail,ESS_bulk/s,R_hat" {
		t.Errorf("columns %s", lines[0])
	}
	var names []string
	for _, line := range lines[1:] {
		if name, _, ok := strings.Cut(line, "\","); ok {
			names = append(names, strings.Trim(name, `"`))
		}
	}
	if got := strings.Join(names, " "); got != "lp__ accept_stat__ stepsize__ treedepth__ n_leapfrog__ divergent__ energy__ b[1,1] b[1,2] b[2,1]" {
		t.Errorf("rows %s", got)
	}
	for _, line := range lines {
		if strings.HasPrefix(line, `"b[1,1]"`) {
			f := strings.Split(strings.TrimPrefix(line, `"b[1,1]",`), ",")
			if f[0] != "4.5" || f[2] != "2.44949" || f[3] != "2.9652" || f[4] != "2.75" || f[5] != "4.5" {
				t.Errorf("%s", line)
			}
		}
	}
	if !strings.Contains(out.String(), "Inference for Stan model: m_model\n1 chains: each with iter=8; 8 iterations saved.\n") {
		t.Errorf("%s", out.String())
	}
	for _, c := range []struct{ args, said string }{
		{"", "input_files is required"},
		{path + " --percentiles=50,5", "Option --percentiles 50,5: "},
		{path + " --percentiles=101", "Option --percentiles 101: "},
		{path + " --sig_figs=0", "--sig_figs: Value 0 not in range 1 to 18"},
		{path + " --autocorr=2", "Option --autocorr: 2 not a valid chain id."},
		{path + " --include_param=nosuch", "--include_param: Unrecognized parameter(s): 'nosuch' "},
		{path + " --csv_filename=" + csv, "--csv_filename: File already exists: "},
		{"nosuch.csv", "Cannot read input csv file: nosuch.csv."},
	} {
		out.Reset()
		if code := Summary(t.Context(), strings.Fields(c.args), compile.DefaultMemory(), &out, &out); code != 1 || !strings.Contains(out.String(), c.said) {
			t.Errorf("%s: exit code %d\n%s", c.args, code, out.String())
		}
	}
	out.Reset()
	if code := Summary(t.Context(), []string{path, "-i", "b.1.2", "-a", "1"}, compile.DefaultMemory(), &out, &out); code != 0 || !strings.Contains(out.String(), "\nb[1,2] ") || strings.Contains(out.String(), "\nb[1,1] ") {
		t.Errorf("exit code %d\n%s", code, out.String())
	}
}

func TestDiagnose(t *testing.T) {
	var out strings.Builder
	if code := Diagnose(t.Context(), []string{write(t)}, compile.DefaultMemory(), &out, &out); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{
		"Checking sampler transitions treedepth.\n1 of 8 (12.5%) transitions hit the maximum treedepth limit of 3, or 2^3 leapfrog steps.\n",
		"Checking sampler transitions for divergences.\n1 of 8 (12.5%) transitions ended with a divergence.\n",
		"E-BFMI satisfactory.\n",
		"Rank-normalized split effective sample size satisfactory for all parameters.\n",
		"had rank-normalized split R-hat greater than 1.01:\n  b[1,1], b[2,1]\n",
		"Processing complete.\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("not said: %q\n%s", want, out.String())
		}
	}
	for _, args := range []string{"", "nosuch.csv", "--nosuch"} {
		if code := Diagnose(t.Context(), strings.Fields(args), compile.DefaultMemory(), &out, &out); code != 1 {
			t.Errorf("%s: exit code %d", args, code)
		}
	}
}

// TestCut checks that a file that ends within a draw is refused, as CmdStan does.
func TestCut(t *testing.T) {
	path := write(t)
	cut, _, _ := strings.Cut(chain, ",80,7")
	if err := os.WriteFile(path, []byte(cut), 0o666); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for name, run := range map[string]func(context.Context, []string, int64, io.Writer, io.Writer) int{"stansummary": Summary, "diagnose": Diagnose, "print": Print} {
		out.Reset()
		if code := run(t.Context(), []string{path}, compile.DefaultMemory(), &out, &out); code != 1 || !strings.Contains(out.String(), "Error: expected 10 columns, but found 8 instead for row 8.\n") {
			t.Errorf("%s: exit code %d, %s", name, code, out.String())
		}
	}
}
