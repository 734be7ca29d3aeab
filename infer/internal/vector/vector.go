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

// perElement returns the address of the first element of inv, and the number of bytes from the
// factors of four numbers to those of the next four. If inv is nil, all factors are 1: the address
// is that of ones, and the number 0.
func perElement(inv []float64, ones *[4]float64) (first *float64, step int) {
	if inv == nil {
		*ones = [4]float64{1, 1, 1, 1}
		return &ones[0], 0
	}
	return &inv[0], 4 * 8
}

// at returns element i of inv; 1 if inv is nil.
func at(inv []float64, i int) float64 {
	if inv == nil {
		return 1
	}
	return inv[i]
}

// Leap is the first half of a leapfrog step: p = p0 + half·g0, q = q0 + eps·inv·p. If inv is nil,
// all its elements are 1.
func Leap(q, p, q0, p0, g0, inv []float64, half, eps float64) {
	n := len(q)
	p, q0, p0, g0 = p[:n], q0[:n], p0[:n], g0[:n]
	from := 0
	if fast && n >= minLength {
		from = n &^ 3
		var ones [4]float64
		first, step := perElement(inv, &ones)
		leap(from, &q[0], &p[0], &q0[0], &p0[0], &g0[0], first, step, half, eps)
	}
	for i := from; i < n; i++ {
		v := p0[i] + float64(half*g0[i])
		p[i] = v
		q[i] = q0[i] + float64(float64(eps*at(inv, i))*v)
	}
}

// Kick is the second half of a leapfrog step: p = p + half·g. It returns p·(inv·p). If inv is nil,
// all its elements are 1.
func Kick(p, g, inv []float64, half float64) float64 {
	n := len(p)
	g = g[:n]
	var s [4]float64
	from := 0
	if fast && n >= minLength {
		from = n &^ 3
		var ones [4]float64
		first, step := perElement(inv, &ones)
		kick(from, &p[0], &g[0], first, step, half, &s)
	}
	for i := from; i < n; i++ {
		a := p[i] + float64(half*g[i])
		p[i] = a
		s[i&3] += float64(a * float64(at(inv, i)*a))
	}
	return total(&s)
}

// LeapTo is [Leap] for a position q in units of scale, followed by [Affine] of its result:
// p = p0 + half·scale·g0, q = q0 + eps·p, x = mean + scale·q.
func LeapTo(x, q, p, q0, p0, g0, mean, scale []float64, half, eps float64) {
	n := len(x)
	q, p, q0, p0, g0, mean, scale = q[:n], p[:n], q0[:n], p0[:n], g0[:n], mean[:n], scale[:n]
	from := 0
	if fast && n >= minLength {
		from = n &^ 3
		leapTo(from, &x[0], &q[0], &p[0], &q0[0], &p0[0], &g0[0], &mean[0], &scale[0], half, eps)
	}
	for i := from; i < n; i++ {
		v := p0[i] + float64(half*float64(scale[i]*g0[i]))
		at := q0[i] + float64(eps*v)
		p[i], q[i] = v, at
		x[i] = mean[i] + float64(scale[i]*at)
	}
}

// KickFrom is [Kick] for a position in units of scale: p = p + half·scale·g. It returns p·p.
func KickFrom(p, scale, g []float64, half float64) float64 {
	n := len(p)
	scale, g = scale[:n], g[:n]
	var s [4]float64
	from := 0
	if fast && n >= minLength {
		from = n &^ 3
		kickFrom(from, &p[0], &scale[0], &g[0], half, &s)
	}
	for i := from; i < n; i++ {
		a := p[i] + float64(half*float64(scale[i]*g[i]))
		p[i] = a
		s[i&3] += float64(a * a)
	}
	return total(&s)
}

// KickLeap is [Kick] followed by [Leap] of the next step: p = p + half·g, r = p + half·g,
// q = q0 + eps·inv·r. It returns p·(inv·p).
func KickLeap(q, r, p, q0, g, inv []float64, half, eps float64) float64 {
	n := len(q)
	r, p, q0, g = r[:n], p[:n], q0[:n], g[:n]
	var s [4]float64
	from := 0
	if fast && n >= minLength {
		from = n &^ 3
		var ones [4]float64
		first, step := perElement(inv, &ones)
		kickLeap(from, &q[0], &r[0], &p[0], &q0[0], &g[0], first, step, half, eps, &s)
	}
	for i := from; i < n; i++ {
		half := float64(half * g[i])
		a := p[i] + half
		p[i] = a
		s[i&3] += float64(a * float64(at(inv, i)*a))
		v := a + half
		r[i] = v
		q[i] = q0[i] + float64(float64(eps*at(inv, i))*v)
	}
	return total(&s)
}

// KickLeapTo is [KickFrom] followed by [LeapTo] of the next step: p = p + half·scale·g,
// r = p + half·scale·g, q = q0 + eps·r, x = mean + scale·q. It returns p·p.
func KickLeapTo(x, q, r, p, q0, g, mean, scale []float64, half, eps float64) float64 {
	n := len(x)
	q, r, p, q0, g, mean, scale = q[:n], r[:n], p[:n], q0[:n], g[:n], mean[:n], scale[:n]
	var s [4]float64
	from := 0
	if fast && n >= minLength {
		from = n &^ 3
		kickLeapTo(from, &x[0], &q[0], &r[0], &p[0], &q0[0], &g[0], &mean[0], &scale[0], half, eps, &s)
	}
	for i := from; i < n; i++ {
		half := float64(half * float64(scale[i]*g[i]))
		a := p[i] + half
		p[i] = a
		s[i&3] += float64(a * a)
		v := a + half
		at := q0[i] + float64(eps*v)
		r[i], q[i] = v, at
		x[i] = mean[i] + float64(scale[i]*at)
	}
	return total(&s)
}

// Products returns the products of x with four vectors.
func Products(x []float64, u *[4][]float64) (p [4]float64) {
	n := len(x)
	a, b, c, d := u[0][:n], u[1][:n], u[2][:n], u[3][:n]
	var s [4][4]float64
	from := 0
	if fast && n >= minLength {
		from = n &^ 3
		products(from, &x[0], &a[0], &b[0], &c[0], &d[0], &s)
	}
	for i := from; i < n; i++ {
		s[0][i&3] += float64(x[i] * a[i])
		s[1][i&3] += float64(x[i] * b[i])
		s[2][i&3] += float64(x[i] * c[i])
		s[3][i&3] += float64(x[i] * d[i])
	}
	for k := range p {
		p[k] = total(&s[k])
	}
	return p
}

// AddScaled adds four vectors times factors to x.
func AddScaled(x []float64, f *[4]float64, u *[4][]float64) {
	n := len(x)
	a, b, c, d := u[0][:n], u[1][:n], u[2][:n], u[3][:n]
	from := 0
	if fast && n >= minLength {
		from = n &^ 3
		addScaled(from, &x[0], &a[0], &b[0], &c[0], &d[0], f)
	}
	for i := from; i < n; i++ {
		x[i] += (float64(f[0]*a[i]) + float64(f[1]*b[i])) + (float64(f[2]*c[i]) + float64(f[3]*d[i]))
	}
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

func total(s *[4]float64) float64 { return (s[0] + s[1]) + (s[2] + s[3]) }
