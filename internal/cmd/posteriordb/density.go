package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/internal/figures"
	"github.com/ppl-lang/ppl/model"
)

// The largest errors that count as agreement. Errors are relative to the sum of the absolute values
// of the terms of the result, at least 1.
const (
	tolerance = 1e-9
	// Larger errors may be due to rounding: the number is then as uncertain for Stan as for ppl.
	// Results agree if they differ by at most this many times the spread caused by rounding.
	roundingFactor = 10
	// Solutions of differential equations are as accurate as the tolerances in the model, in Stan
	// and in ppl, which take different steps. They agree if ppl's largest distance from the
	// solution with tight tolerances is at most this many times Stan's, or this many times the
	// default tolerance if Stan's distance is smaller than that.
	odeFactor, odeDefault = 10, 1e-6
)

var callsODE = regexp.MustCompile(`\b(integrate_ode|ode)_(rk45|bdf|adams|ckrk)`)

// form is one of the forms of the log density for which Stan's figures are given.
type form struct {
	name    string
	options model.BindOptions
}

var forms = []form{
	{"propto", model.BindOptions{StanCompat: stanVersion}},
	{"full", model.BindOptions{StanCompat: stanVersion, NoPropto: true}},
	{"no Jacobian", model.BindOptions{StanCompat: stanVersion, NoPropto: true, NoJacobian: true}},
}

// densityRow is the result of the check of densities for a posterior.
type densityRow struct {
	Name   string `json:"name"`
	Dim    int    `json:"dim,omitempty"`
	Status status `json:"status"`
	Reason string `json:"reason,omitempty"`
	Legacy bool   `json:"legacy,omitempty"` // compiled in the older syntax
	ODE    bool   `json:"ode,omitempty"`    // errors are from the solution with tight tolerances
	// For ODE models: Stan's largest error, relative to that solution.
	StanODE number `json:"stan_ode_error,omitempty"`
	// Rounding counts the numbers that differ by more than the tolerance, but by no more than
	// rounding explains.
	Rounding int `json:"rounding,omitempty"`
	Points   int `json:"points,omitempty"`
	// Wall times of compiling, and of binding to data that were read before.
	CompileMS float64 `json:"compile_ms,omitempty"`
	BindMS    float64 `json:"bind_ms,omitempty"`
	Ops       int     `json:"ops,omitempty"` // nodes of the differentiated graph, if it was inspected
	MemoryMB  float64 `json:"memory_mb"`     // heap of the process after all forms were bound
	// Largest errors by form; largest errors of gradients (propto) and constrained values.
	Density  map[string]number `json:"density,omitempty"`
	Gradient number            `json:"gradient"`
	Values   number            `json:"values"`
}

// status is the outcome for a posterior.
type status string

const (
	agrees   status = "agrees"
	differs  status = "differs"
	excused  status = "Stan's error"
	notBound status = "does not bind"
	noStan   status = "no figures of Stan"
	broken   status = "cannot be read"
)

// exceptions lists posteriors for which Stan's figures are inaccurate. Errors larger than those
// that were examined do not pass.
var exceptions = map[string]struct {
	largest float64
	reason  string
}{
	"sat-hier_2pl": {1e-8, "beyond ±20 the derivative of Stan's bernoulli_logit is off by about exp(-|x|)"},
	"synthetic_grid_RBF_kernels-kronecker_gp": {2, "Stan computes diagonal elements of the Cholesky factor, some below 1e-7, as sqrt(1 - sum of squares), " +
		"which loses nearly all digits; by 45 digits the log density at the first point is -6012.00895295219, which is ppl's. The signs of eigenvectors are free"},
}

func (r *densityRow) fail(st status, format string, args ...any) {
	r.Status, r.Reason = st, fmt.Sprintf(format, args...)
}

// density compares a posterior with Stan's figures.
func density(db database, name string) (row densityRow) {
	row.Name = name
	s, err := db.load(name)
	if err != nil {
		row.fail(broken, "%v", err)
		return row
	}
	row.ODE = callsODE.MatchString(s.text)
	defer func() {
		if p := recover(); p != nil {
			row.fail(notBound, "panic: %v", p)
		}
	}()
	t := time.Now()
	m, legacy, err := s.compile()
	row.Legacy = legacy
	if err != nil {
		row.fail(notBound, "%s", says(err))
		return row
	}
	row.CompileMS = milliseconds(t)
	var bound [3]*model.Posterior
	for i, f := range forms {
		t := time.Now()
		if bound[i], err = m.BindContext(context.Background(), model.JSON(s.data), f.options); err != nil {
			row.fail(notBound, "%s", says(err))
			return row
		}
		if i == 0 {
			row.BindMS = milliseconds(t)
		}
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	row.MemoryMB = float64(mem.HeapAlloc) / 1e6
	row.Dim = bound[0].Dim()
	if s.stan == nil {
		row.Status = noStan
		return row
	}
	s.compare(&row, bound)
	return row
}

func milliseconds(since time.Time) float64 { return float64(time.Since(since)) / 1e6 }

// compare computes the errors at Stan's points.
func (s *subject) compare(row *densityRow, bound [3]*model.Posterior) {
	names := append(slices.Clone(s.stan.Params), s.stan.TParams...)
	switch {
	case s.stan.Dim != row.Dim:
		row.fail(differs, "%d unconstrained parameters, Stan has %d", row.Dim, s.stan.Dim)
		return
	case !slices.Equal(names, bound[0].ConstrainedNames()):
		row.fail(differs, "the names of constrained values differ from Stan's: %s", firstDifference(bound[0].ConstrainedNames(), names))
		return
	}
	c := &comparison{subject: s, row: row, graphs: map[string]*compile.Model{}}
	if row.ODE {
		if err := c.bindTight(); err != nil {
			row.fail(differs, "with tight tolerances: %s", says(err))
			return
		}
	}
	row.Status, row.Density = agrees, map[string]number{}
	for k := range s.stan.Points {
		if err := c.point(k, bound); err != nil {
			row.fail(differs, "point %d: %s", k+1, says(err))
			return
		}
		row.Points++
	}
	if c.worst > c.limit() {
		row.fail(differs, "%s", c.where)
		if e, ok := exceptions[s.name]; ok && c.worst <= e.largest {
			row.fail(excused, "%s (%s)", e.reason, c.where)
		}
	}
}

func firstDifference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("%s, Stan has %s", got[i], want[i])
		}
	}
	return fmt.Sprintf("%d of them, Stan has %d", len(got), len(want))
}

// comparison is the state of comparing a posterior with Stan's figures.
type comparison struct {
	*subject
	row    *densityRow
	worst  float64 // largest error so far
	where  string
	graphs map[string]*compile.Model // models bound again to get their graphs, if terms are needed
	tight  []*model.Posterior        // for ODE models: the forms with tight tolerances
}

// limit returns the largest error that counts as agreement.
func (c *comparison) limit() float64 {
	if c.row.ODE {
		return odeFactor * max(float64(c.row.StanODE), odeDefault)
	}
	return tolerance
}

// bindTight binds the model with tight tolerances.
func (c *comparison) bindTight() error {
	text, err := tighten(c.text)
	if err != nil {
		return err
	}
	s := &subject{name: c.name, model: c.model, text: text}
	m, _, err := s.compile()
	if err != nil {
		return err
	}
	for _, f := range forms {
		p, err := m.BindContext(context.Background(), model.JSON(c.data), f.options)
		if err != nil {
			return err
		}
		c.tight = append(c.tight, p)
	}
	return nil
}

// tighten returns the text with tight tolerances in the calls of integrate_ode_rk45 and similar
// functions.
func tighten(text string) (string, error) {
	const tight = ", 1e-12, 1e-12, 100000000)"
	calls := callsODE.FindAllStringIndex(text, -1)
	for _, at := range slices.Backward(calls) {
		if !strings.HasPrefix(text[at[0]:], "integrate_ode") {
			return "", fmt.Errorf("no way is known to give %s other tolerances", text[at[0]:at[1]])
		}
		depth, commas := 0, 0
		for i, r := range text[at[1]:] {
			switch {
			case strings.ContainsRune("([{", r):
				depth++
			case strings.ContainsRune(")]}", r):
				depth--
			case r == ',' && depth == 1:
				commas++
			}
			const arguments = 7 // number of arguments without tolerances
			if depth == 0 || commas == arguments {
				rest := text[at[1]+i:]
				end := 0
				for ; depth > 0; end++ {
					switch rest[end] {
					case '(', '[', '{':
						depth++
					case ')', ']', '}':
						depth--
					}
				}
				text = text[:at[1]+i] + tight + rest[max(end, 1):]
				break
			}
		}
	}
	return text, nil
}

// against returns the numbers from which errors are measured: Stan's numbers or, for ODE models,
// those of the form with tight tolerances. For the latter it also records Stan's errors.
func (c *comparison) against(stan []float64, tight func() ([]float64, error)) ([]float64, error) {
	if !c.row.ODE {
		return stan, nil
	}
	exact, err := tight()
	if err != nil {
		return nil, err
	}
	for i, v := range stan {
		c.row.StanODE = number(larger(float64(c.row.StanODE), relative(v, exact[i], 1)))
	}
	return exact, nil
}

// point compares at one of Stan's points.
func (c *comparison) point(k int, bound [3]*model.Posterior) error {
	p := c.stan.Points[k]
	x, grad := floats(p.X), make([]float64, len(p.X))
	want := []number{p.Propto, p.Full, p.FullNoJac}
	for i, f := range forms {
		lp, err := bound[i].LogDensityGrad(x, grad)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		got, stan := []float64{lp}, []float64{float64(want[i])}
		if i == 0 {
			got, stan = append(got, grad...), append(stan, floats(p.Grad)...)
		}
		stan, err = c.against(stan, func() ([]float64, error) {
			g := make([]float64, len(x))
			lp, err := c.tight[i].LogDensityGrad(x, g)
			return append([]float64{lp}, g...), err
		})
		if err != nil {
			return fmt.Errorf("%s, tight tolerances: %w", f.name, err)
		}
		errs := c.errors(f, x, got, stan)
		c.row.Density[f.name] = number(larger(float64(c.row.Density[f.name]), errs[0]))
		c.note(errs[0], k, f.name+" log density", got[0], stan[0])
		for j, e := range errs[1:] {
			c.row.Gradient = number(larger(float64(c.row.Gradient), e))
			c.note(e, k, "derivative by "+bound[0].UnconstrainedNames()[j], got[j+1], stan[j+1])
		}
	}
	values, err := bound[0].Constrain(x)
	if err != nil {
		return fmt.Errorf("constrained values: %w", err)
	}
	stan, err := c.against(floats(p.Values), func() ([]float64, error) { return c.tight[0].Constrain(x) })
	if err != nil {
		return fmt.Errorf("constrained values, tight tolerances: %w", err)
	}
	for j, v := range values {
		e := relative(v, stan[j], 1)
		c.row.Values = number(larger(float64(c.row.Values), e))
		c.note(e, k, bound[0].ConstrainedNames()[j], v, stan[j])
	}
	return nil
}

// larger returns the larger of two numbers, or NaN if one is NaN.
func larger(a, b float64) float64 {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.NaN()
	}
	return max(a, b)
}

func (c *comparison) note(e float64, k int, what string, got, stan float64) {
	if math.IsNaN(e) {
		e = math.Inf(1)
	}
	if e > c.worst {
		c.worst, c.where = e, fmt.Sprintf("point %d: %s is %.17g, %s %.17g", k+1, what, got, c.other(), stan)
	}
}

// other returns the name of the numbers with which ppl's are compared.
func (c *comparison) other() string {
	if c.row.ODE {
		return "with tight tolerances"
	}
	return "Stan's"
}

// errors compares numbers with Stan's. The errors are relative to the numbers if they are then
// small enough, and otherwise relative to the magnitudes of the terms.
func (c *comparison) errors(f form, x, got, stan []float64) []float64 {
	errs := make([]float64, len(got))
	within := true
	for i := range got {
		errs[i] = relative(got[i], stan[i], 1)
		within = within && errs[i] <= tolerance
	}
	if within || c.row.ODE {
		return errs
	}
	m, ok := c.graphs[f.name]
	if !ok {
		m, _ = c.graph(f) // it was bound before
		c.graphs[f.name] = m
	}
	if m == nil {
		return errs
	}
	g := m.DensityGraph()
	c.row.Ops = len(g.Nodes)
	terms, err := magnitudes(g, split(g, x))
	if err != nil {
		return errs
	}
	for i := range got {
		errs[i] = relative(got[i], stan[i], terms[i])
	}
	if !slices.ContainsFunc(errs, func(e float64) bool { return !(e <= tolerance) }) {
		return errs
	}
	spread, err := rounding(g, split(g, x))
	if err != nil {
		return errs
	}
	for i, e := range errs {
		if e > tolerance && math.Abs(got[i]-stan[i]) <= roundingFactor*spread[i] {
			errs[i] = 0
			c.row.Rounding++
		}
	}
	return errs
}

// relative returns the difference relative to the largest of 1, the scale and the numbers
// themselves; 0 for equal infinities and for two NaNs.
func relative(got, stan, scale float64) float64 {
	if got == stan || math.IsNaN(got) && math.IsNaN(stan) {
		return 0
	}
	return math.Abs(got-stan) / max(1, scale, math.Abs(stan))
}

func (rep *densityReport) line() string {
	r := &rep.Rows[len(rep.Rows)-1]
	text := fmt.Sprintf("%-60s %-14s %5d", r.Name, r.Status, r.Dim)
	if len(r.Density) > 0 {
		text += fmt.Sprintf(" density %7.1e gradient %7.1e values %7.1e", r.worstDensity(), float64(r.Gradient), float64(r.Values))
	}
	if r.BindMS > 0 {
		text += fmt.Sprintf(" compile %s bind %s", figures.Nanoseconds(r.CompileMS*1e6), figures.Nanoseconds(r.BindMS*1e6))
	}
	text += r.notes()
	if r.Reason != "" {
		text += "  " + r.Reason
	}
	return text
}

func (r *densityRow) worstDensity() float64 {
	w := 0.0
	for _, e := range r.Density {
		w = larger(w, float64(e))
	}
	return w
}

func (r *densityRow) notes() string {
	text := ""
	if r.Legacy {
		text += " (older syntax)"
	}
	if r.ODE {
		text += fmt.Sprintf(" (ODE, Stan's error %.1e)", float64(r.StanODE))
	}
	if r.Rounding > 0 {
		text += fmt.Sprintf(" (rounding explains %d larger differences)", r.Rounding)
	}
	return text
}

// densityReport is the file with the results of the density check.
type densityReport struct {
	about
	Rows []densityRow `json:"posteriors"`
}

func (r *densityReport) count(st status) int {
	n := 0
	for i := range r.Rows {
		if r.Rows[i].Status == st {
			n++
		}
	}
	return n
}

func (r *densityReport) summary() string {
	var b strings.Builder
	withFigures := len(r.Rows) - r.count(noStan) - r.count(broken)
	fmt.Fprintf(&b, "%d posteriors with figures of Stan; %d agree, %d more but for an error of Stan that is explained, %d differ, %d do not bind; %d without figures that can be compared.\n",
		withFigures, r.count(agrees), r.count(excused), r.count(differs), r.count(notBound), len(r.Rows)-withFigures)
	var binds []float64
	var slowest *densityRow
	for i := range r.Rows {
		if w := &r.Rows[i]; w.BindMS > 0 {
			binds = append(binds, w.BindMS)
			if slowest == nil || w.BindMS > slowest.BindMS {
				slowest = w
			}
		}
	}
	if len(binds) > 0 {
		q := quartiles(binds)
		fmt.Fprintf(&b, "Binding, data read included: median %s ms, quartiles %s and %s, slowest %s (%s).\n",
			figures.Number(q[1]), figures.Number(q[0]), figures.Number(q[2]), figures.Nanoseconds(slowest.BindMS*1e6), slowest.Name)
	}
	return b.String()
}

func (r *densityReport) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Densities\n\n%s\n", r.made("density"))
	fmt.Fprintf(&b, "The table compares, at the points of Stan's figures: the log density in three forms (as `~` leaves it; with all constants; without Jacobians of transforms); "+
		"the gradient of the first; and parameters and transformed parameters. An error is a difference relative to the sum of the absolute values of the terms, at least 1. "+
		"It must be at most %.0e. A larger error is accepted, and not in the table, if rounding each operation at random changes the number as much "+
		"(within a factor of %d); a note says so.\n\n"+
		"ODE: the model solves differential equations, as accurately as its tolerances ask. Errors are from the solution with tolerances of 1e-12, and at "+
		"most %d times Stan's own. Older syntax: compiled with the option Legacy. Bind is the wall time from data as JSON to a density that can be evaluated.\n\n",
		tolerance, roundingFactor, odeFactor)
	b.WriteString(r.summary() + "\n")
	b.WriteString("| posterior | | dim | density | gradient | values | compile, ms | bind, ms | notes |\n| --- | --- | --: | --: | --: | --: | --: | --: | --- |\n")
	for i := range r.Rows {
		w := &r.Rows[i]
		errs := "– | – | –"
		if len(w.Density) > 0 {
			errs = fmt.Sprintf("%.1e | %.1e | %.1e", w.worstDensity(), float64(w.Gradient), float64(w.Values))
		}
		notes := strings.TrimSpace(w.notes() + " " + strings.ReplaceAll(w.Reason, "|", `\|`))
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %s | %s | %s |\n", w.Name, w.Status, w.Dim, errs, figures.Number(w.CompileMS), figures.Number(w.BindMS), notes)
	}
	return b.String()
}

func (r *densityReport) failures() int {
	return r.count(differs) + r.count(notBound) + r.count(broken)
}

func (r *densityReport) add(db database, name string) { r.Rows = append(r.Rows, density(db, name)) }

func (r *densityReport) take(rows json.RawMessage) error {
	var more []densityRow
	err := json.Unmarshal(rows, &more)
	r.Rows = append(r.Rows, more...)
	return err
}

func (r *densityReport) fail(name, reason string) {
	r.Rows = append(r.Rows, densityRow{Name: name, Status: notBound, Reason: reason})
}

func (r *densityReport) len() int { return len(r.Rows) }
