// Package vector contains the loops over all dimensions in a step of a trajectory. In thousands of
// dimensions, these loops take more time than the gradient. So each loop passes over memory once
// and does all work that needs these numbers.
//
// On amd64 with AVX2 they are machine code, elsewhere Go. Both give the same bits: products are
// rounded before they are added, and a sum consists of four partial sums. Element i is added to
// partial sum i modulo 4, and these are added as (0 + 1) + (2 + 3). So draws do not depend on the
// processor.
//
// All slices in a call have at least the length of the first one. A result may be one of the
// arguments, but must not overlap with one in another way.
package vector

// minLength is the length from which calling the machine code saves time.
const minLength = 16

// Leap is the first half of a leapfrog step: p = p0 + half·g0, q = q0 + eps·inv·p. If inv is nil,
// all its elements are 1.
func Leap(q, p, q0, p0, g0, inv []float64, half, eps float64) {
	n := len(q)
	p, q0, p0, g0 = p[:n], q0[:n], p0[:n], g0[:n]
	from := 0
	if inv == nil {
		if fast && n >= minLength {
			from = n &^ 3
			leapUnit(from, &q[0], &p[0], &q0[0], &p0[0], &g0[0], half, eps)
		}
		for i := from; i < n; i++ {
			v := p0[i] + float64(half*g0[i])
			p[i] = v
			q[i] = q0[i] + float64(eps*v)
		}
		return
	}
	inv = inv[:n]
	if fast && n >= minLength {
		from = n &^ 3
		leap(from, &q[0], &p[0], &q0[0], &p0[0], &g0[0], &inv[0], half, eps)
	}
	for i := from; i < n; i++ {
		v := p0[i] + float64(half*g0[i])
		p[i] = v
		q[i] = q0[i] + float64(float64(eps*inv[i])*v)
	}
}

// Kick is the second half of a leapfrog step: p = p + half·g, v = inv·p. It returns p·v. If inv is
// nil, all its elements are 1; v then equals p and is not written.
func Kick(p, v, g, inv []float64, half float64) float64 {
	n := len(p)
	g = g[:n]
	var s [4]float64
	from := 0
	if inv == nil {
		if fast && n >= minLength {
			from = n &^ 3
			kickUnit(from, &p[0], &g[0], half, &s)
		}
		for i := from; i < n; i++ {
			a := p[i] + float64(half*g[i])
			p[i] = a
			s[i&3] += float64(a * a)
		}
		return total(&s)
	}
	v, inv = v[:n], inv[:n]
	if fast && n >= minLength {
		from = n &^ 3
		kick(from, &p[0], &v[0], &g[0], &inv[0], half, &s)
	}
	for i := from; i < n; i++ {
		a := p[i] + float64(half*g[i])
		b := float64(inv[i] * a)
		p[i], v[i] = a, b
		s[i&3] += float64(a * b)
	}
	return total(&s)
}

// LeapTo is [Leap] with a nil inv, followed by [Affine] of its result: x = mean + scale·q.
func LeapTo(x, q, p, q0, p0, g0, mean, scale []float64, half, eps float64) {
	n := len(x)
	q, p, q0, p0, g0, mean, scale = q[:n], p[:n], q0[:n], p0[:n], g0[:n], mean[:n], scale[:n]
	from := 0
	if fast && n >= minLength {
		from = n &^ 3
		leapTo(from, &x[0], &q[0], &p[0], &q0[0], &p0[0], &g0[0], &mean[0], &scale[0], half, eps)
	}
	for i := from; i < n; i++ {
		v := p0[i] + float64(half*g0[i])
		at := q0[i] + float64(eps*v)
		p[i], q[i] = v, at
		x[i] = mean[i] + float64(scale[i]*at)
	}
}

// KickFrom is [Times], w = scale·g, followed by [Kick] with w and a nil inv.
func KickFrom(p, w, scale, g []float64, half float64) float64 {
	n := len(p)
	w, scale, g = w[:n], scale[:n], g[:n]
	var s [4]float64
	from := 0
	if fast && n >= minLength {
		from = n &^ 3
		kickFrom(from, &p[0], &w[0], &scale[0], &g[0], half, &s)
	}
	for i := from; i < n; i++ {
		b := float64(scale[i] * g[i])
		a := p[i] + float64(half*b)
		w[i], p[i] = b, a
		s[i&3] += float64(a * a)
	}
	return total(&s)
}

// Rotate is the first half of a step that follows a normal distribution of scale 1 exactly:
// r' = r0 + half·(w0 + y0), y = cos·y0 + sin·r', r = cos·r' - sin·y0.
func Rotate(y, r, y0, w0, r0 []float64, half, sin, cos float64) {
	n := len(y)
	r, y0, w0, r0 = r[:n], y0[:n], w0[:n], r0[:n]
	from := 0
	if fast && n >= minLength {
		from = n &^ 3
		rotate(from, &y[0], &r[0], &y0[0], &w0[0], &r0[0], half, sin, cos)
	}
	for i := from; i < n; i++ {
		at := y0[i]
		v := r0[i] + float64(half*(w0[i]+at))
		y[i] = float64(cos*at) + float64(sin*v)
		r[i] = float64(cos*v) - float64(sin*at)
	}
}

// KickRotated is the second half of that step, r = r + half·(w + y). It returns r·r.
func KickRotated(r, w, y []float64, half float64) float64 {
	n := len(r)
	w, y = w[:n], y[:n]
	var s [4]float64
	from := 0
	if fast && n >= minLength {
		from = n &^ 3
		kickRotated(from, &r[0], &w[0], &y[0], half, &s)
	}
	for i := from; i < n; i++ {
		a := r[i] + float64(half*(w[i]+y[i]))
		r[i] = a
		s[i&3] += float64(a * a)
	}
	return total(&s)
}

// Affine sets x to mean + scale·y.
func Affine(x, mean, scale, y []float64) {
	n := len(x)
	mean, scale, y = mean[:n], scale[:n], y[:n]
	from := 0
	if fast && n >= minLength {
		from = n &^ 3
		affine(from, &x[0], &mean[0], &scale[0], &y[0])
	}
	for i := from; i < n; i++ {
		x[i] = mean[i] + float64(scale[i]*y[i])
	}
}

// Times sets x to scale·y.
func Times(x, scale, y []float64) {
	n := len(x)
	scale, y = scale[:n], y[:n]
	from := 0
	if fast && n >= minLength {
		from = n &^ 3
		times(from, &x[0], &scale[0], &y[0])
	}
	for i := from; i < n; i++ {
		x[i] = float64(scale[i] * y[i])
	}
}

// Finite reports whether no number is infinite or NaN.
func Finite(x []float64) bool {
	n := len(x)
	var s [4]float64 // 0 times a number is 0, unless the number is not finite
	from := 0
	if fast && n >= minLength {
		from = n &^ 3
		nothing(from, &x[0], &s)
	}
	for i := from; i < n; i++ {
		s[i&3] += x[i] * 0
	}
	return total(&s) == 0
}

// End describes a run of points for the criterion for U-turns: velocities and momenta at its two
// ends, in the order of time, and the sum of the momenta of all points.
type End struct {
	First, Last                 []float64 // velocities
	FirstMomentum, LastMomentum []float64
	Sum                         []float64
	Points                      int
}

// Turns reports whether the union of two runs, the second after the first, makes a U-turn. It
// writes the sum of all momenta to sum. By the generalised criterion (Betancourt 2017, with the two
// further conditions of Stan), the velocities at both ends must have positive products with the sum
// of the momenta. This is required of the union, and of each run together with the nearest point of
// the other.
func Turns(left, right *End, sum []float64) bool {
	n := len(sum)
	a, b, r, s := left.First[:n], right.Last[:n], left.Sum[:n], right.Sum[:n]
	// For two single points, the other conditions are the same as the first one.
	single := left.Points == 1 && right.Points == 1
	if !fast || n < minLength {
		turns := bends(a, b, r, s)
		if !turns && !single {
			turns = bends(a, right.First[:n], r, right.FirstMomentum[:n]) || bends(left.Last[:n], b, left.LastMomentum[:n], s)
		}
		for i := range sum {
			sum[i] = r[i] + s[i]
		}
		return turns
	}
	if single {
		var p [2][4]float64
		from := n &^ 3
		turn2(from, &a[0], &b[0], &r[0], &s[0], &sum[0], &p)
		for i := from; i < n; i++ {
			rho := r[i] + s[i]
			sum[i] = rho
			p[0][i&3] += float64(a[i] * rho)
			p[1][i&3] += float64(b[i] * rho)
		}
		return !(total(&p[0]) > 0 && total(&p[1]) > 0)
	}
	c, pc, d, pd := right.First[:n], right.FirstMomentum[:n], left.Last[:n], left.LastMomentum[:n]
	var p [6][4]float64
	from := n &^ 3
	turn6(from, &a[0], &b[0], &r[0], &s[0], &c[0], &pc[0], &d[0], &pd[0], &sum[0], &p)
	for i := from; i < n; i++ {
		rho := r[i] + s[i]
		before, after := r[i]+pc[i], pd[i]+s[i]
		sum[i] = rho
		p[0][i&3] += float64(a[i] * rho)
		p[1][i&3] += float64(b[i] * rho)
		p[2][i&3] += float64(a[i] * before)
		p[3][i&3] += float64(c[i] * before)
		p[4][i&3] += float64(d[i] * after)
		p[5][i&3] += float64(b[i] * after)
	}
	for k := range p {
		if !(total(&p[k]) > 0) {
			return true
		}
	}
	return false
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

func total(s *[4]float64) float64 { return (s[0] + s[1]) + (s[2] + s[3]) }
