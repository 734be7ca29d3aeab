package bridge

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/ppl-lang/ppl/infer/diagnose"
)

// proposal is a normal distribution.
type proposal struct {
	mean   []float64
	factor *mat.TriDense // lower Cholesky factor of the covariance
	logDet float64       // log determinant of factor
}

// fit returns the normal distribution with the mean and the covariance of draws.
//
// If there are few draws for the number of dimensions, the sample covariance is nearly singular. So
// the correlations are multiplied by 1 − λ, where λ is the estimate of Schäfer and Strimmer (2005),
// "A shrinkage approach to large-scale covariance matrix estimation", Statistical Applications in
// Genetics and Molecular Biology 4, computed with the effective number of draws. With many draws λ
// is nearly 0.
func fit(chains [][][]float64) (*proposal, error) {
	points := slices.Concat(chains...)
	n, d := len(points), len(points[0])
	data := mat.NewDense(n, d, nil)
	for i, x := range points {
		data.SetRow(i, x)
	}
	var cov mat.SymDense
	stat.CovarianceMatrix(&cov, data, nil)
	p := &proposal{mean: make([]float64, d)}
	for j := range d {
		p.mean[j] = stat.Mean(mat.Col(nil, j, data), nil)
		if v := cov.At(j, j); !(v > 0) || math.IsInf(v, 0) || math.IsNaN(p.mean[j]) {
			return nil, fmt.Errorf("bridge sampling: the draws of dimension %d do not vary, or are not finite", j+1)
		}
	}
	lambda := shrinkage(&cov, effective(chains))
	for i := range d {
		for j := range i {
			cov.SetSym(i, j, (1-lambda)*cov.At(i, j))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(&cov) {
		return nil, fmt.Errorf("bridge sampling: the covariance of %d draws in %d dimensions is singular", n, d)
	}
	p.factor = mat.NewTriDense(d, mat.Lower, nil)
	chol.LTo(p.factor)
	p.logDet = chol.LogDet() / 2
	return p, nil
}

// shrinkage returns λ, see fit: the sum of the variances of the sample correlations divided by the
// sum of their squares, limited to the range from 0 to 1.
func shrinkage(cov *mat.SymDense, draws float64) float64 {
	d := cov.SymmetricDim()
	variances, squares := 0.0, 0.0
	for i := range d {
		for j := range i {
			c := cov.At(i, j)
			r2 := c * c / (cov.At(i, i) * cov.At(j, j))
			squares += r2
			variances += (1 - r2) * (1 - r2)
		}
	}
	variances /= max(1, draws-1)
	if squares <= variances {
		if squares == 0 {
			return 0
		}
		return 1
	}
	return variances / squares
}

// effective returns the effective sample size of the mean, at the median over dimensions.
func effective(chains [][][]float64) float64 {
	total := 0
	for _, chain := range chains {
		total += len(chain)
	}
	sizes := make([]float64, 0, len(chains[0][0]))
	one := make([][]float64, len(chains))
	for j := range chains[0][0] {
		for c, chain := range chains {
			one[c] = one[c][:0]
			for _, x := range chain {
				one[c] = append(one[c], x[j])
			}
		}
		if size := diagnose.ESSMean(one); size > 0 { // not NaN
			sizes = append(sizes, min(size, float64(total)))
		}
	}
	if len(sizes) == 0 {
		return 1
	}
	slices.Sort(sizes)
	return max(1, sizes[len(sizes)/2])
}

// draw returns a draw of the proposal.
func (p *proposal) draw(rng *rand.Rand) []float64 {
	z := mat.NewVecDense(len(p.mean), nil)
	for i := range p.mean {
		z.SetVec(i, rng.NormFloat64())
	}
	x := mat.NewVecDense(len(p.mean), nil)
	x.MulVec(p.factor, z)
	for i, m := range p.mean {
		x.SetVec(i, x.AtVec(i)+m)
	}
	return x.RawVector().Data
}

// logRatios returns, at points, the log density of the symmetrised target minus that of the
// proposal, which is symmetric already.
func (p *proposal) logRatios(ctx context.Context, points [][]float64, density Density) ([]float64, error) {
	mirrored := make([][]float64, len(points))
	for i, x := range points {
		mirrored[i] = make([]float64, len(x))
		for j, v := range x {
			mirrored[i][j] = 2*p.mean[j] - v
		}
	}
	here, there := make([]float64, len(points)), make([]float64, len(points))
	if err := density(ctx, points, here); err != nil {
		return nil, err
	}
	if err := density(ctx, mirrored, there); err != nil {
		return nil, err
	}
	ratios := make([]float64, len(points))
	for i, x := range points {
		ratios[i] = floats.LogSumExp([]float64{here[i], there[i]}) - math.Ln2 - p.logDensity(x)
	}
	return ratios, nil
}

// logDensity returns the log density of the proposal.
func (p *proposal) logDensity(x []float64) float64 {
	z := mat.NewVecDense(len(x), nil)
	for i, v := range x {
		z.SetVec(i, v-p.mean[i])
	}
	// The factor is well conditioned, because fit could factorise the covariance.
	_ = z.SolveVec(p.factor, z)
	return -0.5*mat.Dot(z, z) - p.logDet - 0.5*float64(len(x))*math.Log(2*math.Pi)
}
