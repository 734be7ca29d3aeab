package auto

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/whiten"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// This file estimates the modes and their masses from the draws of warm-up. Chains in different
// places with a barrier between them are in different modes, whether or not the search found these
// modes. Their masses are estimated by bridge sampling (Meng and Wong 1996), from the draws in each
// mode and from draws of a normal distribution fitted there.

const (
	// bridged is the number of draws from which masses are estimated: of each chain, and of its
	// normal distribution.
	bridged = 60

	// weighed is the number of draws of each chain from which the mass of a mode without chains is
	// estimated.
	weighed = 30

	// bridgeRounds is the maximum number of fixed-point iterations. Each two or three gain a digit.
	bridgeRounds = 100

	// The number of steps of a path between two groups, and the number of draws at each step.
	between, betweenDraws = 8, 15
)

// group is a set of chains in the same place.
type group struct {
	chains []int // indices of the chains
	fit    whiten.Sample
	held   map[int][][]float64 // draws held out from the fit, by chain
	normal *mode
	level  float64 // mean log density
}

// groupsOf divides the chains that have records into groups by their draws. parts[i] says whether
// chain i has a record.
func (at *limits) groupsOf(parts []bool, recent []record, to *whiten.Map) []group {
	means, sds := places(recent, to)
	near := func(a, b int) bool {
		for j := range means[a] {
			if math.Abs(means[a][j]-means[b][j]) > at.farApart*max(sds[a][j], sds[b][j]) {
				return false
			}
		}
		return true
	}
	of := united(len(recent), near)
	var groups []group
	index := map[int]int{}
	i := 0
	for chain, here := range parts {
		if !here {
			continue
		}
		g, ok := index[of[i]]
		if !ok {
			g = len(groups)
			index[of[i]] = g
			groups = append(groups, group{held: map[int][][]float64{}})
		}
		groups[g].add(chain, recent[i])
		i++
	}
	return groups
}

// places returns the means and standard deviations of each chain's whitened coordinates and log
// density.
func places(recent []record, to *whiten.Map) (means, sds [][]float64) {
	d := len(recent[0].draws[0])
	means, sds = make([][]float64, len(recent)), make([][]float64, len(recent))
	y := make([]float64, d)
	for i, r := range recent {
		means[i], sds[i] = make([]float64, d+1), make([]float64, d+1)
		values := make([][]float64, d+1)
		for t, x := range r.draws {
			to.Inverse(x, y)
			for j, v := range y {
				values[j] = append(values[j], v)
			}
			values[d] = append(values[d], r.logDensity[t])
		}
		for j, v := range values {
			m := floats.Sum(v) / float64(len(v))
			s := 0.0
			for _, x := range v {
				s += (x - m) * (x - m)
			}
			means[i][j], sds[i][j] = m, math.Sqrt(s/float64(len(v)))
		}
	}
	return means, sds
}

// united finds connected components of n elements and returns the component of each element. alike
// reports whether two elements are connected.
func united(n int, alike func(a, b int) bool) []int {
	of := make([]int, n)
	for i := range of {
		of[i] = i
	}
	for i := range n {
		for j := range i {
			if of[i] == of[j] || !alike(i, j) {
				continue
			}
			from, into := of[i], of[j]
			for k := range of {
				if of[k] == from {
					of[k] = into
				}
			}
		}
	}
	return of
}

// add adds a chain to the group. The first half of its draws is for the fit; the other half is held
// out.
func (g *group) add(chain int, r record) {
	half := len(r.draws) / 2
	g.level += floats.Sum(r.logDensity) / float64(len(r.logDensity))
	g.chains = append(g.chains, chain)
	g.fit.Draws = append(g.fit.Draws, r.draws[:half]...)
	g.fit.Scores = append(g.fit.Scores, r.scores[:half]...)
	g.fit.Groups = append(g.fit.Groups, half)
	g.held[chain] = r.draws[half:]
}

// groups returns the number of groups of chains.
func (v *verdict) groups(to *whiten.Map, recent []record) int {
	return len(v.at.groupsOf(slices.Repeat([]bool{true}, len(recent)), recent, to))
}

// approximate fits a normal distribution to the draws of the group.
func (g *group) approximate(at *limits) bool {
	d := len(g.fit.Draws[0])
	kind := infer.LowRank
	if d <= maxDense && len(g.fit.Draws) >= 3*d {
		kind = infer.Dense
	}
	m, err := whiten.Fit(kind, g.fit, whiten.Options{Shrink: 1e-3})
	if err != nil {
		m = varianceOf(g.fit)
	}
	if len(g.fit.Draws) >= int(at.trustDraws) {
		widen(&m, g.fit)
	}
	g.normal = at.newMode(m, 0)
	return g.normal != nil
}

// logNormal returns the log density of the mode's normal distribution at x.
func (m *mode) logNormal(x []float64) float64 {
	return -0.5*m.distance(x) - m.to.LogScale() - 0.5*float64(len(x))*math.Log(2*math.Pi)
}

// bridge is what one chain contributes to the masses: the log ratios of the target to the normal
// distribution of its group, and which groups a barrier separates from its own.
type bridge struct {
	group          int
	draws, normals []float64
	apart          []bool // a barrier separates the group from the chain's own
}

// occupied finds the modes that the chains are in, and their masses. It gives them to the kernel,
// which counts the draws in each mode, and reports whether there are several. candidates are the
// modes that the search found. They count even if no chain is in them: chains in a wide mode hardly
// ever enter a much narrower one, however near it is, and yet agree with each other.
func (w *chain) occupied(v *verdict, candidates []*mode) (bool, error) {
	if w.Chart != nil && !slices.Equal(w.Chart.Evidence(), w.searchedIn) {
		candidates = nil // the search was in other coordinates
	}
	all, err := w.Exchange(nil, func([]any) any { return w.groupsIn(v, len(candidates) > 0) })
	if err != nil {
		return false, err
	}
	groups, _ := all.([]group)
	if groups == nil {
		return false, nil
	}
	left := w.elsewhere(candidates, groups)
	if len(groups)+len(left) < 2 {
		return false, nil
	}
	if left, err = w.weigh(left); err != nil {
		return false, err
	}
	own, err := w.bridge(groups)
	if err != nil {
		return false, err
	}
	parts, err := w.Exchange(own, func(parts []any) any { return massesOf(groups, parts) })
	if err != nil {
		return false, err
	}
	m := parts.(*masses).with(w.at, left, visits(left, groups))
	if len(m.normals) > 1 {
		w.kernel.modes = newCensus(m)
		return true, nil
	}
	return false, nil
}

// groupsIn returns the groups of all chains with their normal distributions. It returns nil if
// there is nothing to compare: a group alone, unless alone is set.
func (w *chain) groupsIn(v *verdict, alone bool) []group {
	all, here := later(v.rounds), []bool(nil)
	for _, s := range v.standing {
		here = append(here, s.present)
	}
	if len(all) == 0 || len(all[0].draws) < minDraws {
		return nil
	}
	for i := range all { // draws of chains count even if they were useless before
		all[i].unused = nil
	}
	to, err := whiten.NewMap(v.metric)
	if err != nil {
		return nil
	}
	groups := w.at.groupsOf(here, in(w.Chart, v.evidence, all), to)
	if len(groups) < 2 && !alone {
		return nil
	}
	for i := range groups {
		groups[i].level /= float64(len(groups[i].chains))
		if !groups[i].approximate(w.at) {
			return nil
		}
	}
	return groups
}

// weigh returns the candidates with masses estimated by importance sampling from their normal
// distributions, unless the masses of these are smaller. The draws are shared among the chains.
// Where the target is bent, as in a random walk with an unknown scale and independent innovations,
// the mass of a normal distribution fitted at the end of a climb can be too large by 40 nats. Runs
// then reported modes that do not exist.
func (w *chain) weigh(candidates []*mode) ([]*mode, error) {
	if len(candidates) == 0 {
		return nil, nil
	}
	own := make([][]float64, len(candidates))
	rng := infer.Stream(w.Seed, w.ID, "weigh", 0)
	grad := make([]float64, w.Target.Dim())
	for i, m := range candidates {
		for range weighed {
			x := m.normalDraw(rng)
			lp, err := w.Target.LogDensityGrad(x, grad)
			if err != nil {
				return nil, err
			}
			own[i] = append(own[i], lp-m.logNormal(x))
		}
	}
	all, err := w.Exchange(own, func(parts []any) any { return reweighed(candidates, parts) })
	if err != nil {
		return nil, err
	}
	return all.([]*mode), nil
}

// reweighed returns candidates with the masses that the parts of weigh give. A part is, by
// candidate, the log ratios of the target to the normal distribution at draws from the latter.
func reweighed(candidates []*mode, parts []any) []*mode {
	out := make([]*mode, len(candidates))
	for i, m := range candidates {
		var ratios []float64
		for _, part := range parts {
			if of, ok := part.([][]float64); ok {
				ratios = append(ratios, of[i]...)
			}
		}
		c := *m
		if len(ratios) > 0 {
			d := float64(m.metric.Dim)
			c.mass = min(c.mass, floats.LogSumExp(ratios)-math.Log(float64(len(ratios)))-0.5*d*math.Log(2*math.Pi))
		}
		out[i] = &c
	}
	return out
}

// visits returns the share of all groups' draws that is in each mode.
func visits(modes []*mode, groups []group) []float64 {
	out, n := make([]float64, len(modes)), 0.0
	count := func(draws [][]float64) {
		n += float64(len(draws))
		for _, x := range draws {
			for i, m := range modes {
				if m.reaches(x) {
					out[i]++
				}
			}
		}
	}
	for _, g := range groups {
		count(g.fit.Draws)
		for _, draws := range g.held {
			count(draws)
		}
	}
	floats.Scale(1/max(n, 1), out)
	return out
}

// elsewhere returns the candidates that contain no chain.
func (w *chain) elsewhere(candidates []*mode, groups []group) []*mode {
	var out []*mode
	for _, m := range candidates {
		d := float64(m.metric.Dim)
		taken := slices.ContainsFunc(groups, func(g group) bool {
			scales := math.Abs(m.to.LogScale() - g.normal.to.LogScale())
			return scales < (d+1)*math.Log(w.at.otherScale) && (g.normal.reaches(m.metric.Mean) || m.reaches(g.normal.metric.Mean))
		})
		if !taken {
			out = append(out, m)
		}
	}
	return out
}

// bridge computes this chain's contribution. It needs more than one chain.
func (w *chain) bridge(groups []group) (bridge, error) {
	place := w.Chain
	own := bridge{group: -1}
	for i, g := range groups {
		if slices.Contains(g.chains, place) {
			own.group = i
		}
	}
	if own.group < 0 {
		return own, nil
	}
	g := groups[own.group]
	d := w.Target.Dim()
	grad := make([]float64, d)
	held := g.held[place]
	every := max(1, len(held)/bridged)
	for t := 0; t < len(held); t += every {
		lp, err := w.Target.LogDensityGrad(held[t], grad)
		if err != nil {
			return own, err
		}
		own.draws = append(own.draws, lp-g.normal.logNormal(held[t]))
	}
	rng := infer.Stream(w.Seed, w.ID, "bridge", 0)
	for range len(own.draws) {
		x := g.normal.normalDraw(rng)
		lp, err := w.Target.LogDensityGrad(x, grad)
		if err != nil {
			return own, err
		}
		own.normals = append(own.normals, lp-g.normal.logNormal(x))
	}
	for i, other := range groups {
		apart := false
		if i != own.group {
			var err error
			if apart, err = w.separated(&g, &other); err != nil {
				return own, err
			}
		}
		own.apart = append(own.apart, apart)
	}
	return own, nil
}

// separated reports whether there is a barrier between two groups. It moves a normal distribution
// from one group to the other, in location and scale. Its mass along the path is the median log
// density of the target at its draws, plus its log volume. Along a funnel the mass changes little.
// Between modes, or regions of very different scales, it falls.
func (w *chain) separated(a, b *group) (bool, error) {
	d := w.Target.Dim()
	rng := infer.Stream(w.Seed, w.ID, "between", 0)
	from, to := variances(a.normal.metric), variances(b.normal.metric)
	x, y, z, g := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
	scale := make([]float64, d)
	var levels []float64
	for k := range between + 1 {
		t := float64(k) / between
		end, of := a.normal, from
		if 2*k > between {
			end, of = b.normal, to
		}
		volume := end.to.LogScale()
		for i := range d {
			wider := 0.5 * ((1-t)*math.Log(from[i]) + t*math.Log(to[i]) - math.Log(of[i]))
			volume += wider
			scale[i] = math.Exp(wider)
		}
		var logs []float64
		for range betweenDraws {
			for i := range z {
				z[i] = rng.NormFloat64()
			}
			end.to.Forward(z, y)
			for i := range x {
				x[i] = (1-t)*a.normal.metric.Mean[i] + t*b.normal.metric.Mean[i] + scale[i]*(y[i]-end.metric.Mean[i])
			}
			lp, err := w.Target.LogDensityGrad(x, g)
			if err != nil {
				return false, err
			}
			logs = append(logs, lp)
		}
		slices.Sort(logs)
		levels = append(levels, logs[len(logs)/2]+volume)
	}
	return slices.Min(levels[1:between]) < min(levels[0], levels[between])-w.at.massBarrier, nil
}

// masses has the modes and their masses.
type masses struct {
	normals []infer.Metric
	mass    []float64 // masses, which sum to 1
	errors  []float64 // standard errors
	total   float64   // log mass of all modes except candidates
	// number of candidates; they are the last modes, with masses from importance sampling
	laplace int
}

// with adds the candidates whose mass is not small and that have a much smaller share of the draws.
// visits are the shares of the draws.
func (m *masses) with(at *limits, candidates []*mode, visits []float64) *masses {
	if len(candidates) == 0 {
		return m
	}
	d := float64(m.normals[0].Dim)
	log := func(c *mode) float64 { return c.mass + 0.5*d*math.Log(2*math.Pi) }
	// A candidate that contains many draws is already part of a group.
	var left []*mode
	var visited []float64
	logs := []float64{m.total}
	for i, c := range candidates {
		if visits[i] <= at.fewVisits {
			left, visited, logs = append(left, c), append(visited, visits[i]), append(logs, log(c))
		}
	}
	total := floats.LogSumExp(logs)
	out := &masses{normals: slices.Clone(m.normals), total: total}
	for i, mass := range m.mass {
		share := math.Exp(m.total - total)
		out.mass, out.errors = append(out.mass, mass*share), append(out.errors, m.errors[i]*share)
	}
	for i, c := range left {
		mass := math.Exp(log(c) - total)
		if mass < at.smallMass || visited[i] > at.fewVisits*mass {
			continue
		}
		out.normals, out.mass, out.errors = append(out.normals, c.metric), append(out.mass, mass), append(out.errors, 0)
		out.laplace++
	}
	return out
}

// massesOf joins groups without a barrier between them, and estimates the masses of the remaining
// groups, the largest first.
func massesOf(groups []group, parts []any) *masses {
	n := len(groups)
	separate := make([][]int, n) // votes for a barrier between groups minus votes against
	for i := range separate {
		separate[i] = make([]int, n)
	}
	draws, normals := make([][]float64, n), make([][]float64, n)
	for _, part := range parts {
		b, ok := part.(bridge)
		if !ok || b.group < 0 {
			continue
		}
		draws[b.group] = append(draws[b.group], b.draws...)
		normals[b.group] = append(normals[b.group], b.normals...)
		for i, apart := range b.apart {
			vote := -1
			if apart {
				vote = 1
			}
			separate[b.group][i] += vote
			separate[i][b.group] += vote
		}
	}
	of := united(n, func(a, b int) bool { return separate[a][b] <= 0 })
	out := &masses{}
	var logs, relative []float64
	for i := range n {
		if of[i] != i { // the group was joined to one that is better known
			continue
		}
		l, e := bridgeSampling(draws[i], normals[i])
		out.normals = append(out.normals, groups[i].normal.metric)
		logs, relative = append(logs, l), append(relative, e)
	}
	if len(logs) == 0 {
		return out
	}
	out.share(logs, relative)
	return out.sorted()
}

// share computes the masses from the logarithms of the integrals of the modes, and their standard
// errors from relative ones.
func (m *masses) share(logs, relative []float64) {
	m.total = floats.LogSumExp(logs)
	for i, l := range logs {
		mass := math.Exp(l - m.total)
		others := 0.0
		for j, l := range logs {
			if j != i {
				share := math.Exp(l-m.total) / max(1-mass, 1e-300)
				others += share * share * relative[j] * relative[j]
			}
		}
		m.mass = append(m.mass, mass)
		m.errors = append(m.errors, mass*(1-mass)*math.Sqrt(relative[i]*relative[i]+others))
	}
}

// sorted returns the masses in descending order.
func (m *masses) sorted() *masses {
	largest := make([]int, len(m.mass))
	for i := range largest {
		largest[i] = i
	}
	sorting.Stable(largest, func(a, b int) int { return order(m.mass[b], m.mass[a]) })
	out := &masses{total: m.total}
	for _, i := range largest {
		out.normals, out.mass, out.errors = append(out.normals, m.normals[i]), append(out.mass, m.mass[i]), append(out.errors, m.errors[i])
	}
	return out
}

// bridgeSampling returns the logarithm of the integral of a density, and its standard error. Its
// arguments are log ratios of the density to a normal density, at draws from the density and at
// draws from the normal distribution (Meng and Wong 1996, equation 4.1; Frühwirth-Schnatter 2004
// for the error).
func bridgeSampling(draws, normals []float64) (log, relative float64) {
	n1, n2 := float64(len(draws)), float64(len(normals))
	if n1 == 0 || n2 == 0 {
		return math.Inf(-1), 0
	}
	sorted := slices.Sorted(slices.Values(draws))
	log = sorted[len(sorted)/2]
	s1, s2 := n1/(n1+n2), n2/(n1+n2)
	terms := func(r float64) (above, below []float64) {
		for _, l := range normals {
			e := math.Exp(min(l-r, 700))
			above = append(above, e/(s1*e+s2))
		}
		for _, l := range draws {
			e := math.Exp(min(l-r, 700))
			below = append(below, 1/(s1*e+s2))
		}
		return above, below
	}
	for range bridgeRounds {
		above, below := terms(log)
		step := math.Log(floats.Sum(above)/n2) - math.Log(floats.Sum(below)/n1)
		if math.IsNaN(step) || math.IsInf(step, 0) {
			break
		}
		log += step
		if math.Abs(step) < 1e-6 {
			break
		}
	}
	above, below := terms(log)
	spread := func(v []float64, n float64) float64 {
		m := floats.Sum(v) / n
		s := 0.0
		for _, x := range v {
			s += (x - m) * (x - m)
		}
		return s / n / (n * m * m)
	}
	return log, math.Sqrt(spread(above, n2) + correlated*spread(below, n1))
}

// correlated is the factor by which the autocorrelation of draws in warm-up increases the variance
// of a mean.
const correlated = 3

// census counts the draws in each mode.
type census struct {
	Normals      []infer.Metric
	Mass, Errors []float64
	Laplace      int // number of modes, at the end of the list, without a chain, whose mass is from importance sampling
	Counts       []int
	Moves        int
	Last         int // mode of the last draw, from 1; 0: no draw yet

	modes []*mode
}

func newCensus(m *masses) *census {
	c := &census{Normals: m.normals, Mass: m.mass, Errors: m.errors, Laplace: m.laplace, Counts: make([]int, len(m.mass))}
	c.prepare()
	return c
}

// prepare computes the fields that are not saved.
func (c *census) prepare() bool {
	c.modes = nil
	for _, m := range c.Normals {
		n := (*limits)(nil).newMode(m, 0)
		if n == nil {
			return false
		}
		c.modes = append(c.modes, n)
	}
	return len(c.modes) == len(c.Counts) && len(c.Mass) == len(c.modes) && len(c.Errors) == len(c.modes)
}

// count counts a draw.
func (c *census) count(x []float64) {
	best, at := -infinity, 0
	for i, m := range c.modes {
		if l := m.logNormal(x) + math.Log(max(c.Mass[i], 1e-12)); l > best {
			best, at = l, i
		}
	}
	c.Counts[at]++
	if c.Last != 0 && c.Last != at+1 {
		c.Moves++
	}
	c.Last = at + 1
}

// restart sets all counts to 0.
func (c *census) restart() {
	c.Counts, c.Moves, c.Last = make([]int, len(c.Counts)), 0, 0
}

// event returns the census as an event of the run.
func (c *census) event() infer.Event {
	f := infer.Figures{"modes": float64(len(c.modes)), "moves": float64(c.Moves)}
	n := 0
	for _, k := range c.Counts {
		n += k
	}
	for i := range c.modes {
		f[fmt.Sprint("mass_", i+1)], f[fmt.Sprint("error_", i+1)] = c.Mass[i], c.Errors[i]
		if i >= len(c.modes)-c.Laplace {
			f[fmt.Sprint("laplace_", i+1)] = 1
		}
		f[fmt.Sprint("share_", i+1)] = float64(c.Counts[i]) / float64(max(1, n))
	}
	return infer.Event{Code: infer.EventModes, Figures: f}
}
