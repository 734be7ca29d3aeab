package assess

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/bridge"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/infer/tempered"
	"github.com/ppl-lang/ppl/infer/warmup"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// Evidence is the evidence of a model, the probability density of its data with the parameters
// integrated out, p(y). It is also called the marginal likelihood.
type Evidence struct {
	// Log is log p(y), and Error its standard error. If [PriorMass.Known], the logarithm of the
	// prior's mass has been subtracted.
	Log   float64
	Error float64

	// Tempering says that the estimate comes from parallel tempering instead of bridge sampling.
	// Tempered chains move between modes, whereas the proposal of bridge sampling, a single normal
	// distribution, may miss some.
	Tempering bool

	Bridge   bridge.Estimate   // log integral of the density, by bridge sampling
	Tempered tempered.Evidence // the same by parallel tempering; NaN if the chains were not tempered
	Prior    PriorMass
}

// PriorMass is the integral of the prior density as the program states it. It is 1 for a normalised
// prior. It differs from 1 where bounds cut off part of a distribution: `real<lower=0> s; s ~
// normal(0, 1);` states a density with the integral 0.5.
type PriorMass struct {
	Log   float64
	Error float64

	// Known says that Log is known. Otherwise Reason says why not, and the evidence is right only
	// if the prior has mass 1.
	Known  bool
	Reason string

	// Doubtful says that the prior was sampled with problems. It may be improper.
	Doubtful bool

	// Flat lists parameters without a prior and without bounds on both sides. If there are any, the
	// prior has no finite mass, and the evidence is known only up to an arbitrary factor.
	Flat []string
}

// The mass of a prior counts as 1 if its logarithm is within massErrors standard errors of 0, or
// closer to 0 than massMin. It counts as known if its standard error is at most massError.
const (
	massErrors = 4
	massMin    = 0.01
	massError  = 0.1
)

// EvidenceOf estimates the evidence of a model from draws of its posterior, by bridge sampling, and
// by parallel tempering if the chains were tempered. All constants of the density are included,
// also those that statements with ~ drop. The draws must have been made by a sampler: those of an
// approximation or of the prior, and fixed parameters, are an error.
func EvidenceOf(ctx context.Context, f *fit.Fit, seed uint64) (*Evidence, error) {
	if err := f.Err(); err != nil {
		return nil, err
	}
	switch {
	case f.FromPrior:
		return nil, errors.New("the draws are from the prior: evidence needs draws from the posterior")
	case f.Approximate() != "":
		return nil, fmt.Errorf("the draws are from an approximation, %s: evidence needs draws from the posterior by a sampler", f.Approximate())
	}
	if _, fixed := f.Config().Sampler.(sampler.Fixed); fixed {
		return nil, errors.New("the parameters were not sampled but fixed: evidence needs draws from the posterior")
	}
	m, err := f.Model()
	if err != nil {
		return nil, err
	}
	values, err := f.Data()
	if err != nil {
		return nil, err
	}
	b := f.Binding()
	b.NoPropto = true
	p, err := m.BindContext(ctx, values, b)
	if err != nil {
		return nil, err
	}
	if p.Dim() == 0 {
		return nil, errors.New("the model has no parameters: its evidence is the density itself")
	}
	rng := rand.New(rand.NewPCG(seed, 0x65766964))
	draws, err := chainsOf(p, m, f, rng)
	if err != nil {
		return nil, err
	}
	out := &Evidence{}
	if out.Bridge, err = bridge.LogZ(ctx, draws, densityOf(p), rng); err != nil {
		return nil, err
	}
	out.Log, out.Error = out.Bridge.LogZ, out.Bridge.Error
	if out.Tempered, err = temperedEvidence(ctx, f, p, draws[0][0]); err != nil {
		return nil, err
	}
	if z := out.Tempered; !math.IsNaN(z.LogZ) && !math.IsNaN(z.Error) {
		out.Log, out.Error, out.Tempering = z.LogZ, z.Error, true
	}
	if out.Prior, err = priorMass(ctx, m, values, b, seed); err != nil {
		return nil, err
	}
	if out.Prior.Known {
		out.Log -= out.Prior.Log
		out.Error = math.Hypot(out.Error, out.Prior.Error)
	}
	return out, nil
}

// densityOf returns the log density of a posterior in the form for bridge sampling.
func densityOf(p *model.Posterior) bridge.Density {
	return func(ctx context.Context, points [][]float64, logDensity []float64) error {
		return evaluateAll(ctx, p, p, nil, points, logDensity, nil)
	}
}

// chainsOf returns the draws of a fit on the unconstrained scale, by chain. All chains are cut to
// the length of the shortest.
func chainsOf(p *model.Posterior, m *model.Model, f *fit.Fit, rng *rand.Rand) ([][][]float64, error) {
	points, err := fit.Unconstrained(p, f)
	if err != nil {
		return nil, err
	}
	lengthen(p, m, points, rng)
	least := math.MaxInt
	for chain := range f.Draws.Chains() {
		least = min(least, f.Draws.Len(chain))
	}
	var chains [][][]float64
	for chain := range f.Draws.Chains() {
		n := f.Draws.Len(chain)
		chains, points = append(chains, points[n-least:n]), points[n:]
	}
	if len(chains) == 0 || least == 0 {
		return nil, errors.New("the fit has no draws")
	}
	return chains, nil
}

// lengthen draws the lengths of unit vectors on the unconstrained scale. Draws of a fit have only
// their directions. The lengths are independent of all else: the unconstrained vector has a
// standard normal factor, so that its squared length has a chi-squared distribution.
func lengthen(p *model.Posterior, m *model.Model, points [][]float64, rng *rand.Rand) {
	units := map[string]bool{}
	for _, v := range m.Program().IR().Parameters {
		units[v.Name] = v.Constraint.Kind == types.UnitVector
	}
	vectors := map[string][]int{} // coordinates, by the name without the last index
	var order []string
	for i, name := range p.UnconstrainedNames() {
		if !units[diagnose.VariableName(name)] {
			continue
		}
		of := name[:strings.LastIndexByte(name, '.')]
		if vectors[of] == nil {
			order = append(order, of)
		}
		vectors[of] = append(vectors[of], i)
	}
	for _, x := range points {
		for _, of := range order {
			square := 0.0
			for range vectors[of] {
				z := rng.NormFloat64()
				square += z * z
			}
			for _, i := range vectors[of] {
				x[i] *= math.Sqrt(square)
			}
		}
	}
}

// temperedEvidence returns the estimate of parallel tempering. That is for the density that was
// sampled, which may lack constants of p; the difference is computed at one point.
func temperedEvidence(ctx context.Context, f *fit.Fit, p *model.Posterior, at []float64) (tempered.Evidence, error) {
	// A run read from disk has its kernels' figures only in its events.
	var kernels []map[string]float64
	for _, c := range f.Report.Chains {
		for _, e := range c.Events {
			if e.Code == infer.EventLegs {
				kernels = append(kernels, e.Figures)
			}
		}
	}
	_, z := tempered.EvidenceOf(kernels)
	if math.IsNaN(z.LogZ) {
		return z, nil
	}
	sampled, err := f.Posterior(ctx)
	if err != nil {
		return z, err
	}
	full, err := p.LogDensity(at)
	if err != nil {
		return z, err
	}
	part, err := sampled.LogDensity(at)
	if err != nil {
		return z, err
	}
	constant := full - part
	return tempered.Evidence{LogZ: z.LogZ + constant, Error: z.Error, Forward: z.Forward + constant, Backward: z.Backward + constant}, nil
}

// priorMass estimates the integral of the prior from draws of it. If the parameters cannot be drawn
// one after another, the prior is sampled, as for parameters that a bound or a structure confines
// and that have no statement, and for priors written as target += …. By chance, chains may seem not
// to agree or the estimate may be unreliable. So both are judged again with more draws.
func priorMass(ctx context.Context, m *model.Model, values any, b model.BindOptions, seed uint64) (out PriorMass, err error) {
	out.Flat = flat(m)
	if out.Flat != nil {
		out.Reason = "parameters have no prior"
		return out, nil
	}
	for _, draws := range []int{1000, 4000} {
		var more bool
		if out, more, err = priorMassOf(ctx, m, values, b, draws, seed); err != nil || !more {
			break
		}
	}
	return out, err
}

// priorMassOf does it with a number of draws of each of four chains. more says that more draws may
// help.
func priorMassOf(ctx context.Context, m *model.Model, values any, b model.BindOptions, draws int, seed uint64) (out PriorMass, more bool, err error) {
	drawn, err := SamplePrior(ctx, m, values, b, fit.Options{Chains: 4, Draws: draws, Seed: seed})
	switch {
	case ctx.Err() != nil:
		return out, false, ctx.Err()
	case errors.Is(err, warmup.ErrImproper):
		out.Doubtful, out.Reason = true, "its density stays flat over any distance"
		return out, false, nil
	case err != nil:
		out.Reason = err.Error()
		return out, false, nil
	}
	problem := func(f diagnose.Finding) bool { return f.Severity == diagnose.Problem }
	if !drawn.Direct && slices.ContainsFunc(drawn.Findings(), problem) {
		out.Doubtful, out.Reason = true, "chains that sample it do not agree"
		return out, true, nil
	}
	derived, err := m.Derive(predict.Prior)
	if err != nil {
		return out, false, err
	}
	p, err := derived.BindContext(ctx, values, b)
	if err != nil {
		return out, false, err
	}
	rng := rand.New(rand.NewPCG(seed, 0x7072696f))
	points, err := chainsOf(p, m, drawn.Fit, rng)
	if err != nil {
		return out, false, err
	}
	z, err := bridge.LogZ(ctx, points, densityOf(p), rng)
	switch {
	case ctx.Err() != nil:
		return out, false, err
	case err != nil:
		out.Reason = err.Error()
	case !reliable(z) || z.Error > massError:
		out.Reason = "the estimate of its integral is not reliable"
		return out, true, nil
	default:
		out.Known = true
		if math.Abs(z.LogZ) > max(massMin, massErrors*z.Error) {
			out.Log, out.Error = z.LogZ, z.Error
		}
	}
	return out, false, nil
}

// flat lists the parameters of a model that have no prior and no bounds on both sides.
func flat(m *model.Model) []string {
	included := m.Included()
	list := compile.Check(source.NewFile(m.Name(), m.Text()), compile.Options{Pedantic: true, Legacy: m.Options().Legacy, MaxSource: m.Options().MaxSource,
		Include: func(name string) (*source.File, error) {
			text, ok := included[name]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return source.NewFile(name, text), nil
		}})
	var names []string
	for _, d := range list {
		if d.Code == diag.NoPriorOfItsOwn {
			names = append(names, d.Span.Text())
		}
	}
	return names
}

// An estimate by bridge sampling is reliable if its iterations converge, if the draws and the
// proposal overlap in at least this effective number of draws, and if the estimates from the parts
// of the draws agree. They agree if they differ by at most this number of standard errors, or too
// little to matter.
const (
	bridgeEffective = 50
	bridgeErrors    = 4
	bridgeLeast     = 0.05
)

// reliable reports whether an estimate by bridge sampling is reliable.
func reliable(e bridge.Estimate) bool {
	a, b := furthest(e)
	return overlaps(e) && !differ(a.LogZ, a.Error, b.LogZ, b.Error)
}

// overlaps reports whether the draws of all parts overlap with their proposals.
func overlaps(e bridge.Estimate) bool {
	for _, p := range e.Parts {
		if !p.Settled || !(p.Effective >= bridgeEffective) {
			return false
		}
	}
	return true
}

// furthest returns the smallest and the largest estimate of the parts.
func furthest(e bridge.Estimate) (low, high bridge.Part) {
	byLog := func(a, b bridge.Part) int { return cmp.Compare(a.LogZ, b.LogZ) }
	return slices.MinFunc(e.Parts[:], byLog), slices.MaxFunc(e.Parts[:], byLog)
}

// differ reports whether two estimates differ by more than their standard errors explain and by
// enough to matter.
func differ(a, aError, b, bError float64) bool {
	return math.Abs(a-b) > max(bridgeLeast, bridgeErrors*math.Hypot(aError, bError))
}

// Findings returns what a user must know about the evidence of the model called name.
func (e *Evidence) Findings(name string) []diagnose.Finding {
	var findings []diagnose.Finding
	add := func(code string, severity diagnose.Severity, summary, advice string) {
		findings = append(findings, diagnose.Finding{Code: code, Severity: severity, Summary: name + ": " + summary, Advice: advice})
	}
	a, b := furthest(e.Bridge)
	switch {
	case e.Tempering && reliable(e.Bridge) && differ(e.Tempered.LogZ, e.Tempered.Error, e.Bridge.LogZ, e.Bridge.Error):
		add("evidence-methods", diagnose.Problem,
			fmt.Sprintf("log evidence is %.2f ± %.2g by tempering and %.2f ± %.2g by bridge sampling.", e.Tempered.LogZ, e.Tempered.Error, e.Bridge.LogZ, e.Bridge.Error),
			"Make more draws. If the two still differ, trust neither.")
	case e.Tempering || reliable(e.Bridge):
	case !overlaps(e.Bridge):
		effective := e.Bridge.Effective()
		if math.IsNaN(effective) {
			effective = 0
		}
		add("evidence-overlap", diagnose.Problem,
			fmt.Sprintf("the estimate of the evidence is not reliable: the effective number of draws where the posterior and the normal distribution fitted to it overlap is only about %.0f.", effective),
			"Make more draws. If the posterior has several modes or long tails, sample it with parallel tempering.")
	default:
		add("evidence-parts", diagnose.Problem,
			fmt.Sprintf("the estimate of the evidence is not reliable: parts of the draws give %.2f ± %.2g and %.2f ± %.2g.", a.LogZ, a.Error, b.LogZ, b.Error),
			"Make more draws.")
	}
	switch {
	case e.Prior.Flat != nil:
		add("improper-prior", diagnose.Problem,
			fmt.Sprintf("the evidence has an arbitrary factor, as the prior of %s is flat.", list(e.Prior.Flat)),
			"Give each parameter a prior. Bayes factors depend on it.")
	case e.Prior.Doubtful:
		add("improper-prior", diagnose.Problem,
			fmt.Sprintf("the evidence may have an arbitrary factor, as the prior seems to be improper: %s.", e.Prior.Reason),
			"Give every element of each parameter a proper prior, as in x ~ normal(0, 1). ppl prior samples the prior alone.")
	case !e.Prior.Known:
		add("prior-mass", diagnose.Note,
			fmt.Sprintf("the evidence is right only if the prior integrates to 1, which is not known: %s.", e.Prior.Reason), "")
	case e.Prior.Log != 0:
		add("prior-mass", diagnose.Note,
			fmt.Sprintf("the prior as written integrates to about %.2g, not to 1, such as where a bound cuts off a distribution, or a bounded parameter has none. This factor is taken out of the evidence.", math.Exp(e.Prior.Log)), "")
	}
	return findings
}

// list joins the first few names.
func list(names []string) string {
	const most = 5
	text := ""
	for i, n := range names[:min(most, len(names))] {
		if i > 0 {
			text += ", "
		}
		text += n
	}
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}
