package stanc

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func run(t *testing.T, model string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m-1.stan")
	if err := os.WriteFile(path, []byte(model), 0o666); err != nil {
		t.Fatal(err)
	}
	var out, wrong strings.Builder
	code = Run(context.Background(), append(args, path), &out, &wrong)
	return code, out.String(), strings.ReplaceAll(wrong.String(), path, "m-1.stan")
}

// TestInfo checks that --info has the keys and the order that front ends read.
func TestInfo(t *testing.T) {
	code, stdout, stderr := run(t, `functions { real twice(real x) { return 2 * x; } }
data { int<lower=0> N; array[N, 2] vector[N] z; complex c; tuple(int, array[N] real) t; }
parameters { real mu; matrix[2, N] m; }
transformed parameters { real s = exp(mu); }
model { mu ~ normal(twice(1), 1); target += cauchy_lpdf(s | 0, 1); }
generated quantities { cov_matrix[2] k = identity_matrix(2); }
`, "--info")
	const want = `{
  "inputs": {
    "N": { "type": "int", "dimensions": 0 },
    "z": { "type": "real", "dimensions": 3 },
    "c": { "type": "complex", "dimensions": 0 },
    "t": { "type": { "1": { "type": "int", "dimensions": 0 }, "2": { "type": "real", "dimensions": 1 } }, "dimensions": 0 } },
  "parameters": {
    "mu": { "type": "real", "dimensions": 0 },
    "m": { "type": "real", "dimensions": 2 } },
  "transformed parameters": {
    "s": { "type": "real", "dimensions": 0 } },
  "generated quantities": {
    "k": { "type": "real", "dimensions": 2 } },
  "functions": [ "cauchy_lpdf", "exp", "identity_matrix" ],
  "distributions": [ "normal_lpdf" ],
  "included_files": [  ]
}
`
	if code != 0 || stdout != want || !json.Valid([]byte(stdout)) {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}

func TestMessages(t *testing.T) {
	for _, c := range []struct{ model, want string }{
		{"model { real x }", "Syntax error in 'm-1.stan', line 1, column "},
		{"model { x ~ normal(0, 1); }", "Semantic error in 'm-1.stan', line 1, column 8: "},
		{"functions { real f(real x); } model { real y = f(1); }", "Semantic error in 'm-1.stan', line 1, column "},
	} {
		if code, _, stderr := run(t, c.model); code != 1 || !strings.HasPrefix(stderr, c.want) {
			t.Errorf("%s: exit code %d\n%s", c.model, code, stderr)
		}
	}
	if code, _, stderr := run(t, "functions { real f(real x); } model { real y = f(1); }", "--allow-undefined", "--o="+filepath.Join(t.TempDir(), "m.hpp")); code != 0 {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	if _, model, code := Compile(context.Background(), []string{"nosuch.stan"}, &strings.Builder{}, &strings.Builder{}); model != nil || code != 1 {
		t.Errorf("exit code %d", code)
	}
}

func TestOptions(t *testing.T) {
	o, err := parse([]string{"--include-paths", "a,'b c'", "--max-line-length=70", "--allow_undefined", "--name=x", "--O1", "dir/m 1.stan"})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(o.include, "|") != "a|b c" || o.width != 70 || !o.undefined || o.ModelName() != "x" || o.FileName() != "dir/m 1.stan" ||
		strings.Join(o.Words(), " ") != "--include-paths=a,'b c' --max-line-length=70 --allow-undefined --name=x --O1" {
		t.Errorf("%+v", o)
	}
	if o, _ := parse([]string{"dir/m 1-2.stan"}); o.ModelName() != "m_1_2_model" {
		t.Errorf("name %s", o.ModelName())
	}
	for _, args := range [][]string{{"--nosuch"}, {"--info=1"}, {"--name"}, {"a", "b"}, {"--canonicalize=x"}, {"--max-line-length=0"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%v is let pass", args)
		}
	}
}
