package compile

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// groupedProgram has ragged variables, and values for each group.
const groupedProgram = `data { int<lower=0> J; array[J] int<lower=0> n; array[J] vector[n] x; array[J, n] int<lower=1> k; array[J] real w; array[J] int<lower=1, upper=3> f; }
	parameters { vector[J] a; real s; } model { a ~ normal(w, 1); s ~ normal(0, 1); for (j in 1:J) { x[j] ~ normal(a[j] * to_vector(k[j]), exp(s) * f[j]); } }`

// boundToTable binds a program to a table; n has the numbers of rows of each group.
func boundToTable(t *testing.T, program, table string, o data.Options) (*Model, *data.Set, error) {
	t.Helper()
	p, list := Compile(source.NewFile("m.stan", program))
	if p == nil {
		t.Fatal(list)
	}
	o.Counts = []data.Count{{Name: "n", Of: "group"}}
	set, err := data.ParseTable("data.csv", table, o)
	if err != nil {
		return nil, nil, err
	}
	if set, _, err = p.Coded(set); err != nil {
		return nil, nil, err
	}
	m, err := p.Bind(set, BindOptions{})
	return m, set, err
}

// TestGroupedRows compares tables whose rows are grouped by a column, in any order, with lists of
// lists.
func TestGroupedRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, rows := range []int{1, 2, 3, 8, 40} {
		for _, text := range []bool{true, false} {
			groups := 1 + rng.IntN(min(rows, 12))
			d := struct {
				J    int         `json:"J"`
				N    []int       `json:"n"`
				X, K [][]float64 `json:",omitempty"`
				W, F []int
			}{J: groups, N: make([]int, groups), X: make([][]float64, groups), K: make([][]float64, groups)}
			for j := range groups {
				d.W, d.F = append(d.W, j%4), append(d.F, j%3+1)
			}
			table := "x,group,k,w,f\n"
			for i := range rows {
				j := groups - 1 - i // each group has a row
				if i >= groups {
					j = rng.IntN(groups)
				}
				label := fmt.Sprint(j + 1)
				if text {
					label = fmt.Sprintf("g%02d", j+1)
				}
				x, k := float64(rng.IntN(100))/8, float64(1+rng.IntN(4))
				d.N[j]++
				d.X[j], d.K[j] = append(d.X[j], x), append(d.K[j], k)
				table += fmt.Sprintf("%v,%s,%v,%d,%d\n", x, label, k, d.W[j], d.F[j])
			}
			list, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			want := boundTo(t, groupedProgram, strings.NewReplacer(`"X"`, `"x"`, `"K"`, `"k"`, `"W"`, `"w"`, `"F"`, `"f"`).Replace(string(list)), BindOptions{})
			got, set, err := boundToTable(t, groupedProgram, table, data.Options{})
			if err != nil {
				t.Fatalf("%s: %v", table, err)
			}
			point := make([]float64, got.Dim())
			for i := range point {
				point[i] = rng.NormFloat64()
			}
			lp, g := densityAt(t, got, point)
			lq, h := densityAt(t, want, point)
			if lp != lq || fmt.Sprint(g) != fmt.Sprint(h) {
				t.Errorf("%s: log density %v, of lists %v", table, lp, lq)
			}
			if text != (len(set.Levels("J")) == groups) {
				t.Errorf("%s: the labels of J are %q", table, set.Levels("J"))
			}
			// The same groups in later data have their numbers.
			if later, _, err := boundToTable(t, groupedProgram, table, data.Options{As: set}); err != nil || later.Dim() != got.Dim() {
				t.Errorf("%s: read again: %v", table, err)
			}
		}
	}
}

// TestGroupedFaults checks the messages about tables that cannot be grouped.
func TestGroupedFaults(t *testing.T) {
	_, fit, err := boundToTable(t, groupedProgram, "x,group,k,w,f\n1,a,1,1,1\n1,b,1,1,2\n", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	labelled, err := data.ParseJSON("data.json", []byte(`{"J": 2}`))
	if err != nil {
		t.Fatal(err)
	}
	labelled = labelled.Read(data.Reading{Levels: map[string][]string{"J": {"a", "b"}}}) // as in the folder of a fit
	for _, c := range []struct {
		table, message string
		as             *data.Set
	}{
		{"x,group,k,w,f\n1,0,1,1,1\n", "the column `group` has the value 0 in row 1, but groups count from 1", nil},
		{"x,group,k,w,f\n1,5000000,1,1,1\n", "n would be 5000000, the largest integer of group, but the column only has 5000000", nil},
		{"x,group,k,w,f\n1,a,1,1,1\n2,a,1,2,1\n", "`w` is to have one value for each group, but the rows of \"a\" differ, such as rows 1 and 2", nil},
		{"x,group,k,w,f\n1,1,1,1,1\n2,3,1,2,1\n", "`w` has no value for group 2, which has no rows", nil},
		{"x,group,k,w,f\n1,a,1,1,1\n2,c,1,2,1\n", "which is none of the 2 levels in the data of the fit", fit},
		{"x,group,k,w,f\n1,a,1,1,1\n2,c,1,2,1\n", "`group` is \"c\" in row 2, which is none of the 2 levels in the data of the fit", labelled},
		{"x,k,w,f\n1,1,1,1\n", "there is no column group whose levels could be counted", nil},
	} {
		if _, _, err := boundToTable(t, groupedProgram, c.table, data.Options{As: c.as}); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%q: %v, not %s", c.table, err, c.message)
		}
	}
	const program = `data { int<lower=0> J; array[J] int<lower=0> n; array[J] vector[n] x; } parameters { vector[J] a; } model { a ~ normal(0, 1); for (j in 1:J) x[j] ~ normal(a[j], 1); }`
	if _, _, err := boundToTable(t, program, "x,group\n3,0\n", data.Options{}); err == nil || !strings.Contains(err.Error(), "groups count from 1") {
		t.Errorf("a level of 0, where the number of levels is read first: %v", err)
	}
	later, _, err := boundToTable(t, program, "x,group\n3,b\n", data.Options{As: fit})
	if err != nil {
		t.Fatal(err)
	}
	if _, g := densityAt(t, later, []float64{0, 0}); g[0] != 0 || g[1] != 3 {
		t.Errorf("the rows of the second group of the fit have the gradient %v", g)
	}
}

// TestFlatRows checks that rows are known where data have all elements one after another, so that
// elements have their indices in messages and in output, and missing ones are no observations.
func TestFlatRows(t *testing.T) {
	const program = `data { int J; array[J] int n; array[J] vector<missing>[n] x; array[J] matrix[2, n] z; } parameters { real a; } model { for (j in 1:J) x[j] ~ normal(a, 1); }`
	const values = `{"J": 3, "n": [2, 0, 1], "x": [1, null, 3], "z": [[1, 2, 3], [4, 5, 6]]}`
	p, list := Compile(source.NewFile("m.stan", program))
	if p == nil {
		t.Fatal(list)
	}
	set, err := data.ParseJSON("data.json", []byte(values))
	if err != nil {
		t.Fatal(err)
	}
	coded, _, err := p.Coded(set)
	if err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]int{"x": 0, "z": 1} {
		v, ok := coded.Get(name)
		if !ok || v.Ragged == nil || fmt.Sprint(v.Ragged.Outer, v.Ragged.Sizes, v.Ragged.At) != fmt.Sprint([]int{3}, []int{2, 0, 1}, at) {
			t.Errorf("%s: %v, rows %v", name, v, v.Ragged)
		}
	}
	if path := coded.Path("x", 2); path != "x[3,1]" && path != "x[3][1]" {
		t.Errorf("the last element of x is %s", path)
	}
}
