package stdlib

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file: hidden Markov chains, and linear state space models with normal noise.

const (
	// every is the number of steps of a hidden Markov chain from one normalisation to the next.
	every = 4

	// If the total of probabilities is below lostTotal, some may have underflowed. minTotal is the
	// smallest divisor: the inverse of its square is finite.
	lostTotal = 1e-100
	minTotal  = 1e-150

	// maxStateRows is the largest number of states whose likelihoods are computed one state after
	// the other, for all times at once. It is at least maxSegmentStates.
	maxStateRows = 6

	// minLanes is the number of chains in lanes from which the states of a step are single numbers:
	// then the chains are vectors.
	minLanes = 8
)

// hmm checks the arguments of functions of hidden Markov chains: log likelihoods of K states at T
// times (K by T), transition probabilities and initial probabilities. It returns the log
// likelihoods T by K.
func (b *Builder) hmm(a []Arg) (logs ad.Ref, k, t int) {
	g := b.G
	s := b.shape(a[0])
	k, t = s[0], s[1]
	if n := b.square(a, 1); n != k || b.size(a[2]) != k {
		b.Fail("there are %d states, but the transition matrix has %s and the initial probabilities have size %d", k, sizeText(b.shape(a[1])), b.size(a[2]))
	}
	if k == 0 || t == 0 {
		b.Fail("the log likelihoods are empty")
	}
	check(g, b.Name, "log likelihoods", types.NotNaN, a[0].Ref)
	simplexRows(g, b.Name, "Gamma", a[1].Ref)
	checkSimplex(g, b.Name, "rho", a[2].Ref)
	return g.Transpose(a[0].Ref), k, t
}

// simplexRows adds the checks that the rows of a matrix are simplexes.
func simplexRows(g *ad.Graph, function, what string, m ad.Ref) {
	check(g, function, what, types.NonNegative, m)
	one := types.Between(1-simplexTolerance, 1+simplexTolerance)
	one.Text = "1"
	check(g, function, "sum of the rows of "+what, one, sumRows(g, m))
}

// marginal returns the log likelihood by the forward algorithm (Rabiner 1989). Likelihoods are
// divided by the greatest at each time, and the probabilities of the states are normalised every
// few steps. If the states that the observations favour are next to impossible for these steps,
// what is left of the others underflows; then forward gives the result.
func (b *Builder) marginal(a []Arg) ad.Ref {
	g := b.G
	logs, k, t := b.hmm(a)
	f := &forwardSteps{k: k, steps: t - 1, gamma: a[1].Ref}
	most := f.scale(g, a[0].Ref, logs)
	each, n := every, 0
	numbers := k <= maxSegmentStates && max(g.Type(logs).Lanes, g.Type(f.gamma).Lanes) >= minLanes
	switch {
	case numbers:
		each = 1
	case k <= maxSegmentStates:
		each, n = segmentsOf(t - 1)
	}
	alone := (t - 1) % each // steps before the loop, so that the others form whole groups
	state, norm := f.run(g, g.Mul(a[2].Ref, f.at(g, 0)), f.gamma, func(i int) ad.Ref { return f.at(g, 1+i) }, alone)
	far := g.Less(norm, g.Const(lostTotal))
	sums := g.Sum(most)
	switch from := 1 + alone; {
	case n > 0:
		s := &segments{k: k, n: n, each: each, gamma: f.gamma}
		for _, x := range f.states {
			s.like = append(s.like, g.Transpose(g.Slice(x, from, []int{n, each})))
		}
		norm = g.Detach(norm)
		value, lost, share := s.likelihood(g, normalised(g, state, norm))
		for i, x := range share {
			row := g.Slice(a[0].Ref, i*t+from, []int{n, each})
			sums = g.Add(sums, g.Sum(g.Slope(row, g.Transpose(x))))
		}
		sums = g.Add(sums, value)
		far = g.Less(g.Const(0), g.Add(far, lost))
	case t > from:
		n = (t - 1) / each
		body := ad.NewGraph()
		scan := &ad.Scan{Body: body, Sums: 2, Steps: n}
		var start, streams, next []ad.Ref
		captures := []ad.Ref{f.gamma}
		var sum ad.Ref
		norm = g.Detach(norm)
		if first := normalised(g, state, norm); numbers {
			for _, like := range f.states {
				streams = append(streams, g.Slice(like, from, []int{n}))
			}
			start, next = elementsOf(g, first), inputs(body, k, ad.Scalar)
			at, gamma := inputs(body, k, ad.Scalar), inputs(body, k*k, ad.Scalar)
			captures = elementsOf(g, f.gamma)
			next = rowProduct(body, next, gamma, k)
			for j := range next {
				next[j] = body.Mul(next[j], at[j])
			}
			sum = body.Do(ad.OpMax, nil, addAll(body, next), body.Const(minTotal))
		} else {
			start, streams = []ad.Ref{first}, []ad.Ref{g.Slice(f.like, from*k, []int{n, each, k})}
			before := body.Input(ad.Type{Shape: []int{k}})
			at, gamma := body.Input(ad.Type{Shape: []int{each, k}}), body.Input(ad.Type{Shape: []int{k, k}})
			next = []ad.Ref{ad.None}
			next[0], sum = f.run(body, before, gamma, func(i int) ad.Ref { return body.Slice(at, i*k, []int{k}) }, each)
		}
		sum = body.Detach(sum)
		for _, x := range next {
			body.Output(normalised(body, x, sum))
		}
		body.Output(body.Log(sum))
		body.Output(body.Less(sum, body.Const(lostTotal)))
		scan.Carries, scan.Streams = len(start), len(streams)
		steps := g.DoScan(scan, slices.Concat(start, streams, captures))
		// The last total is 1, except for rounding, and all derivatives come from it. It may be
		// 0 if probabilities underflow.
		last := make([]ad.Ref, len(start))
		for i := range last {
			last[i] = g.Sum(g.Final(steps, i))
		}
		norm, sums = g.Mul(norm, g.Do(ad.OpMax, nil, addAll(g, last), g.Const(0.5))), g.Add(sums, g.SumOf(steps, 0))
		far = g.Less(g.Const(0), g.Add(far, g.SumOf(steps, 1)))
	}
	fast := g.Add(g.Log(norm), sums)
	exact := whereAny(g, far, []ad.Ref{a[0].Ref, a[1].Ref, a[2].Ref}, func(g *ad.Graph, p []ad.Ref) ad.Ref {
		logs := g.Transpose(p[0])
		states, shift := forward(g, logs, p[1], p[2])
		last := g.Slice(states, (t-1)*k, []int{k})
		return g.Add(g.Add(shift, logTotal(g, last)), impossible(g, states, logs, p[1], p[2]))
	})
	return g.SelectFinite(far, exact, fast)
}

// normalised returns a state divided by a total. The likelihood does not depend on the total, which
// is multiplied in again, so derivatives treat it as constant. The adjoint of a state that cannot
// be reached is the likelihood of the later observations from there, relative to that from states
// that can be reached. It may overflow, so it is bounded.
func normalised(g *ad.Graph, state, total ad.Ref) ad.Ref {
	return g.Div(g.BoundAdjoint(state), total)
}

// forwardSteps are the steps of the forward algorithm on probabilities.
type forwardSteps struct {
	k, steps int
	gamma    ad.Ref
	like     ad.Ref   // T × K
	states   []ad.Ref // with few states, the likelihoods of each at all times
}

// scale computes the likelihoods, relative to the greatest at each time, from their logarithms,
// which it has by state and by time. It returns the logarithms of the greatest. The result does not
// depend on them, so they have no derivatives.
func (f *forwardSteps) scale(g *ad.Graph, byState, byTime ad.Ref) (most ad.Ref) {
	t := f.steps + 1
	finite := func(most ad.Ref) ad.Ref { // if no state is possible
		return g.Do(ad.OpMax, nil, g.Detach(most), g.Const(-math.MaxFloat64))
	}
	if f.like = ad.None; f.k > maxStateRows {
		most = finite(g.Do(ad.OpMaxOf, nil, byTime))
		f.like = g.Exp(g.Sub(byTime, alongCols(g, most, []int{t, f.k})))
		return most
	}
	rows := make([]ad.Ref, f.k)
	for i := range rows {
		rows[i] = g.Slice(byState, i*t, []int{t})
	}
	most = rows[0]
	for _, r := range rows[1:] {
		most = g.Do(ad.OpMax, nil, most, r)
	}
	most = finite(most)
	for _, r := range rows {
		f.states = append(f.states, g.Exp(g.Sub(r, most)))
	}
	f.like = g.Transpose(g.Reshape(g.Concat(f.states...), []int{f.k, t}))
	return most
}

// at returns the likelihoods at a time.
func (f *forwardSteps) at(g *ad.Graph, time int) ad.Ref {
	if f.states == nil {
		return g.Slice(f.like, time*f.k, []int{f.k})
	}
	var parts []ad.Ref
	for _, s := range f.states {
		parts = append(parts, g.Slice(s, time, []int{1}))
	}
	return g.Concat(parts...)
}

// run runs n steps; like returns the likelihoods of one.
func (f *forwardSteps) run(g *ad.Graph, state, gamma ad.Ref, like func(i int) ad.Ref, n int) (next, sum ad.Ref) {
	for i := range n {
		state = g.Mul(g.VecMat(state, gamma), like(i))
	}
	return state, g.Do(ad.OpMax, nil, g.Sum(state), g.Const(minTotal))
}

// forward is the forward algorithm on logarithms. It computes the T × K logarithms of the joint
// probabilities of the state at each time and the observations so far. At each time it subtracts
// the largest logarithm, so that sums over thousands of times keep their digits. shift is the sum
// of what was subtracted.
func forward(g *ad.Graph, logs, gamma, rho ad.Ref) (states, shift ad.Ref) {
	s := g.Type(logs).Shape
	t, k := s[0], s[1]
	first, shift := lessMax(g, g.Add(logPositive(g, rho), g.Slice(logs, 0, []int{k})))
	if t == 1 {
		return g.Reshape(first, s), shift
	}
	body := ad.NewGraph()
	vec := ad.Type{Shape: []int{k}}
	before, at, into := body.Input(vec), body.Input(vec), body.Input(ad.Type{Shape: []int{k, k}})
	next, most := lessMax(body, body.Add(logBlend(body, into, before), at))
	body.Output(next)
	body.Output(next)
	body.Output(most)
	scan := g.DoScan(&ad.Scan{Body: body, Carries: 1, Streams: 1, Outs: 1, Sums: 1, Steps: t - 1},
		[]ad.Ref{first, g.Slice(logs, k, []int{t - 1, k}), g.Transpose(gamma)})
	return g.Reshape(g.Concat(first, g.Kept(scan, 0)), s), g.Add(shift, g.SumOf(scan, 0))
}

// impossible returns 0, with the derivatives of the log likelihood with respect to probabilities
// that are 0, which forward leaves out. Such a derivative is the product of what leads to the
// transition and what follows it, as shares of the likelihood. states is the result of forward.
func impossible(g *ad.Graph, states, logs, gamma, rho ad.Ref) ad.Ref {
	s := g.Type(logs).Shape
	t, k := s[0], s[1]
	share := func(g *ad.Graph, weights, logShares, total ad.Ref) ad.Ref {
		const largest = 690 // so that sums of exponentials over all steps are finite
		total = g.Do(ad.OpMax, nil, total, g.Const(-math.MaxFloat64))
		rate := g.Detach(g.Exp(g.Do(ad.OpMin, nil, g.Sub(logShares, total), g.Const(largest))))
		zero := g.Const(0)
		return g.Sum(g.Select(g.Less(zero, weights), zero, g.Mul(weights, rate)))
	}
	after, sum := g.Broadcast(g.Const(0), []int{k}), g.Const(0)
	if t > 1 {
		body := ad.NewGraph()
		vec, square := ad.Type{Shape: []int{k}}, []int{k, k}
		later, at, before, into := body.Input(vec), body.Input(vec), body.Input(vec), body.Input(ad.Type{Shape: square})
		from := body.Add(later, at)
		to := logBlend(body, into, from)
		back, _ := lessMax(body, to)
		pairs := body.Add(alongCols(body, before, square), alongRows(body, from, square))
		body.Output(back)
		body.Output(back)
		body.Output(share(body, into, pairs, logTotal(body, body.Add(before, to))))
		scan := g.DoScan(&ad.Scan{Body: body, Carries: 1, Streams: 2, Outs: 1, Sums: 1, Steps: t - 1, Reverse: true},
			[]ad.Ref{after, g.Slice(logs, k, []int{t - 1, k}), g.Slice(states, 0, []int{t - 1, k}), gamma})
		after, sum = g.Slice(g.Kept(scan, 0), 0, []int{k}), g.SumOf(scan, 0)
	}
	first := g.Add(after, g.Slice(logs, 0, []int{k}))
	return g.Add(sum, share(g, rho, first, logTotal(g, g.Add(first, logPositive(g, rho)))))
}

// logTotal returns the logarithm of the sum of e^v.
func logTotal(g *ad.Graph, v ad.Ref) ad.Ref {
	k := g.Type(v).Shape[0]
	return g.Sum(logBlend(g, g.Broadcast(g.Const(1), []int{1, k}), v))
}

// lessMax returns v minus its greatest element, or minus a finite number if that is infinite, and
// what it subtracted. Derivatives treat this as constant, because later terms add it again.
func lessMax(g *ad.Graph, v ad.Ref) (less, most ad.Ref) {
	most = g.Detach(g.Do(ad.OpMax, nil, g.Do(ad.OpMaxOf, nil, v), g.Const(-math.MaxFloat64)))
	return g.Sub(v, most), most
}

// logPositive returns log x, or -Inf with the derivative 0 where x is 0.
func logPositive(g *ad.Graph, x ad.Ref) ad.Ref {
	positive := g.Less(g.Const(0), x)
	return g.Select(positive, g.Log(g.Select(positive, x, g.Const(1))), g.Const(math.Inf(-1)))
}

// logBlend returns the logarithms of W e^v, for a matrix W of weights. Elements of v beyond those
// with a positive weight do not count, whatever their size.
func logBlend(g *ad.Graph, w, v ad.Ref) ad.Ref {
	s := g.Type(w).Shape
	none, positive := g.Const(math.Inf(-1)), g.Less(g.Const(0), w)
	rows := g.Select(positive, alongRows(g, v, s), none)
	most := g.Detach(g.Do(ad.OpMax, nil, g.Do(ad.OpMaxOf, nil, rows), g.Const(-math.MaxFloat64)))
	e := g.Exp(g.Select(positive, g.Sub(rows, alongCols(g, most, s)), none))
	return g.Add(logPositive(g, sumRows(g, g.Mul(w, e))), most)
}

// shares returns e^v divided by the sum of its row.
func shares(g *ad.Graph, v ad.Ref) ad.Ref {
	s := g.Type(v).Shape
	e := g.Exp(g.Sub(v, alongCols(g, g.Do(ad.OpMaxOf, nil, v), s)))
	return g.Div(e, alongCols(g, sumRows(g, e), s))
}

// smoothed returns the probabilities of the states given all observations, K by T: those of the
// forward algorithm times those of the backward one.
func (b *Builder) smoothed(a []Arg) ad.Ref {
	g := b.G
	logs, k, t := b.hmm(a)
	v, _ := forward(g, logs, a[1].Ref, a[2].Ref)
	if t > 1 {
		body := ad.NewGraph()
		vec := ad.Type{Shape: []int{k}}
		after, at, gamma := body.Input(vec), body.Input(vec), body.Input(ad.Type{Shape: []int{k, k}})
		back, _ := lessMax(body, logBlend(body, gamma, body.Add(after, at)))
		body.Output(back)
		body.Output(back)
		zeros := g.Broadcast(g.Const(0), []int{k})
		scan := g.DoScan(&ad.Scan{Body: body, Carries: 1, Streams: 1, Outs: 1, Steps: t - 1, Reverse: true},
			[]ad.Ref{zeros, g.Slice(logs, k, []int{t - 1, k}), a[1].Ref})
		v = g.Add(v, g.Reshape(g.Concat(g.Kept(scan, 0), zeros), []int{t, k}))
	}
	return g.Transpose(shares(g, v))
}

// drawStates draws a path of states given all observations: the last one from
// the forward algorithm, then backward.
func (b *Builder) drawStates(a []Arg) ad.Ref {
	g := b.G
	logs, k, t := b.hmm(a)
	states, _ := forward(g, logs, a[1].Ref, a[2].Ref)
	last := b.drawPosition(g.Reshape(shares(g, g.Slice(states, (t-1)*k, []int{1, k})), []int{k}))
	if t == 1 {
		return g.Reshape(last, []int{1})
	}
	body := ad.NewGraph()
	after, at, gamma := body.Input(ad.Scalar), body.Input(ad.Type{Shape: []int{k}}), body.Input(ad.Type{Shape: []int{k, k}})
	rows := make([]float64, k) // column `after` of gamma
	for i := range rows {
		rows[i] = float64(i*k - 1)
	}
	column := body.Take(gamma, body.Add(after, body.ConstArray(ad.Type{Shape: []int{k}}, rows)))
	p := body.Reshape(shares(body, body.Reshape(body.Add(at, logPositive(body, column)), []int{1, k})), []int{k})
	upTo := body.Array(k, k)
	for i := range k {
		for j := range i + 1 {
			upTo[i*k+j] = 1
		}
	}
	sums := body.MatVec(body.ConstArray(ad.Type{Shape: []int{k, k}}, upTo), p)
	u := body.Do(ad.OpRandom, &ad.RandomDraw{Name: "uniform", Draw: func(rng *rand.Rand, p []float64) float64 {
		return rng.Float64() * p[0]
	}}, body.Slice(sums, k-1, nil))
	z := plus(body, body.Sum(body.Do(ad.OpLessEqual, nil, body.Slice(sums, 0, []int{k - 1}), u)), 1)
	body.Output(z)
	body.Output(z)
	scan := g.DoScan(&ad.Scan{Body: body, Carries: 1, Streams: 1, Outs: 1, Steps: t - 1, Reverse: true},
		[]ad.Ref{last, g.Slice(states, 0, []int{t - 1, k}), a[1].Ref})
	return g.Concat(g.Kept(scan, 0), last)
}

// dlm returns the log likelihood of observations y (r by T) of yₜ = Fᵀθₜ + vₜ, θₜ = Gθₜ₋₁ + wₜ with
// noise of covariances V and W, and θ₀ normal with mean m₀ and covariance C₀. It uses the Kalman
// filter (West & Harrison 1997, section 4.3).
func dlm(b *Builder, a []Arg) []ad.Ref {
	g := b.G
	y, f, trans, noise, w, m0, c0 := a[0], a[1], a[2], a[3], a[4], a[5], a[6]
	r, t := b.shape(y)[0], b.shape(y)[1]
	n := b.square(a, 2)
	fs, vs := b.shape(f), b.shape(noise)
	switch {
	case fs[0] != n || fs[1] != r:
		b.Fail("F has %s, but must have sizes %d by %d", sizeText(fs), n, r)
	case vs[0] != r || vs[len(vs)-1] != r:
		b.Fail("V has %s, but there are %d observed variables", sizeText(vs), r)
	case b.square(a, 4) != n || b.square(a, 6) != n || b.size(m0) != n:
		b.Fail("W, m0 and C0 have %s, %s and %s, but the state has size %d", sizeText(b.shape(w)), sizeText(b.shape(m0)), sizeText(b.shape(c0)), n)
	}
	for i, what := range []string{"y", "F", "G", "V", "W", "m0", "C0"} {
		check(g, b.Name, what, types.Finite, a[i].Ref)
	}
	v := noise.Ref
	if len(vs) == 1 {
		check(g, b.Name, "V", types.NonNegative, v)
		v = g.Scatter(v, dims(0, r, r+1), []int{r, r})
	} else {
		b.checkSemidefinite("V", v)
	}
	b.checkSemidefinite("W", w.Ref)
	b.checkSemidefinite("C0", c0.Ref)
	if r == 0 || t == 0 {
		return nil
	}
	mat := func(rows, cols int) ad.Type { return ad.Type{Shape: []int{rows, cols}} }
	body := ad.NewGraph()
	m, c, yt := body.Input(mat(n, 1)), body.Input(mat(n, n)), body.Input(ad.Type{Shape: []int{r}})
	F, G, V, W := body.Input(mat(n, r)), body.Input(mat(n, n)), body.Input(mat(r, r)), body.Input(mat(n, n))
	mul, tr := body.MatMul, body.Transpose
	m = mul(G, m)
	c = body.Add(mul(mul(G, c), tr(G)), W)
	e := body.Sub(body.Reshape(yt, []int{r, 1}), mul(tr(F), m))
	cf := mul(c, F)
	l := body.Cholesky(body.Add(mul(tr(F), cf), V))
	z := body.TriSolve(l, e, ad.TriAttr{})
	gain := body.TriSolve(l, tr(cf), ad.TriAttr{}) // L⁻¹FᵀR, of size r by n
	m = body.Add(m, mul(tr(gain), z))
	// Joseph's form (I - KFᵀ) C (I - KFᵀ)ᵀ + K V Kᵀ with the gain K = C F Q⁻¹: a vague C, such as
	// 10⁶ I, would cancel in C - K Q Kᵀ.
	k := tr(body.TriSolve(l, gain, ad.TriAttr{Trans: true}))
	rest := body.Sub(eye(body, n), mul(k, tr(F)))
	c = body.Add(mul(mul(rest, c), tr(rest)), mul(mul(k, V), tr(k)))
	body.Output(m)
	body.Output(body.Scale(0.5, body.Add(c, tr(c))))
	body.Output(body.Add(logDiagonal(body, l), body.Scale(0.5, body.Sum(body.Square(z)))))
	scan := g.DoScan(&ad.Scan{Body: body, Carries: 2, Streams: 1, Sums: 1, Steps: t},
		[]ad.Ref{g.Reshape(m0.Ref, []int{n, 1}), c0.Ref, g.Transpose(y.Ref), f.Ref, trans.Ref, v, w.Ref})
	return b.kept(a,
		Term{Value: g.Const(-0.5 * math.Log(2*math.Pi) * float64(r*t))},
		Term{Value: g.SumOf(scan, 0), Weight: -1, Of: always})
}

// markovs declares the functions of hidden Markov chains and state space models.
func markovs() []Func {
	in := []types.Constraint{{}, types.RowStochastic, types.SimplexVec}
	params := list(tMat, tMat, tVec)
	const args = ", for arguments log likelihoods (states by times), transition probabilities (rows: from) and initial probabilities."
	dlms := func(v types.Type, cv types.Constraint) Func {
		name := "gaussian_dlm_obs_lpdf"
		return Func{Name: name, Terms: dlm, In: []types.Constraint{{}, {}, {}, cv, types.CovMat, {}, types.CovMat},
			Overload: types.Fixed{Name: name, Params: list(tMat, tMat, tMat, v, tMat, tVec, tMat), Result: tReal},
			Doc: "The logarithm of the density of observations y (variables by times) of a linear state space model with normal noise: " +
				"yₜ = Fᵀθₜ + vₜ, θₜ = Gθₜ₋₁ + wₜ, for arguments y, F, G, V, W, m0, C0: covariances of the noise (of V perhaps only the variances), mean and covariance of θ₀."}
	}
	return []Func{
		fixed("hmm_marginal", "The log likelihood of a hidden Markov chain"+args, tReal, params, func(b *Builder, a []Arg) ad.Ref {
			return b.marginal(a)
		}).in(in...),
		fixed("hmm_hidden_state_prob", "The probabilities of the states at every time (states by times) given all observations"+args, tMat, params,
			func(b *Builder, a []Arg) ad.Ref { return b.smoothed(a) }).in(in...).with(func(f *Func) {
			o := f.Overload.(types.Fixed)
			o.DataOnly = []bool{true, true, true}
			f.Overload = o
		}),
		fixed("hmm_latent_rng", "A draw of the states of a hidden Markov chain given all observations"+args, tInt.Array(1), params,
			func(b *Builder, a []Arg) ad.Ref { return b.drawStates(a) }).in(in...).with(func(f *Func) { f.Random = true }),
		dlms(tVec, types.NonNegative), dlms(tMat, types.CovMat),
	}
}
