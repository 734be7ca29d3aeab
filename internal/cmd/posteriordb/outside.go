package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"

	"gonum.org/v1/gonum/mat"
)

//go:embed outside/*.stan
var outsideModels embed.FS

// outside lists posteriors that are not in posteriordb, with data generated here: posteriors on
// which samplers are known to fail, and some that resemble everyday models.
var outside = map[string]struct {
	model string
	data  func(rng *rand.Rand) map[string]any
}{
	"normal-200":          {"normal_chain", chainOf(200, 0.9, 0.01, 100)},
	"normal-1000":         {"normal_chain", chainOf(1000, 0.9, 0.01, 100)},
	"normal-50-stiff":     {"normal_chain", chainOf(50, 0.999, 1e-4, 1e4)},
	"normal-dense-100":    {"normal_dense", denseOf(100)},
	"normal-dense-300":    {"normal_dense", denseOf(300)},
	"normal-common-500":   {"normal_common", func(*rand.Rand) map[string]any { return map[string]any{"n": 500, "rho": 0.99} }},
	"funnel-9":            {"funnel", size(9)},
	"funnel-100":          {"funnel", size(100)},
	"funnel-bare-9":       {"funnel_bare", size(9)},
	"rosenbrock":          {"rosenbrock", size(0)},
	"ridge-3":             {"ridge", size(3)},
	"student-20":          {"student", func(*rand.Rand) map[string]any { return map[string]any{"n": 20, "nu": 3} }},
	"student-joint-20":    {"student_joint", func(*rand.Rand) map[string]any { return map[string]any{"n": 20, "nu": 5} }},
	"separated":           {"separated", separated},
	"collinear":           {"collinear", collinear},
	"mixture":             {"mixture", mixtureOf(200, 3)},
	"mixture-close":       {"mixture", mixtureOf(60, 1.5)},
	"counties-centred":    {"counties_centred", counties},
	"counties-noncentred": {"counties_noncentred", counties},
	"slopes":              {"slopes", counties},
	"volatility":          {"volatility", volatility},
	"level":               {"level", level},
	"horseshoe":           {"horseshoe", sparse},
	"process":             {"process", process},
	"constrained":         {"constrained", size(0)},
	"edge-10":             {"edge", size(10)},
	"day-crossed":         {"crossed", crossed},
	"day-grades":          {"grades", grades},
	"day-survival":        {"survival", survival},
	"day-choices":         {"choices", choices},
	"day-shares":          {"shares", shares},
	"day-zeros":           {"zeros", zeros},
	"day-enzyme":          {"enzyme", enzyme},
	"day-second-order":    {"second_order", secondOrder},
	"day-trend":           {"trend", trend},
	"day-smooth":          {"smooth", smooth},
	"day-players":         {"players", players},
	"day-together":        {"together", together},
	"day-three":           {"three", three},
	"day-overdispersed":   {"overdispersed", overdispersed},
	"day-answers":         {"answers", answers},
	"day-limit":           {"limit", limit},
	"day-curve":           {"curve", curve},
	"day-change":          {"change", change},
	"day-growth":          {"growth", growth},
	"day-measured":        {"measured", measured},
}

// outsideNames returns the names that match the expression, in order.
func outsideNames(only *regexp.Regexp) (names []string) {
	for name := range outside {
		if only.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// loadOutside creates one of them; the data are the same at every call.
func loadOutside(name string) (*subject, error) {
	of := outside[name]
	text, err := outsideModels.ReadFile("outside/" + of.model + ".stan")
	if err != nil {
		return nil, fmt.Errorf("there is no posterior %q", name)
	}
	data, err := json.Marshal(of.data(rand.New(rand.NewPCG(1, 2))))
	if err != nil {
		return nil, err
	}
	return &subject{name: name, model: of.model + ".stan", text: string(text), data: data}, nil
}

func size(n int) func(*rand.Rand) map[string]any {
	return func(*rand.Rand) map[string]any { return map[string]any{"n": n} }
}

func normals(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// chainOf generates data with scales between least and most, in no order.
func chainOf(n int, rho, least, most float64) func(*rand.Rand) map[string]any {
	return func(rng *rand.Rand) map[string]any {
		scale := make([]float64, n)
		for i, k := range rng.Perm(n) {
			scale[i] = least * math.Pow(most/least, float64(k)/float64(n-1))
		}
		return map[string]any{"n": n, "rho": rho, "scale": scale}
	}
}

// denseOf generates a precision matrix RᵀR whose standard deviations are between 0.03 and 30 in
// directions that are not parallel to the axes.
func denseOf(n int) func(*rand.Rand) map[string]any {
	return func(rng *rand.Rand) map[string]any {
		var qr mat.QR
		qr.Factorize(mat.NewDense(n, n, normals(rng, n*n)))
		var q mat.Dense
		qr.QTo(&q)
		root := make([][]float64, n)
		for i := range root {
			precision := math.Pow(1000, float64(i)/float64(n-1)) / 30
			root[i] = make([]float64, n)
			for j := range root[i] {
				root[i][j] = precision * q.At(j, i)
			}
		}
		return map[string]any{"n": n, "root": root}
	}
}

func separated(rng *rand.Rand) map[string]any {
	const n, k = 60, 6
	x, y := make([][]float64, n), make([]int, n)
	for i := range x {
		x[i] = normals(rng, k)
		if x[i][0]+0.5*x[i][1] > 0 {
			y[i] = 1
		}
	}
	return map[string]any{"n": n, "k": k, "x": x, "y": y, "scale": 10}
}

func collinear(rng *rand.Rand) map[string]any {
	const n, k = 150, 6
	units := []float64{1e3, 1e-3, 1, 1e2, 1e-1, 1}
	x, y := make([][]float64, n), make([]float64, n)
	for i := range x {
		x[i] = normals(rng, k)
		shared := rng.NormFloat64()
		y[i] = 1e4 + rng.NormFloat64()
		for j := range x[i] {
			x[i][j] = units[j] * (5 + shared + 0.03*x[i][j])
			y[i] += x[i][j] / units[j]
		}
	}
	return map[string]any{"n": n, "k": k, "x": x, "y": y}
}

func mixtureOf(n int, distance float64) func(*rand.Rand) map[string]any {
	return func(rng *rand.Rand) map[string]any {
		y := normals(rng, n)
		for i := range y {
			if i%3 == 0 {
				y[i] += distance
			}
		}
		return map[string]any{"n": n, "y": y}
	}
}

func counties(rng *rand.Rand) map[string]any {
	const m = 80
	var group []int
	var x, y []float64
	for g := range m {
		effect, slope := 1.3+0.35*rng.NormFloat64(), -0.6+0.2*rng.NormFloat64()
		for range 1 + int(40*math.Pow(rng.Float64(), 4)) {
			floor := float64(rng.IntN(2))
			group, x, y = append(group, g+1), append(x, floor), append(y, effect+slope*floor+0.75*rng.NormFloat64())
		}
	}
	return map[string]any{"n": len(y), "m": m, "group": group, "x": x, "y": y}
}

func volatility(rng *rand.Rand) map[string]any {
	const n = 300
	y, h := make([]float64, n), 0.0
	for i := range y {
		h = 0.95*h + 0.25*rng.NormFloat64()
		y[i] = math.Exp((h-1)/2) * rng.NormFloat64()
	}
	return map[string]any{"n": n, "y": y}
}

func level(rng *rand.Rand) map[string]any {
	const n = 500
	y, at := make([]float64, n), 0.0
	for i := range y {
		at += 0.1 * rng.NormFloat64()
		y[i] = at + 0.5*rng.NormFloat64()
	}
	return map[string]any{"n": n, "y": y}
}

func sparse(rng *rand.Rand) map[string]any {
	const n, k = 100, 40
	x, y := make([][]float64, n), make([]float64, n)
	for i := range x {
		x[i] = normals(rng, k)
		y[i] = 2*x[i][0] - x[i][1] + 0.5*x[i][2] + rng.NormFloat64()
	}
	return map[string]any{"n": n, "k": k, "x": x, "y": y}
}

func process(rng *rand.Rand) map[string]any {
	const n = 40
	x, y := make([]float64, n), make([]int, n)
	for i := range x {
		x[i] = 10 * float64(i) / n
		for limit, p := math.Exp(-math.Exp(1+math.Sin(x[i]))), rng.Float64(); p > limit; p *= rng.Float64() {
			y[i]++
		}
	}
	return map[string]any{"n": n, "x": x, "y": y}
}
