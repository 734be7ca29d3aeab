package compile_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestPartsOfContainers checks functions that take a part of a container. As in Stan, the part must
// not have a negative length, and it must begin at an element even if it is empty. A range written
// with constants may be empty anywhere. Functions of a variable are lowered to a range, those of an
// expression are not; in the loop they are evaluated in lanes.
func TestPartsOfContainers(t *testing.T) {
	const right, wrong = false, true
	for _, c := range []struct {
		call string
		want bool
	}{
		{"segment(v, 3, 0)", right}, {"segment(v, 4, 0)", wrong}, {"segment(v, 0, 0)", wrong}, {"segment(v, 3, -1)", wrong},
		{"segment(v, 2, 2)", right}, {"segment(v, 3, 2)", wrong},
		{"head(v, 0)", right}, {"head(v, -1)", wrong}, {"head(v, 3)", right}, {"head(v, 4)", wrong},
		{"tail(v, 0)", right}, {"tail(v, -1)", wrong}, {"tail(v, 4)", wrong},
		{"v[4:3]", wrong}, {"v[9:1]", wrong}, {"v[3:1]", right}, {"v[3:4]", wrong},
		{"sub_row(m, 1, 4, 0)", wrong}, {"sub_row(m, 1, 3, 0)", right}, {"sub_col(m, 3, 1, 0)", wrong},
	} {
		for _, whole := range []bool{true, false} {
			for _, rows := range []int{1, 20} {
				call := c.call
				if !whole {
					if call[0] == 'v' {
						continue
					}
					call = strings.NewReplacer("(v,", "(v + mu,", "(m,", "(m + mu,").Replace(call)
				}
				text := `
data { int N; vector[3] v; matrix[2, 3] m; }
parameters { real mu; }
model { for (n in 1:N) target += mu * n + sum(` + call + `); }`
				prog, list := compile.Compile(source.NewFile("m.stan", text))
				if prog == nil {
					t.Fatalf("%s: %v", call, list)
				}
				model, err := prog.Bind(parsed(t, `{"N": `+strconv.Itoa(rows)+`, "v": [1, 2, 3], "m": [[1, 2, 3], [4, 5, 6]]}`), compile.BindOptions{})
				if err == nil {
					_, err = model.LogDensityGrad([]float64{0.5}, make([]float64, 1))
				}
				if (err != nil) != c.want {
					t.Errorf("%s: %v", call, err)
				}
			}
		}
	}
}

// TestIndexBesideInnerLoop checks that an index out of range is reported even if it occurs in an
// iteration in which the inner loop has no iterations.
func TestIndexBesideInnerLoop(t *testing.T) {
	prog, list := compile.Compile(source.NewFile("m.stan", `
data { int T; }
parameters { real mu; }
model {
  vector[T] nu;
  for (t in 0:T) {
    nu[t] = mu;
    for (i in 1:t) nu[t] += 0.25;
  }
}`))
	if prog == nil {
		t.Fatal(list)
	}
	for _, n := range []string{"1", "5", "40"} {
		if _, err := prog.Bind(parsed(t, `{"T": `+n+`}`), compile.BindOptions{}); err == nil || !strings.Contains(err.Error(), "index 0 is out of range") {
			t.Errorf("T = %s: %v", n, err)
		}
	}
}
