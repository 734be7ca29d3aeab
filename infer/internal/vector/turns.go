package vector

// End describes a run of points for the criterion for U-turns: the momenta at its two ends, in the
// order of time, and the sum of the momenta of all points. For one point, that is its momentum. For
// more, it is what [Turns] or [TurnsBetween] left in its argument sum.
type End struct {
	First, Last []float64
	Sum         []float64
	Points      int

	FirstVelocity, LastVelocity []float64 // for TurnsBetween only
}

// Turns reports whether the union of two runs of the same length, the second after the first, makes
// a U-turn. Velocities are inv times the momenta; if inv is nil, all its elements are 1. sum is
// memory for the sum of all momenta. Only Turns may read it: it computes the sum of two points
// again when needed, which is faster than reading it.
//
// By the generalised criterion (Betancourt 2017, with the two further conditions of Stan), the
// velocities at both ends must have positive products with the sum of the momenta. This is required
// of the union, and of each run together with the nearest point of the other.
func Turns(left, right *End, inv, sum []float64) bool {
	n := len(sum)
	a, b := left.First[:n], right.Last[:n]
	if !fast || n < minLength {
		return turnsPlain(left, right, inv, sum)
	}
	var ones [4]float64
	first, step := perElement(inv, &ones)
	from := n &^ 3
	var p [6][4]float64
	if left.Points == 1 { // the other conditions are then the same as the first one
		turnPair(from, &a[0], &b[0], first, step, &p)
		for i := from; i < n; i++ {
			rho, v := a[i]+b[i], at(inv, i)
			p[0][i&3] += float64(float64(v*a[i]) * rho)
			p[1][i&3] += float64(float64(v*b[i]) * rho)
		}
		return !(total(&p[0]) > 0 && total(&p[1]) > 0)
	}
	c, d := right.First[:n], left.Last[:n]
	r, s := left.Sum[:n], right.Sum[:n]
	pairs := left.Points == 2
	if pairs {
		turnPairs(from, &a[0], &d[0], &c[0], &b[0], first, step, &sum[0], &p)
	} else {
		turnRuns(from, &a[0], &d[0], &c[0], &b[0], &r[0], &s[0], first, step, &sum[0], &p)
	}
	for i := from; i < n; i++ {
		v := at(inv, i)
		va, vb, vc, vd := float64(v*a[i]), float64(v*b[i]), float64(v*c[i]), float64(v*d[i])
		before, after := a[i]+d[i], c[i]+b[i]
		if !pairs {
			before, after = r[i], s[i]
		}
		rho := before + after
		before, after = before+c[i], d[i]+after
		sum[i] = rho
		p[0][i&3] += float64(va * rho)
		p[1][i&3] += float64(vb * rho)
		p[2][i&3] += float64(va * before)
		p[3][i&3] += float64(vc * before)
		p[4][i&3] += float64(vd * after)
		p[5][i&3] += float64(vb * after)
	}
	for k := range p {
		if !(total(&p[k]) > 0) {
			return true
		}
	}
	return false
}

// turnsPlain is Turns without machine code.
func turnsPlain(left, right *End, inv, sum []float64) (turns bool) {
	n := len(sum)
	a, b, r, s := left.First[:n], right.Last[:n], left.Sum[:n], right.Sum[:n]
	c, d := right.First[:n], left.Last[:n]
	single := left.Points == 1
	if inv == nil {
		turns = bends(a, b, r, s) || !single && (bends(a, c, r, c) || bends(d, b, d, s))
	} else {
		turns = bendsScaled(a, b, r, s, inv) || !single && (bendsScaled(a, c, r, c, inv) || bendsScaled(d, b, d, s, inv))
	}
	for i := range sum {
		sum[i] = r[i] + s[i]
	}
	return turns
}

// TurnsBetween is [Turns] for the velocities that the ends have, which may be any function of the
// momenta.
func TurnsBetween(left, right *End, sum []float64) bool {
	n := len(sum)
	a, b, r, s := left.FirstVelocity[:n], right.LastVelocity[:n], left.Sum[:n], right.Sum[:n]
	turns := bends(a, b, r, s)
	if !turns && left.Points > 1 {
		turns = bends(a, right.FirstVelocity[:n], r, right.First[:n]) || bends(left.LastVelocity[:n], b, left.Last[:n], s)
	}
	for i := range sum {
		sum[i] = r[i] + s[i]
	}
	return turns
}

// bends reports whether a·(r+s) or b·(r+s) is not positive.
func bends(a, b, r, s []float64) bool {
	n := len(a)
	b, r, s = b[:n], r[:n], s[:n]
	var a0, a1, a2, a3, b0, b1, b2, b3 float64
	i := 0
	for ; i+3 < n; i += 4 {
		rho := r[i] + s[i]
		a0 += float64(a[i] * rho)
		b0 += float64(b[i] * rho)
		rho = r[i+1] + s[i+1]
		a1 += float64(a[i+1] * rho)
		b1 += float64(b[i+1] * rho)
		rho = r[i+2] + s[i+2]
		a2 += float64(a[i+2] * rho)
		b2 += float64(b[i+2] * rho)
		rho = r[i+3] + s[i+3]
		a3 += float64(a[i+3] * rho)
		b3 += float64(b[i+3] * rho)
	}
	if i < n {
		rho := r[i] + s[i]
		a0 += float64(a[i] * rho)
		b0 += float64(b[i] * rho)
	}
	if i+1 < n {
		rho := r[i+1] + s[i+1]
		a1 += float64(a[i+1] * rho)
		b1 += float64(b[i+1] * rho)
	}
	if i+2 < n {
		rho := r[i+2] + s[i+2]
		a2 += float64(a[i+2] * rho)
		b2 += float64(b[i+2] * rho)
	}
	return !((a0+a1)+(a2+a3) > 0 && (b0+b1)+(b2+b3) > 0)
}

// bendsScaled is bends for inv·a and inv·b.
func bendsScaled(a, b, r, s, inv []float64) bool {
	n := len(a)
	b, r, s, inv = b[:n], r[:n], s[:n], inv[:n]
	var a0, a1, a2, a3, b0, b1, b2, b3 float64
	i := 0
	for ; i+3 < n; i += 4 {
		rho := r[i] + s[i]
		a0 += float64(float64(inv[i]*a[i]) * rho)
		b0 += float64(float64(inv[i]*b[i]) * rho)
		rho = r[i+1] + s[i+1]
		a1 += float64(float64(inv[i+1]*a[i+1]) * rho)
		b1 += float64(float64(inv[i+1]*b[i+1]) * rho)
		rho = r[i+2] + s[i+2]
		a2 += float64(float64(inv[i+2]*a[i+2]) * rho)
		b2 += float64(float64(inv[i+2]*b[i+2]) * rho)
		rho = r[i+3] + s[i+3]
		a3 += float64(float64(inv[i+3]*a[i+3]) * rho)
		b3 += float64(float64(inv[i+3]*b[i+3]) * rho)
	}
	if i < n {
		rho := r[i] + s[i]
		a0 += float64(float64(inv[i]*a[i]) * rho)
		b0 += float64(float64(inv[i]*b[i]) * rho)
	}
	if i+1 < n {
		rho := r[i+1] + s[i+1]
		a1 += float64(float64(inv[i+1]*a[i+1]) * rho)
		b1 += float64(float64(inv[i+1]*b[i+1]) * rho)
	}
	if i+2 < n {
		rho := r[i+2] + s[i+2]
		a2 += float64(float64(inv[i+2]*a[i+2]) * rho)
		b2 += float64(float64(inv[i+2]*b[i+2]) * rho)
	}
	return !((a0+a1)+(a2+a3) > 0 && (b0+b1)+(b2+b3) > 0)
}
