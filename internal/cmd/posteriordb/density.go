package main

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/internal/figures"
)

// The largest errors that count as agreement: differences relative to the sum of
// the absolute values of the terms added into the result, at least 1.
const (
	tolerance = 1e-9
	// Solutions of differential equations are as accurate as their tolerances
	// (by default 1e-6, in posteriordb's models 1e-3 to 1e-10), whatever the
	// solver; a log density adds them up over the observations. The models' own
	// tolerances are no bounds on global errors, so one bound is used for all.
	odeTolerance = 1e-3
)

var callsODE = regexp.MustCompile(`\b(integrate_ode|ode)_(rk45|bdf|adams|ckrk)`)

// form is one of the forms of the log density that Stan's figures have.
type form struct {
	name    string
	options ppl.BindOptions
}

var forms = []form{
	{"propto", ppl.BindOptions{StanCompat: stanVersion}},
	{"full", ppl.BindOptions{StanCompat: stanVersion, NoPropto: true}},
	{"no Jacobian", ppl.BindOptions{StanCompat: stanVersion, NoPropto: true, NoJacobian: true}},
}

// densityRow is what the check of densities finds of a posterior.
type densityRow struct {
	Name   string `json:"name"`
	Dim    int    `json:"dim,omitempty"`
	Status status `json:"status"`
	Reason string `json:"reason,omitempty"`
	Legacy bool   `json:"legacy,omitempty"` // compiled in the older syntax
	ODE    bool   `json:"ode,omitempty"`    // held to the accuracy of its tolerances
	Points int    `json:"points,omitempty"`
	// Wall times of compiling, and of binding to data that have been read.
	CompileMS float64 `json:"compile_ms,omitempty"`
	BindMS    float64 `json:"bind_ms,omitempty"`
	Ops       int     `json:"ops,omitempty"` // nodes of the differentiated graph, set where it was looked at
	MemoryMB  float64 `json:"memory_mb"`     // of the process's heap when all forms are bound
	// Largest errors, by form; of gradients (propto) and constrained values.
	Density  map[string]number `json:"density,omitempty"`
	Gradient number            `json:"gradient"`
	Values   number            `json:"values"`
}

// status is what became of a posterior.
type status string

const (
	agrees   status = "agrees"
	differs  status = "differs"
	notBound status = "does not bind"
	noStan   status = "no figures of Stan"
	broken   status = "cannot be read"
)

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
	var bound [3]*ppl.Posterior
	for i, f := range forms {
		t := time.Now()
		if bound[i], err = m.BindWith(ppl.JSON(s.data), f.options); err != nil {
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

// compare fills in the errors at Stan's points.
func (s *subject) compare(row *densityRow, bound [3]*ppl.Posterior) {
	names := append(slices.Clone(s.stan.Params), s.stan.TParams...)
	switch {
	case s.stan.Dim != row.Dim:
		row.fail(differs, "%d unconstrained parameters, Stan has %d", row.Dim, s.stan.Dim)
		return
	case !slices.Equal(names, bound[0].ConstrainedNames()):
		row.fail(differs, "the names of constrained values differ from Stan's: %s", firstDifference(bound[0].ConstrainedNames(), names))
		return
	}
	c := &comparison{subject: s, row: row, limit: tolerance, graphs: map[string]*compile.Model{}}
	if row.ODE {
		c.limit = odeTolerance
	}
	row.Status, row.Density = agrees, map[string]number{}
	for k := range s.stan.Points {
		if err := c.point(k, bound); err != nil {
			row.fail(differs, "point %d: %s", k+1, says(err))
			return
		}
		row.Points++
	}
	if c.worst > c.limit {
		row.fail(differs, "%s", c.where)
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

// comparison is under way.
type comparison struct {
	*subject
	row    *densityRow
	limit  float64
	worst  float64 // so far
	where  string
	graphs map[string]*compile.Model // bound again where terms are needed
}

// point compares at one of Stan's points.
func (c *comparison) point(k int, bound [3]*ppl.Posterior) error {
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
	stan := floats(p.Values)
	for j, v := range values {
		e := relative(v, stan[j], 1)
		c.row.Values = number(larger(float64(c.row.Values), e))
		c.note(e, k, bound[0].ConstrainedNames()[j], v, stan[j])
	}
	return nil
}

// larger is the larger of two, NaN if one is.
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
		c.worst, c.where = e, fmt.Sprintf("point %d: %s is %.17g, Stan's %.17g", k+1, what, got, stan)
	}
}

// errors compares numbers with Stan's, relative to their own sizes if that is
// enough, else to those of the terms in them.
func (c *comparison) errors(f form, x, got, stan []float64) []float64 {
	errs := make([]float64, len(got))
	within := true
	for i := range got {
		errs[i] = relative(got[i], stan[i], 1)
		within = within && errs[i] <= tolerance
	}
	if within {
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
	return errs
}

// relative is the difference relative to the larger of 1, the scale and the
// numbers themselves; 0 for equal infinities and for two NaN.
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
		text += " (ODE)"
	}
	return text
}

// densityReport is what is kept of the check of densities.
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
	fmt.Fprintf(&b, "%d posteriors with figures of Stan; %d agree, %d differ, %d do not bind; %d without figures that can be compared.\n",
		withFigures, r.count(agrees), r.count(differs), r.count(notBound), len(r.Rows)-withFigures)
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
	fmt.Fprintf(&b, "The log density in three forms (as `~` leaves it; with all constants; without Jacobians of transforms), the gradient of the first, "+
		"and parameters and transformed parameters, at the points of Stan's figures. Errors are differences relative to the sum of the absolute values of the terms "+
		"added into the result, at least 1, and must be at most %.0e. ODE: the model solves differential equations, whose solutions are as accurate as their "+
		"tolerances; it is held to %.0e. Older syntax: compiled by the option Legacy. Bind is the wall time from data as JSON to a density that can be evaluated.\n\n", tolerance, odeTolerance)
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
