package ppl_test

import (
	"context"
	"os"
	"reflect"
	"testing"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/predict"
)

// TestNothing calls functions and methods with nothing: no receiver, an empty one, no
// context, and arguments that are nil, zero or empty.
func TestNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	functions := map[string]any{
		"Compile": ppl.Compile, "CompileContext": ppl.CompileContext, "CompileFile": ppl.CompileFile,
		"CompileFileContext": ppl.CompileFileContext, "Diagnostics": ppl.Diagnostics, "Gather": ppl.Gather,
		"ReadCSV": ppl.ReadCSV, "ReadData": ppl.ReadData, "ReadFit": ppl.ReadFit, "ReadZarr": ppl.ReadZarr,
		"Sample": ppl.Sample, "Version": ppl.Version, "ZarrGroups": ppl.ZarrGroups,
	}
	methods := func(what string, receivers ...any) {
		for _, r := range receivers {
			v := reflect.ValueOf(r)
			for i := range v.NumMethod() {
				functions[what+v.Type().String()+"."+v.Type().Method(i).Name] = v.Method(i).Interface()
			}
		}
	}
	methods("empty ", &ppl.Model{}, &ppl.Posterior{}, &ppl.Fit{}, &ppl.Prior{})
	methods("nil ", (*ppl.Model)(nil), (*ppl.Posterior)(nil), (*ppl.Fit)(nil))
	fit := lineFit(t, lines)
	model, err := fit.Model()
	if err != nil {
		t.Fatal(err)
	}
	posterior, err := fit.Posterior(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	logLik, err := fit.LogLik(t.Context(), ppl.LogLikOptions{})
	if err != nil {
		t.Fatal(err)
	}
	holdout, err := model.Holdout(t.Context(), lineData(), ppl.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	derived, err := model.Derive(predict.LogLikelihood)
	if err != nil {
		t.Fatal(err)
	}
	simulator, err := model.Simulator(t.Context(), lineData(), 2, 1, ppl.SimulatorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	prior, err := model.SamplePrior(t.Context(), lineData(), ppl.BindOptions{}, ppl.Options{Chains: 1, Draws: 2, Warmup: 1})
	if err != nil {
		t.Fatal(err)
	}
	generated, err := posterior.GenerateFrom(t.Context(), fit, ppl.GenerateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	methods("", model, posterior, fit, logLik, holdout, derived, simulator, prior, generated)
	for name, f := range functions {
		for _, empty := range []bool{false, true} {
			func() {
				defer func() {
					if p := recover(); p != nil {
						t.Errorf("%s: %v", name, p)
					}
				}()
				v := reflect.ValueOf(f)
				var args []reflect.Value
				for i := range v.Type().NumIn() {
					in := v.Type().In(i)
					switch {
					case empty && in.Kind() == reflect.Pointer:
						args = append(args, reflect.New(in.Elem()))
					case empty && in == reflect.TypeFor[context.Context]():
						args = append(args, reflect.ValueOf(t.Context()))
					default:
						args = append(args, reflect.Zero(in))
					}
				}
				if v.Type().IsVariadic() {
					v.CallSlice(args)
					return
				}
				v.Call(args)
			}()
		}
	}
}

// Draws that say nothing on where they come from can be written as others.
func TestBareDraws(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("bare_1.csv", []byte("lp__,x.1,x.2\n-1,1,2\n-1,2,3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	fit, err := ppl.ReadCSV("bare_1.csv")
	if err != nil {
		t.Fatal(err)
	}
	files, err := fit.WriteCSV("again")
	if err != nil {
		t.Fatal(err)
	}
	if err := fit.WriteZarr("again.zarr"); err != nil {
		t.Fatal(err)
	}
	csv, err := ppl.ReadCSV(files...)
	if err != nil {
		t.Fatal(err)
	}
	zarr, err := ppl.ReadZarr("again.zarr")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*ppl.Fit{csv, zarr} {
		if got, err := f.Values("x[2]"); err != nil || len(got) != 2 || got[0] != 2 || got[1] != 3 {
			t.Error(got, err)
		}
	}
}
