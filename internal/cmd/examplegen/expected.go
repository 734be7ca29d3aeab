package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
)

// A number keeps the text of Stan's result, so that no digit is lost. Numbers that are not finite
// are the strings NaN, Infinity and -Infinity; an undefined statistic is null.
type number struct{ json.RawMessage }

// value returns the number, or NaN for null and for strings.
func (n number) value() float64 {
	var v float64
	if string(n.RawMessage) == "null" || json.Unmarshal(n.RawMessage, &v) != nil {
		return math.NaN()
	}
	return v
}

// stanResult is the part of real Stan's result that examplegen reads.
type stanResult struct {
	Version       string      `json:"stan_version"`
	Unconstrained []string    `json:"names_unconstrained"`
	Params        []string    `json:"names_params"`
	Transformed   []string    `json:"names_tparams"`
	Points        []stanPoint `json:"points"`
	NUTS          struct {
		Status  string   `json:"status"`
		Warmup  int      `json:"num_warmup"`
		Draws   int      `json:"num_samples"` // of each chain
		Chains  []chain  `json:"chains"`
		Summary struct { // in the order of Params, then Transformed
			Mean    []number `json:"mean"`
			SD      []number `json:"sd"`
			MCSE    []number `json:"mcse_mean"`
			ESSBulk []number `json:"ess_bulk"`
			Rhat    []number `json:"rhat"`
		} `json:"summary"`
	} `json:"nuts"`
}

type chain struct {
	Divergences int `json:"divergences"`
	DepthHits   int `json:"max_depth_hits"`
}

type stanPoint struct {
	X              []number `json:"x"`
	ProptoJacobian number   `json:"lp_propto_jac"`
	FullJacobian   number   `json:"lp_full_jac"`
	FullNoJacobian number   `json:"lp_full_nojac"`
	Gradient       []number `json:"grad_propto_jac"`
	Constrained    []number `json:"constrained"`
}

// expected is the content of an expected.json.
type expected struct {
	StanVersion        string    `json:"stan_version"`
	UnconstrainedNames []string  `json:"unconstrained_names"`
	ConstrainedNames   []string  `json:"constrained_names"`
	Points             []point   `json:"points"`
	Chains             int       `json:"chains"`
	Warmup             int       `json:"warmup"`
	Draws              int       `json:"draws"`
	Divergences        int       `json:"divergences"`
	Summary            []summary `json:"summary"`
}

type point struct {
	X                        []number `json:"x"`
	LogDensity               number   `json:"log_density"`
	Gradient                 []number `json:"gradient"`
	LogDensityFull           number   `json:"log_density_full"`
	LogDensityFullNoJacobian number   `json:"log_density_full_no_jacobian"`
	Constrained              []number `json:"constrained"`
}

type summary struct {
	Name     string `json:"name"`
	Mean     number `json:"mean"`
	SD       number `json:"sd"`
	MCSEMean number `json:"mcse_mean"`
	ESSBulk  number `json:"ess_bulk"`
	Rhat     number `json:"rhat"`
}

// The requirements for a reference result.
const (
	minPoints      = 6
	maxRhat        = 1.01
	minESS         = 400
	maxDivergences = 0.0005 // as a share of all draws
)

func writeExpected(dir, name, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var r stanResult
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	e, err := convert(&r)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if err := e.check(); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	out, err := e.encode()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name, "expected.json"), out, 0o644)
}

func convert(r *stanResult) (*expected, error) {
	n := &r.NUTS
	if n.Status != "complete" {
		return nil, fmt.Errorf("NUTS status is %q, not complete", n.Status)
	}
	e := &expected{
		StanVersion:        r.Version,
		UnconstrainedNames: r.Unconstrained,
		ConstrainedNames:   append(append([]string{}, r.Params...), r.Transformed...),
		Chains:             len(n.Chains),
		Warmup:             n.Warmup,
		Draws:              n.Draws * len(n.Chains),
	}
	for i, c := range n.Chains {
		e.Divergences += c.Divergences
		if c.DepthHits > 0 {
			return nil, fmt.Errorf("chain %d reached the largest tree depth %d times", i+1, c.DepthHits)
		}
	}
	for _, p := range r.Points {
		e.Points = append(e.Points, point{p.X, p.ProptoJacobian, p.Gradient, p.FullJacobian, p.FullNoJacobian, p.Constrained})
	}
	s := &n.Summary
	for _, column := range [][]number{s.Mean, s.SD, s.MCSE, s.ESSBulk, s.Rhat} {
		if len(column) != len(e.ConstrainedNames) {
			return nil, fmt.Errorf("a summary column has %d entries for %d names", len(column), len(e.ConstrainedNames))
		}
	}
	for i, name := range e.ConstrainedNames {
		e.Summary = append(e.Summary, summary{name, s.Mean[i], s.SD[i], s.MCSE[i], s.ESSBulk[i], s.Rhat[i]})
	}
	return e, nil
}

// check returns an error if e is not good enough to be a reference.
func (e *expected) check() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(e.Points) < minPoints {
		fail("%d points, fewer than %d", len(e.Points), minPoints)
	}
	for i, p := range e.Points {
		if len(p.X) != len(e.UnconstrainedNames) || len(p.Gradient) != len(p.X) || len(p.Constrained) != len(e.ConstrainedNames) {
			fail("point %d has the wrong size", i)
		}
		all := []number{p.LogDensity, p.LogDensityFull, p.LogDensityFullNoJacobian}
		all = append(append(append(all, p.X...), p.Gradient...), p.Constrained...)
		for _, v := range all {
			if f := v.value(); math.IsNaN(f) || math.IsInf(f, 0) {
				fail("point %d is not finite", i)
				break
			}
		}
	}
	if float64(e.Divergences) > maxDivergences*float64(e.Draws) {
		fail("%d divergences in %d draws", e.Divergences, e.Draws)
	}
	for _, s := range e.Summary {
		// The comparisons are negated so that NaN fails.
		if !(s.Rhat.value() < maxRhat) || !(s.ESSBulk.value() > minESS) {
			fail("%s has R-hat %s and bulk ESS %s", s.Name, s.Rhat.RawMessage, s.ESSBulk.RawMessage)
		}
		if !(s.SD.value() > 0) || !(s.MCSEMean.value() > 0) || math.IsNaN(s.Mean.value()) {
			fail("%s has mean %s, sd %s, MCSE %s", s.Name, s.Mean.RawMessage, s.SD.RawMessage, s.MCSEMean.RawMessage)
		}
	}
	return errors.Join(errs...)
}

// lineStarts matches the places in an expected.json at which a line begins.
var lineStarts = regexp.MustCompile(`\{"(x|name)":|"(unconstrained_names|constrained_names|points|chains|summary|` +
	`log_density|gradient|log_density_full|log_density_full_no_jacobian|constrained)":`)

// encode returns the JSON text: compact, but with line breaks for readers.
func (e *expected) encode() ([]byte, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	return append(lineStarts.ReplaceAll(text, []byte("\n$0")), '\n'), nil
}
