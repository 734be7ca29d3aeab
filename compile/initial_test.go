package compile

import (
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestWrongInitialValues checks that wrong initial values are reported like data, with value,
// bound, name and place.
func TestWrongInitialValues(t *testing.T) {
	prog, list := Compile(source.NewFile("initial.model", `parameters {
  real mu;
  real<lower=0, upper=10> sigma;
  vector<lower=sigma>[2] above;
  vector[3] theta;
  simplex[3] p;
  array[2] ordered[2] o;
  tuple(real<lower=0>, vector[2]) t;
  complex z;
}
generated quantities {
  real other = mu;
}
`))
	if prog == nil {
		t.Fatal(list[0])
	}
	m, err := prog.Bind(nil, BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{`{}`, ""},
		{`{"mu": 1, "sigma": 9.99}`, ""},
		{`{"other": 1, "mu": 1}`, ""},
		{`{"t": {"1": 1}}`, ""},
		{`{"sigma": -1}`, "i.json:1:11: error: the initial value of `sigma` is -1, but must be greater than 0"},
		{`{"sigma": 0}`, "i.json:1:11: error: the initial value of `sigma` is 0, but must be greater than 0"},
		{`{"sigma": 10}`, "i.json:1:11: error: the initial value of `sigma` is 10, but must be less than 10"},
		{`{"sigma": 2, "above": [3, 1.5]}`, "i.json:1:27: error: the initial value of `above[2]` is 1.5, but must be greater than 2"},
		{`{"sigma": null}`, "i.json:1:11: error: sigma is null"},
		{`{"theta": [1, NaN, 2]}`, "i.json:1:15: error: the initial value of `theta[2]` is nan, but must be a finite number"},
		{`{"mu": "Infinity"}`, "i.json:1:8: error: the initial value of `mu` is inf, but must be a finite number"},
		{`{"theta": [1, 2]}`, "i.json:1:11: error: the initial value of `theta` has the wrong size: 2 elements, but is declared with 3 elements"},
		{`{"theta": 1}`, "i.json:1:11: error: the initial value of `theta` has the wrong size: a single number, but"},
		{`{"z": 1}`, "i.json:1:7: error: the initial value of `z` has the wrong size: a single number, but is declared with 2 elements"},
		{`{"p": [0.2, 0.3, 0.6]}`, "i.json:1:8: error: the initial value of `p` must be a valid simplex, but its elements sum to 1.1"},
		{`{"p": [0, 0.3, 0.7]}`, "i.json:1:7: error: the initial value of `p` lies on the boundary of its declared type, at p.1"},
		{`{"o": [[1, 2], [2, 1]]}`, "i.json:1:17: error: the initial value of `o[2]` must be ordered, but its element 2 is 1"},
		{`{"t": {"1": -1, "2": [0, 0]}}`, "i.json:1:13: error: the initial value of `t.1` is -1, but must be greater than 0"},
		{`{"sigmma": 1}`, "i.json:1:12: error: there is no parameter `sigmma`"},
		{`{"xyz": 1, "u": 2}`, "i.json:1:9: error: none of the values is of a parameter: they are xyz, u"},
	} {
		set, err := data.ParseJSON("i.json", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Unconstrain(set)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.text, err)
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
			t.Errorf("%s: %v\nwant %s", c.text, err, c.want)
		}
	}
}
