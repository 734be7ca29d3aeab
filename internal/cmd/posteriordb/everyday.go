package main

import (
	"math"
	"math/rand/v2"
)

// This file generates data for typical everyday models. No sampler was tuned on these.

func crossed(rng *rand.Rand) map[string]any {
	const r, c = 20, 15
	rows, columns := normals(rng, r), normals(rng, c)
	y := make([][]int, r)
	for i := range y {
		y[i] = make([]int, c)
		for j := range y[i] {
			y[i][j] = poisson(rng, math.Exp(1+0.6*rows[i]+0.3*columns[j]))
		}
	}
	return map[string]any{"r": r, "c": c, "y": y}
}

func grades(rng *rand.Rand) map[string]any {
	const n, k, judges = 250, 5, 12
	lenient := normals(rng, judges)
	judge, grade, x := make([]int, n), make([]int, n), make([][]float64, n)
	for i := range x {
		x[i], judge[i], grade[i] = normals(rng, 3), 1+rng.IntN(judges), 1
		at := x[i][0] - 0.5*x[i][1] + 0.7*lenient[judge[i]-1] + logistic(rng)
		for _, cut := range []float64{-2, -0.5, 0.8, 2.5} {
			if at > cut {
				grade[i]++
			}
		}
	}
	return map[string]any{"n": n, "k": k, "judges": judges, "judge": judge, "x": x, "grade": grade}
}

func survival(rng *rand.Rand) map[string]any {
	const n, m = 200, 15
	effect := normals(rng, m)
	place, failed, x, time := make([]int, n), make([]int, n), normals(rng, n), make([]float64, n)
	for i := range x {
		place[i] = 1 + rng.IntN(m)
		scale := math.Exp(1 - 0.4*x[i] + 0.5*effect[place[i]-1])
		t, seen := scale*math.Pow(rng.ExpFloat64(), 1/1.4), 0.5+6*rng.Float64()
		time[i] = min(t, seen)
		if t < seen {
			failed[i] = 1
		}
	}
	return map[string]any{"n": n, "m": m, "place": place, "x": x, "time": time, "failed": failed}
}

func choices(rng *rand.Rand) map[string]any {
	const n, p = 300, 4
	w := normals(rng, 3*p)
	x, choice := make([][]float64, n), make([]int, n)
	for i := range x {
		x[i] = normals(rng, p)
		x[i][0] = 1
		best := math.Inf(-1)
		for c := range 4 {
			u := -math.Log(rng.ExpFloat64())
			if c > 0 {
				for j, v := range x[i] {
					u += v * w[3*j+c-1]
				}
			}
			if u > best {
				best, choice[i] = u, c+1
			}
		}
	}
	return map[string]any{"n": n, "p": p, "x": x, "choice": choice}
}

func shares(rng *rand.Rand) map[string]any {
	const n = 120
	x, share := normals(rng, n), make([]float64, n)
	for i, v := range x {
		mu, phi := 1/(1+math.Exp(-0.4-0.8*v)), math.Exp(2+0.5*v)
		a, b := gamma(rng, mu*phi), gamma(rng, (1-mu)*phi)
		share[i] = min(max(a/(a+b), 1e-6), 1-1e-6)
	}
	return map[string]any{"n": n, "x": x, "share": share}
}

func zeros(rng *rand.Rand) map[string]any {
	const n = 200
	x, y := normals(rng, n), make([]int, n)
	for i, v := range x {
		if rng.Float64() > 1/(1+math.Exp(0.5-0.7*v)) {
			y[i] = poisson(rng, math.Exp(1+0.4*v))
		}
	}
	return map[string]any{"n": n, "x": x, "y": y}
}

func enzyme(rng *rand.Rand) map[string]any {
	const m, each = 10, 8
	var prep []int
	var dose, rate []float64
	for g := range m {
		top, half := math.Exp(1+0.3*rng.NormFloat64()), math.Exp(0.5+0.4*rng.NormFloat64())
		for k := range each {
			d := 0.25 * math.Pow(2, float64(k))
			prep, dose, rate = append(prep, g+1), append(dose, d), append(rate, top*d/(half+d)+0.1*rng.NormFloat64())
		}
	}
	return map[string]any{"n": m * each, "m": m, "prep": prep, "dose": dose, "rate": rate}
}

func secondOrder(rng *rand.Rand) map[string]any {
	const n = 250
	y := make([]float64, n)
	for i := 2; i < n; i++ {
		noise := rng.NormFloat64() / math.Sqrt(gamma(rng, 2)/2) // Student's t with 4 degrees of freedom
		y[i] = 1 + 1.1*y[i-1] - 0.4*y[i-2] + 0.5*noise
	}
	return map[string]any{"n": n, "y": y}
}

func trend(rng *rand.Rand) map[string]any {
	const n = 120
	y, level, slope := make([]float64, n), 0.0, 0.1
	for i := range y {
		y[i] = level + 0.5*rng.NormFloat64()
		level += slope + 0.2*rng.NormFloat64()
		slope += 0.05 * rng.NormFloat64()
	}
	return map[string]any{"n": n, "y": y}
}

func smooth(rng *rand.Rand) map[string]any {
	const n = 60
	y := make([]int, n)
	for i := range y {
		y[i] = poisson(rng, math.Exp(1.5+math.Sin(float64(i)/8)))
	}
	return map[string]any{"n": n, "y": y}
}

func players(rng *rand.Rand) map[string]any {
	const games, n = 400, 30
	strength := normals(rng, n)
	one, other, won := make([]int, games), make([]int, games), make([]int, games)
	for g := range games {
		pair := rng.Perm(n)
		one[g], other[g] = pair[0]+1, pair[1]+1
		if 0.3+0.8*(strength[pair[0]]-strength[pair[1]])+logistic(rng) > 0 {
			won[g] = 1
		}
	}
	return map[string]any{"games": games, "players": n, "one": one, "other": other, "won": won}
}

func together(rng *rand.Rand) map[string]any {
	const n = 100
	x, y := normals(rng, n), make([][]float64, n)
	for i, v := range x {
		z := normals(rng, 5)
		y[i] = make([]float64, 4)
		for j := range y[i] {
			y[i][j] = float64(j) + (0.5-0.3*float64(j))*v + (1+float64(j))*(0.7*z[4]+z[j])
		}
	}
	return map[string]any{"n": n, "x": x, "y": y}
}

func three(rng *rand.Rand) map[string]any {
	const n = 300
	y := normals(rng, n)
	for i := range y {
		switch {
		case i%5 == 0:
			y[i] = 5 + 1.5*y[i]
		case i%5 < 3:
			y[i] = -3 + y[i]
		}
	}
	return map[string]any{"n": n, "y": y}
}

func overdispersed(rng *rand.Rand) map[string]any {
	const n, m = 240, 24
	effect := normals(rng, m)
	group, x, y := make([]int, n), normals(rng, n), make([]int, n)
	for i := range y {
		group[i] = 1 + i%m
		y[i] = poisson(rng, math.Exp(1.2+0.3*x[i]+0.5*effect[group[i]-1])*gamma(rng, 3)/3)
	}
	return map[string]any{"n": n, "m": m, "group": group, "x": x, "y": y}
}

func answers(rng *rand.Rand) map[string]any {
	const persons, questions = 100, 20
	able, hard := normals(rng, persons), normals(rng, questions)
	right := make([][]int, persons)
	for i := range right {
		right[i] = make([]int, questions)
		for q := range hard {
			if (0.6+float64(q)/questions)*(able[i]-hard[q])+logistic(rng) > 0 {
				right[i][q] = 1
			}
		}
	}
	return map[string]any{"persons": persons, "questions": questions, "right": right}
}

func limit(rng *rand.Rand) map[string]any {
	const n, least = 150, 0.0
	x, below, y := [][]float64{}, [][]float64{}, []float64{}
	for range n {
		row := normals(rng, 4)
		if v := 0.5 + row[0] - 0.6*row[1] + 1.2*rng.NormFloat64(); v > least {
			x, y = append(x, row), append(y, v)
		} else {
			below = append(below, row)
		}
	}
	return map[string]any{"n": len(y), "below": len(below), "x": x, "y": y, "x_below": below, "limit": least}
}

func curve(rng *rand.Rand) map[string]any {
	const n = 50
	x, y := make([]float64, n), normals(rng, n)
	for i := range x {
		x[i] = 10 * float64(i) / n
		y[i] = 1.5*math.Sin(x[i]) + 0.3*y[i]
	}
	return map[string]any{"n": n, "x": x, "y": y}
}

func change(rng *rand.Rand) map[string]any {
	const n = 80
	y := make([]int, n)
	for i := range y {
		y[i] = poisson(rng, 3)
		if i > 50 {
			y[i] = poisson(rng, 1.5)
		}
	}
	return map[string]any{"n": n, "y": y}
}

func growth(rng *rand.Rand) map[string]any {
	const n = 25
	t, y := make([]float64, n), make([]float64, n)
	for i := range t {
		t[i] = float64(i + 1)
		y[i] = 30 / (1 + 14*math.Exp(-0.4*t[i])) * math.Exp(0.15*rng.NormFloat64())
	}
	return map[string]any{"n": n, "t": t, "y": y}
}

func measured(rng *rand.Rand) map[string]any {
	const n = 80
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		at := 2 + 1.5*rng.NormFloat64()
		x[i], y[i] = at+0.4*rng.NormFloat64(), 1+0.8*at+0.5*rng.NormFloat64()
	}
	return map[string]any{"n": n, "x_seen": x, "y": y}
}

func poisson(rng *rand.Rand, mean float64) (n int) {
	for t := rng.ExpFloat64(); t < mean; t += rng.ExpFloat64() {
		n++
	}
	return n
}

func logistic(rng *rand.Rand) float64 {
	u := rng.Float64()
	return math.Log(u / (1 - u))
}

// gamma draws from the gamma distribution with scale 1 (Marsaglia and Tsang 2000).
func gamma(rng *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gamma(rng, shape+1) * math.Pow(rng.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	for {
		z := rng.NormFloat64()
		v := math.Pow(1+z/math.Sqrt(9*d), 3)
		if v > 0 && math.Log(rng.Float64()) < z*z/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
