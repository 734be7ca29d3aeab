package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const examplesDir = "../../../examples"

// TestDataIsCurrent checks that the data in examples/ equal the output of the generator.
func TestDataIsCurrent(t *testing.T) {
	for _, e := range examples {
		got, err := os.ReadFile(e.dataPath(examplesDir))
		if err != nil {
			t.Error(err)
			continue
		}
		if !bytes.Equal(got, e.data().encode()) {
			t.Errorf("%s: data differ from the generator's; run go run ./internal/cmd/examplegen -root .", e.name)
		}
	}
}

// TestExpected checks that every expected.json passes the checks for references and has the form
// that the converter writes.
func TestExpected(t *testing.T) {
	for _, ex := range examples {
		text, err := os.ReadFile(filepath.Join(examplesDir, ex.name, "expected.json"))
		if err != nil {
			t.Error(err)
			continue
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		var e expected
		if err := d.Decode(&e); err != nil {
			t.Errorf("%s: %v", ex.name, err)
			continue
		}
		if err := e.check(); err != nil {
			t.Errorf("%s: %v", ex.name, err)
		}
		var names []string
		for _, s := range e.Summary {
			names = append(names, s.Name)
		}
		if !slices.Equal(names, e.ConstrainedNames) {
			t.Errorf("%s: the summary's names are not constrained_names", ex.name)
		}
		again, err := e.encode()
		if err != nil {
			t.Errorf("%s: %v", ex.name, err)
		} else if !bytes.Equal(again, text) {
			t.Errorf("%s: expected.json is not in the converter's form", ex.name)
		}
	}
}

// TestFolders checks that each example has all its files, that its README shows the command that
// runs it, and that examples/README.md links to it.
func TestFolders(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(examplesDir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range examples {
		for _, file := range []string{e.name + ".model", e.name + ".data.json", "expected.json", "README.md"} {
			if _, err := os.Stat(filepath.Join(examplesDir, e.name, file)); err != nil {
				t.Error(err)
			}
		}
		if !bytes.Contains(readme, []byte("]("+e.name+"/)")) {
			t.Errorf("examples/README.md does not link %s", e.name)
		}
		text, err := os.ReadFile(filepath.Join(examplesDir, e.name, "README.md"))
		if err != nil {
			continue // reported above
		}
		command := "ppl run examples/NAME/NAME.model --data examples/NAME/NAME.data.json"
		if !bytes.Contains(text, []byte(strings.ReplaceAll(command, "NAME", e.name))) {
			t.Errorf("the README of %s lacks the command that runs it", e.name)
		}
	}
}

func TestEncode(t *testing.T) {
	d := dataset{{"N", 2}, {"x", []float64{0.5, -1.23456789e-7}}, {"m", [][]float64{{1, 2}, {3, 4}}}, {"g", slices.Repeat([]int{12345}, 20)}, {"none", []int{}}}
	want := `{
  "N": 2,
  "x": [0.5, -1.23457e-07],
  "m": [
    [1, 2],
    [3, 4]
  ],
  "g": [
    12345, 12345, 12345, 12345, 12345, 12345, 12345, 12345, 12345, 12345, 12345, 12345, 12345,
    12345, 12345, 12345, 12345, 12345, 12345, 12345
  ],
  "none": []
}
`
	if got := string(d.encode()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// fitResult returns a result of Stan for one parameter that passes every check.
func fitResult() *stanResult {
	num := func(s string) number { return number{json.RawMessage(s)} }
	r := &stanResult{Version: "2.32.2", Unconstrained: []string{"mu"}, Params: []string{"mu"}, Transformed: []string{"twice"}}
	for range minPoints {
		r.Points = append(r.Points, stanPoint{
			X: []number{num("0.10000000000000001")}, ProptoJacobian: num("-1"), FullJacobian: num("-2"), FullNoJacobian: num("-3"),
			Gradient: []number{num("-0.5")}, Constrained: []number{num("0.10000000000000001"), num("0.20000000000000001")},
		})
	}
	n := &r.NUTS
	n.Status, n.Warmup, n.Draws, n.Chains = "complete", 1000, 1000, make([]chain, 4)
	s := &n.Summary
	s.Mean = []number{num("0"), num("0")}
	s.SD = []number{num("1"), num("2")}
	s.MCSE = []number{num("0.02"), num("0.04")}
	s.ESSBulk = []number{num("2500"), num("2500")}
	s.Rhat = []number{num("1.001"), num("1.001")}
	return r
}

func TestConvert(t *testing.T) {
	e, err := convert(fitResult())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.check(); err != nil {
		t.Fatal(err)
	}
	text, err := e.encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n{\"x\":[0.10000000000000001],\n\"log_density\":-1,\n\"gradient\":[-0.5],\n\"log_density_full\":-2,",
		`"draws":4000`,
		"\n{\"name\":\"twice\",\"mean\":0,\"sd\":2,",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("encoded text lacks %q:\n%s", want, text)
		}
	}
}

// TestUnfitResults changes a good result in one way at a time and checks that it is rejected.
func TestUnfitResults(t *testing.T) {
	infinite := number{json.RawMessage(`"-Infinity"`)}
	null := number{json.RawMessage("null")}
	spoil := map[string]func(*stanResult){
		"status is":         func(r *stanResult) { r.NUTS.Status = "time limit" },
		"tree depth":        func(r *stanResult) { r.NUTS.Chains[1].DepthHits = 1 },
		"divergences":       func(r *stanResult) { r.NUTS.Chains[1].Divergences = 3 },
		"fewer than":        func(r *stanResult) { r.Points = r.Points[1:] },
		"is not finite":     func(r *stanResult) { r.Points[0].Gradient = []number{infinite} },
		"wrong size":        func(r *stanResult) { r.Points[0].Constrained = nil },
		"summary column":    func(r *stanResult) { r.NUTS.Summary.SD = r.NUTS.Summary.SD[1:] },
		"mu has R-hat 1.02": func(r *stanResult) { r.NUTS.Summary.Rhat[0] = number{json.RawMessage("1.02")} },
		"R-hat null":        func(r *stanResult) { r.NUTS.Summary.Rhat[0] = null },
		"bulk ESS 399":      func(r *stanResult) { r.NUTS.Summary.ESSBulk[0] = number{json.RawMessage("399")} },
		"sd null":           func(r *stanResult) { r.NUTS.Summary.SD[0] = null },
	}
	for want, change := range spoil {
		r := fitResult()
		change(r)
		e, err := convert(r)
		if err == nil {
			err = e.check()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, c := range []struct{ from, name, extra, want string }{
		{name: "garch", want: "-name needs"},
		{from: "x.json", want: "-expected needs"},
		{extra: "garch", want: "unexpected argument"},
		{from: "no-such.json", name: "garch", want: "no-such.json"},
	} {
		var rest []string
		if c.extra != "" {
			rest = append(rest, c.extra)
		}
		if err := run(t.TempDir(), c.from, c.name, rest); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}
