package fit_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/model"
)

// misused is a model that offers everything that can be misused.
const misused = `data { int N; array[N] real y; }
parameters { real mu; vector<lower=0>[2] s; simplex[3] p; complex z; tuple(real, vector[2]) t; cov_matrix[2] C; }
model { y ~ normal(mu, s[1]); }
generated quantities { real u = normal_rng(mu, 1); }
`

// pointer is a type whose values can point to themselves.
type pointer *pointer

// ring is a type that embeds itself.
type ring struct {
	*Ring
	N int
}

// Ring is exported so that Bind looks at its fields.
type Ring ring

type node struct {
	Value float64
	Next  *node
}

type arms struct{ n, m int }

func (a arms) Dims() (int, int)  { return a.n, a.m }
func (arms) At(_, _ int) float64 { return 1 }

// TestMisuse checks that wrong use by Go programs causes an error or nothing, and never a panic.
func TestMisuse(t *testing.T) {
	text, err := model.Compile("misused.stan", misused)
	if err != nil {
		t.Fatal(err)
	}
	good := map[string]any{"N": 2, "y": []float64{1, 2}}
	posterior, err := text.Bind(good)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	dim, rng := posterior.Dim(), rand.New(rand.NewPCG(1, 2))
	x, out := make([]float64, dim), make([]float64, len(posterior.OutputNames()))
	square := make([]float64, dim*dim)

	var self pointer
	self = &self
	var loop any
	loop = &loop
	slice := []any{nil}
	slice[0] = slice
	tuple := map[string]any{}
	tuple["1"] = tuple
	list := &node{Value: 1}
	list.Next = list
	embedded := &ring{}
	embedded.Ring = (*Ring)(embedded)
	everything := map[string]any{}
	everything["y"] = everything

	bind := func(values any) func() error {
		return func() error { _, err := text.Bind(values); return err }
	}
	y := func(v any) func() error { return bind(map[string]any{"N": 2, "y": v}) }
	sample := func(ctx context.Context, p *model.Posterior, o fit.Options) func() error {
		return func() error {
			if o.Draws == 0 {
				o.Warmup, o.Draws = 10, 10
			}
			fit, err := fit.Sample(ctx, p, o)
			if fit != nil {
				return fmt.Errorf("a fit, and %w", err)
			}
			return err
		}
	}
	var none *model.Posterior
	var noContext context.Context
	for name, test := range map[string]struct {
		do   func() error
		want string
	}{
		"nil model":    {func() error { _, err := (*model.Model)(nil).Bind(good); return err }, "no model"},
		"zero model":   {func() error { _, err := new(model.Model).Bind(good); return err }, "no model"},
		"missing file": {func() error { _, err := model.CompileFile(filepath.Join(t.TempDir(), "none")); return err }, "cannot read"},
		"a folder":     {func() error { _, err := model.CompileFile(t.TempDir()); return err }, "cannot read"},
		"no text":      {func() error { _, err := model.Compile("", ""); return err }, ""},
		"binary":       {func() error { _, err := model.Compile("\x00", "\x00\xff\xfe"); return err }, "E0"},
		"unknown transforms": {func() error {
			_, err := text.BindContext(t.Context(), good, model.BindOptions{StanCompat: "1"})
			return err
		}, "1"},

		"nil data":            {bind(nil), "have no value for"},
		"nil map":             {bind(map[string]any(nil)), "have no value for"},
		"nil map of reals":    {bind(map[string]float64(nil)), "have no value for"},
		"nil struct":          {bind((*arms)(nil)), "want a map"},
		"map with other keys": {bind(map[int]any{1: 1}), "want a map"},
		"function":            {bind(func() {}), "want a map"},
		"number":              {bind(1), "want a map"},
		"empty JSON":          {bind(model.JSON(nil)), "empty"},
		"missing JSON file":   {bind(model.DataFile{Path: ""}), "cannot read"},
		"nil value":           {y(nil), "nil"},
		"nil pointer":         {y((*float64)(nil)), "nil"},
		"nil matrix":          {y((*arms)(nil)), "nil"},
		"negative matrix":     {y(arms{-3, -2}), ""},
		"channel":             {y(make(chan int)), "chan int"},
		"pointer to itself":   {bind(self), "nested"},
		"value of pointer":    {y(self), "nested"},
		"interface in itself": {y(loop), "nested"},
		"data are a cycle":    {bind(&loop), "nested"},
		"slice in itself":     {y(slice), "nested"},
		"map in itself":       {y(tuple), "nested"},
		"data in themselves":  {bind(everything), "no member 1"},
		"list in itself":      {y(list), "nested"},
		"ring":                {bind(embedded), "nested"},

		"nil posterior":           {func() error { _, err := none.LogDensity(nil); return err }, "no posterior"},
		"nil posterior, gradient": {func() error { _, err := none.LogDensityGrad(nil, nil); return err }, "no posterior"},
		"zero posterior":          {func() error { _, err := new(model.Posterior).LogDensity(nil); return err }, "no posterior"},
		"nil posterior, names": {func() error {
			none.SetStop(nil)
			return fmt.Errorf("%d %d %d %d", none.Dim(), len(none.OutputNames()), len(none.UnconstrainedNames()), len(none.ConstrainedNames()))
		}, "0 0 0 0"},
		"nil posterior, clone":       {func() error { _, err := none.Clone().LogDensityGrad(nil, nil); return err }, "no posterior"},
		"nil posterior, constrain":   {func() error { _, err := none.Constrain(nil); return err }, "no posterior"},
		"nil posterior, generate":    {func() error { return none.Generate(nil, rng, nil) }, "no posterior"},
		"nil posterior, unconstrain": {func() error { _, err := none.Unconstrain(good); return err }, "no posterior"},
		"nil posterior, init":        {func() error { _, err := none.InitAt(good, 1); return err }, "no posterior"},
		"nil posterior, compiled": {func() error {
			if none.Compiled() == nil && none.Unwrap() == nil {
				return errors.New("no posterior")
			}
			return nil
		}, "no posterior"},

		"short point":           {func() error { _, err := posterior.LogDensity(x[1:]); return err }, "a point of length"},
		"nil point":             {func() error { _, err := posterior.LogDensity(nil); return err }, "a point of length 0"},
		"short gradient":        {func() error { _, err := posterior.LogDensityGrad(x, x[1:]); return err }, "a gradient of length"},
		"constrain short":       {func() error { _, err := posterior.Constrain(x[1:]); return err }, "a point of length"},
		"generate short":        {func() error { return posterior.Generate(x[1:], rng, out) }, "a point of length"},
		"generate to short":     {func() error { return posterior.Generate(x, rng, out[1:]) }, "a place for"},
		"generate to nil":       {func() error { return posterior.Generate(x, rng, nil) }, "a place for 0"},
		"generate without rng":  {func() error { return posterior.Generate(x, nil, out) }, "random numbers"},
		"explain value short":   {func() error { _, err := posterior.Compiled().ExplainValue(nil, time.Second); return err }, "a point of length 0"},
		"explain short":         {func() error { _, err := posterior.Compiled().Explain(nil, time.Second); return err }, "a point of length 0"},
		"explain without time":  {func() error { _, err := posterior.Compiled().Explain(x, -time.Second); return err }, ""},
		"metric short":          {func() error { return posterior.Compiled().FisherMetric(x, square[1:]) }, "a matrix of"},
		"trace gradient short":  {func() error { return posterior.Compiled().FisherTraceGrad(x, square, x[1:]) }, "a gradient of length"},
		"Hessian's short":       {func() error { return posterior.Compiled().HessianTraceGrad(x, square, nil) }, "a gradient of length 0"},
		"user's short":          {func() error { return posterior.Compiled().UserMetricTraceGrad(x, square, nil) }, "a gradient of length 0"},
		"unknown metric":        {func() error { return posterior.Compiled().MetricError("?") }, ""},
		"unconstrain nothing":   {func() error { _, err := posterior.Unconstrain(nil); return err }, ""},
		"unconstrain short":     {func() error { _, err := posterior.Unconstrain(map[string]any{"s": []float64{1}}); return err }, "wrong size"},
		"unconstrain scalar":    {func() error { _, err := posterior.Unconstrain(map[string]any{"s": 1.0}); return err }, "wrong size"},
		"unconstrain outside":   {func() error { _, err := posterior.Unconstrain(map[string]any{"s": []float64{-1, 1}}); return err }, "must be greater than 0"},
		"unconstrain a simplex": {func() error { _, err := posterior.Unconstrain(map[string]any{"p": []float64{2, 2, 2}}); return err }, ""},
		"unconstrain an empty":  {func() error { _, err := posterior.Unconstrain(map[string]any{"p": []float64{}}); return err }, "wrong size"},
		"unconstrain complex":   {func() error { _, err := posterior.Unconstrain(map[string]any{"z": 1.0}); return err }, "wrong size"},
		"unconstrain complex 3": {func() error { _, err := posterior.Unconstrain(map[string]any{"z": []float64{1, 2, 3}}); return err }, "wrong size"},
		"unconstrain a tuple":   {func() error { _, err := posterior.Unconstrain(map[string]any{"t": 1.0}); return err }, ""},
		"unconstrain its member": {func() error {
			_, err := posterior.Unconstrain(map[string]any{"t": map[string]any{"1": 1.0, "2": 1.0}})
			return err
		}, "wrong size"},
		"unconstrain a matrix": {func() error {
			_, err := posterior.Unconstrain(map[string]any{"C": [][]float64{{1, 2}, {2, 1}}})
			return err
		}, ""},
		"unconstrain NaN": {func() error {
			_, err := posterior.Unconstrain(map[string]any{"s": []float64{math.NaN(), math.Inf(1)}})
			return err
		}, ""},
		"unconstrain a cycle": {func() error { _, err := posterior.Unconstrain(everything); return err }, "no member 1"},

		"sample nothing":         {sample(ctx, nil, fit.Options{}), "no posterior"},
		"sample zero":            {sample(ctx, new(model.Posterior), fit.Options{}), "no posterior"},
		"sample without context": {sample(noContext, posterior, fit.Options{}), "no context"},
		"nil sampler":            {sample(ctx, posterior, fit.Options{Sampler: (*nuts.Sampler)(nil)}), "Sampler is a nil"},
		"negative chains":        {sample(ctx, posterior, fit.Options{Chains: -1}), "chains"},
		"many chains":            {sample(ctx, posterior, fit.Options{Chains: math.MaxInt}), "chains"},
		"many transitions":       {sample(ctx, posterior, fit.Options{Warmup: math.MaxInt, Draws: math.MaxInt}), "transitions"},
		"negative thin":          {sample(ctx, posterior, fit.Options{Thin: -1}), "thin"},
		"large thin":             {sample(ctx, posterior, fit.Options{Thin: math.MaxInt}), "Thin"},
		"negative refresh":       {sample(ctx, posterior, fit.Options{Refresh: -1}), "refresh"},
		"digits":                 {sample(ctx, posterior, fit.Options{SigFigs: -4}), "sig-figs"},
		"many digits":            {sample(ctx, posterior, fit.Options{SigFigs: 99}), "sig-figs"},
		"target NaN":             {sample(ctx, posterior, fit.Options{TargetESS: math.NaN()}), "target-ess"},
		"negative target":        {sample(ctx, posterior, fit.Options{TargetESS: -1}), "target-ess"},
		"resume from nowhere":    {sample(ctx, posterior, fit.Options{Resume: true}), "Output"},
		"save to nowhere":        {sample(ctx, posterior, fit.Options{Resumable: true}), "Output"},
		"no folder":              {sample(ctx, posterior, fit.Options{Output: filepath.Join(t.TempDir(), "no", "fit")}), "cannot write draws to"},
		"no positions":           {sample(ctx, posterior, fit.Options{Init: infer.At{}}), "initial positions"},
		"nil init":               {sample(ctx, posterior, fit.Options{Init: (*infer.At)(nil)}), "Init is a nil"},
		"short positions":        {sample(ctx, posterior, fit.Options{Chains: 1, Init: infer.At{Positions: [][]float64{{1}}}}), "a fit, and chain 1: 1 initial values"},
		"radius":                 {sample(ctx, posterior, fit.Options{Chains: 1, Init: infer.Uniform{Radius: math.NaN()}}), "init-radius"},
		"step size":              {sample(ctx, posterior, fit.Options{StepSize: []float64{math.NaN()}}), "step size"},
		"metric of nothing":      {sample(ctx, posterior, fit.Options{Chains: 1, Metric: []infer.Metric{{}}}), "a fit, and chain 1"},
		"short metric":           {sample(ctx, posterior, fit.Options{Chains: 1, Metric: []infer.Metric{{Kind: infer.Dense, Dim: dim, Inverse: []float64{1}}}}), "a fit, and chain 1"},
		"dimension of metric":    {sample(ctx, posterior, fit.Options{Chains: 1, Metric: []infer.Metric{{Kind: infer.Diagonal, Dim: -1}}}), "a fit, and chain 1"},
		"folds that lack":        {sample(ctx, posterior, fit.Options{Chains: 1, Sampler: ahmc.Sampler{Reward: ahmc.Predictive{}}}), ""},

		"dense without numbers": {func() error {
			_, err := infer.Adapted{Metric: infer.Metric{Kind: infer.Dense, Dim: 2}}.MarshalJSON()
			return err
		}, "instead of 4"},
		"negative unit": {func() error {
			_, err := infer.Adapted{Metric: infer.Metric{Kind: infer.Unit, Dim: -1}}.MarshalJSON()
			return err
		}, "dimension"},
		"diagonal and dim": {func() error {
			_, err := infer.Adapted{Metric: infer.Metric{Kind: infer.Diagonal, Dim: 2, Inverse: []float64{1}}}.MarshalJSON()
			return err
		}, "instead of 2"},
		"no JSON":                {func() error { return new(infer.Adapted).UnmarshalJSON(nil) }, "JSON"},
		"ragged":                 {func() error { return new(infer.Adapted).UnmarshalJSON([]byte(`{"inv_metric": [[1], [1, 2]]}`)) }, "2 rows"},
		"interrupted by nothing": {func() error { return &fit.InterruptedError{} }, "interrupted"},
		"diagnostics of nil":     {func() error { return fmt.Errorf("%d", len(model.Diagnostics(nil))) }, "0"},
		"name": {func() error {
			return fmt.Errorf("%q", diagnose.DisplayName("")+diagnose.DisplayName(".")+diagnose.DisplayName(":..:"))
		}, ""},
	} {
		err := func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = fmt.Errorf("PANIC: %v", p)
				}
			}()
			return test.do()
		}()
		if got := fmt.Sprint(err); strings.Contains(got, "PANIC") || strings.Contains(got, "panic: ") || test.want != "" && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("%s: %v; want %q", name, err, test.want)
		}
	}
	if m := (*model.Model)(nil); m.Name() != "" || m.Warnings() != nil {
		t.Error("a nil model has a name or warnings")
	}
	if _, err := draws.NewStore(draws.Columns{Names: []string{"x"}}, 1<<40, 1000); err == nil {
		t.Error("a store for very many chains")
	}
}

// TestSharedData checks that data with shared, but not cyclic, values are accepted.
func TestSharedData(t *testing.T) {
	model, err := model.Compile("shared.stan", "data { array[2, 2] real y; array[2, 2] real z; } parameters { real x; } model { x ~ normal(0, sum(y[1]) + sum(z[2])); }")
	if err != nil {
		t.Fatal(err)
	}
	row := []float64{1, 2}
	rows := []any{&row, &row}
	if _, err := model.Bind(map[string]any{"y": rows, "z": &rows}); err != nil {
		t.Error(err)
	}
}
