package assess_test

import (
	"context"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/fittest"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// TestNothing calls functions and methods with missing values: a nil or empty receiver, a nil
// context, and arguments that are nil, zero or empty. None may panic.
func TestNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	functions := map[string]any{
		"Compile": model.Compile, "CompileContext": model.CompileContext, "CompileFile": model.CompileFile,
		"CompileFileContext": model.CompileFileContext, "Diagnostics": model.Diagnostics, "Gather": fit.Gather,
		"ReadCSV": fit.ReadCSV, "ReadData": model.ReadData, "ReadFit": fit.ReadFit, "ReadZarr": fit.ReadZarr,
		"Sample": fit.Sample, "Version": model.Version, "ZarrGroups": assess.ZarrGroups,
	}
	methods := func(what string, receivers ...any) {
		for _, r := range receivers {
			v := reflect.ValueOf(r)
			for i := range v.NumMethod() {
				functions[what+v.Type().String()+"."+v.Type().Method(i).Name] = v.Method(i).Interface()
			}
		}
	}
	methods("empty ", &model.Model{}, &model.Posterior{}, &fit.Fit{}, &assess.Prior{})
	methods("nil ", (*model.Model)(nil), (*model.Posterior)(nil), (*fit.Fit)(nil))
	run := fittest.LineFit(t, fittest.Line)
	m, err := run.Model()
	if err != nil {
		t.Fatal(err)
	}
	posterior, err := run.Posterior(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	logLik, err := assess.LogLikOf(t.Context(), run, assess.LogLikOptions{})
	if err != nil {
		t.Fatal(err)
	}
	holdout, err := assess.NewHoldout(t.Context(), m, fittest.LineData(), model.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	derived, err := m.Derive(predict.LogLikelihood)
	if err != nil {
		t.Fatal(err)
	}
	simulator, err := assess.NewSimulator(t.Context(), m, fittest.LineData(), 2, 1, assess.SimulatorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	prior, err := assess.SamplePrior(t.Context(), m, fittest.LineData(), model.BindOptions{}, fit.Options{Chains: 1, Draws: 2, Warmup: 1})
	if err != nil {
		t.Fatal(err)
	}
	generated, err := fit.Generate(t.Context(), posterior, run, fit.GenerateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	methods("", m, posterior, run, logLik, holdout, derived, simulator, prior, generated)
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

// TestBareDraws checks that draws from a file without comments on its origin can be written again.
func TestBareDraws(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("bare_1.csv", []byte("lp__,x.1,x.2\n-1,1,2\n-1,2,3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	run, err := fit.ReadCSV("bare_1.csv")
	if err != nil {
		t.Fatal(err)
	}
	files, err := run.WriteCSV("again")
	if err != nil {
		t.Fatal(err)
	}
	if err := run.WriteZarr("again.zarr"); err != nil {
		t.Fatal(err)
	}
	csv, err := fit.ReadCSV(files...)
	if err != nil {
		t.Fatal(err)
	}
	zarr, err := fit.ReadZarr("again.zarr")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*fit.Fit{csv, zarr} {
		if got, err := f.Quantity("x[2]"); err != nil || !slices.Equal(got.Values(), []float64{2, 3}) {
			t.Error(got, err)
		}
	}
}
