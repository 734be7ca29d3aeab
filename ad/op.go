package ad

// Class describes how an op acts, and so which fields of its row are used.
type Class uint8

// The classes.
const (
	Leaf        Class = iota // input or constant
	Elementwise              // one number from one number of each argument; scalar arguments are broadcast
	Linear                   // moves or sums elements
	Array                    // a function of whole arrays, per lane
	Region                   // has sub-graphs and any number of results, but no value
	Projection               // a result of a region
	Effect                   // no value: checks, rejections, prints
	Random                   // draws a random number for each element; never merged, folded or differentiated
)

// Op is one row of the op table: everything that the package knows about an operation. To add an
// op, add a constant and a row.
type Op struct {
	Name  string
	Class Class
	Arity int // number of arguments; -1 for any

	// The value of an Elementwise op, as a function of 1, 2 or 3 numbers.
	F1 func(x float64) float64
	F2 func(x, y float64) float64
	F3 func(x, y, z float64) float64

	// Partials returns, for an Elementwise op, the partial derivatives of the value with respect to
	// each argument, as expressions in the same ops. A partial is None if the derivative is 0
	// everywhere it exists.
	Partials func(g *Graph, out Ref, a []Ref) []Ref

	// Factors replaces Partials if a partial derivative may overflow although its product with the
	// adjoint does not. It returns the factors of each partial, by which an adjoint is multiplied
	// one after another.
	Factors func(g *Graph, out Ref, a []Ref) [][]Ref

	// Shape is the type rule, for classes other than Elementwise. The lanes of the value follow
	// from the arguments, unless OwnLanes says that Shape determines them too.
	Shape    func(args []Type, attr any) (Type, error)
	OwnLanes bool

	// Eval computes one lane of a Linear or Array op (all lanes at once with
	// OwnLanes) into dst, which does not overlap the arguments. work has
	// Work(args, attr) elements. An error rejects the evaluation.
	Eval func(dst []float64, args [][]float64, types []Type, attr any, work []float64) error
	Work func(args []Type, attr any) int

	// Total marks Array ops whose Eval never returns an error. They need not be evaluated if
	// nothing reads the value, and may be reordered with ops that may reject.
	Total bool

	// VJP is the rule of reverse mode for ops without Partials and Factors. Given the adjoint of
	// the value, it returns the adjoints of the arguments, None where zero or where need is false.
	VJP func(g *Graph, n *Node, out, adj Ref, need []bool) []Ref

	// Adjoint is the rule of a Region. It returns the adjoints of its arguments (None where zero or
	// where need is false), given those of its results, None where there is none. left marks
	// adjoints that may belong to a side of a choice that was not taken. r is the node. If the rule
	// adds to an adjoint that an argument already has, it sets sofar.included.
	Adjoint func(g *Graph, n *Node, r Ref, adjs []Ref, left, need []bool, sofar *accrued) []Ref

	// Points are argument tuples at which the derivative tests evaluate the op, in addition to
	// random ones. Domain maps a standard normal number to a sensible argument. Both are for
	// Elementwise ops only.
	Points [][]float64
	Domain func(arg int, z float64) float64
	// Flat marks ops whose derivative is zero or undefined, such as comparisons and floor. Tests do
	// not compare their derivatives with finite differences.
	Flat bool

	// Example is an expression of a vector of Size numbers that contains a Region, for tests.
	Size    int
	Example func(g *Graph, x Ref) Ref
}

// partials returns the result of Partials or Factors for each argument as a list of factors, whose
// product is the partial derivative; it is empty if that is 0.
func (op *Op) partials(g *Graph, out Ref, a []Ref) [][]Ref {
	if op.Factors != nil {
		return op.Factors(g, out, a)
	}
	if op.Partials == nil {
		return nil
	}
	fs := make([][]Ref, len(a))
	for k, p := range op.Partials(g, out, a) {
		if p != None {
			fs[k] = []Ref{p}
		}
	}
	return fs
}

// Row returns the op's row.
func (op OpCode) Row() *Op { return &table[op] }

// String is the op's name.
func (op OpCode) String() string { return table[op].Name }

// table is filled by init. A plain initialiser would refer to itself, because rules build graphs,
// which read the table.
var table [numOps]Op

func init() {
	for _, rows := range []map[OpCode]Op{elementwiseOps(), specialOps(), structuralOps(), arrayOps(), takeOps(), orderOps(), matrixOps(), sparseOps(), complexOps(), regionOps(), effectOps()} {
		for op, row := range rows {
			if table[op].Name != "" {
				panic("ad: two rows for op " + row.Name)
			}
			table[op] = row
		}
	}
}

// OpCode names an op.
type OpCode uint16

// The ops.
const (
	OpInvalid OpCode = iota
	OpConst
	OpInput

	// elementwise: arithmetic
	OpNeg
	OpAdd
	OpSub
	OpMul
	OpDiv
	OpMulGuarded // 0 where the first argument is 0, else the product: for adjoints of branches that were not taken
	OpAbs
	OpSquare
	OpSqrt
	OpCbrt
	OpInv
	OpPow
	OpFmod
	OpFloor
	OpDetach       // the argument; derivatives treat it as constant
	OpSlope        // (x, d): 0, with derivative d with respect to x, for detached values
	OpBoundAdjoint // the argument; an adjoint beyond maxAdjoint in size becomes maxAdjoint
	OpCeil
	OpRound
	OpTrunc
	OpMin
	OpMax
	OpHypot

	// elementwise: comparison and choice; truth is 1, falsehood 0
	OpLess
	OpLessEqual
	OpEqual
	OpNotEqual
	OpNot
	OpIsNaN
	OpIsInf
	OpSelect // (c, a, b): a where c is not 0, else b

	// elementwise: exponentials
	OpExp
	OpExpm1
	OpExp2
	OpLog
	OpLog1p
	OpLog2
	OpLog10
	OpLog1m
	OpLog1pExp
	OpLog1mExp
	OpLogDiffExp
	OpLogAddExp // log(exp x + exp y)
	OpDistance  // x - y, and 0 for equal infinities
	OpInvLogit
	OpLogInvLogit
	OpLog1mInvLogit
	OpLogit

	// elementwise: trigonometric and hyperbolic
	OpSin
	OpCos
	OpTan
	OpAsin
	OpAcos
	OpAtan
	OpAtan2
	OpSinh
	OpCosh
	OpTanh
	OpAsinh
	OpAcosh
	OpAtanh
	OpTanhSlope // 1 - tanh², the derivative of tanh

	// elementwise: special functions
	OpErf
	OpErfc
	OpPhi
	OpLogPhi // log Phi(x), accurate in the left tail
	OpInvPhi
	OpPhiApprox
	OpLgamma
	OpTgamma
	OpDigamma
	OpTrigamma
	OpPolygamma // (n, x): the n-th derivative of digamma; n a constant ≥ 0
	OpLbeta
	OpLchoose
	OpLmultichoose    // (x, n): log Γ(x+n)/(Γ(x) Γ(n+1)), for n of x kinds with repetition
	OpLogRising       // (x, n): log |Γ(x+n)/Γ(x)|, with relative accuracy for small n
	OpPolygammaRise   // (n, x, d): polygamma(n, x+d) - polygamma(n, x); n a constant ≥ 1
	OpDigammaRise     // (x, d): digamma(x+d) - digamma(x)
	OpDigammaGap      // (x, d): digamma(x+d) - digamma(x) - d/x, but without the last term where x < 1
	OpLogGap          // (t, l): l - t for l = -log(1-t), 0 ≤ t < 1, as a function of t
	OpXLogY           // x log y, 0 where x is 0
	OpPhiRatio        // φ(x)/Φ(x), the derivative of log Phi
	OpPhiExcess       // x + φ(x)/Φ(x), positive
	OpLogExpModTail   // (z, v): v²/2 - vz + log Phi(z-v), for a normal plus an exponential variate
	OpExpModSlope     // (z, v): with t = z-v, t + φ(t)/Φ(t) where t < 0 and φ(t)/Φ(t) elsewhere; used by its derivatives
	OpLogExpModCDF    // (z, v): log(Phi(z) - exp(OpLogExpModTail)), log distribution function of that variate
	OpXLog1mY         // x log(1 - y), 0 where x is 0
	OpLogGammaP       // (n, a, x): n-th derivative of log P(a, x) with respect to a, P the incomplete gamma function; n a constant
	OpLogGammaQ       // the same for log Q(a, x)
	OpLogPoisson      // (a, x): log of xᵃ exp(-x)/Γ(a+1)
	OpLogBetaTerm     // (x, a, b): log of xᵃ (1-x)ᵇ/B(a, b)
	OpLogBetaI        // (x, a, b): log I_x(a, b), the incomplete beta function
	OpLogBetaIa       // its derivative with respect to a
	OpLogBetaIb       // its derivative with respect to b
	OpLogBetaIc       // (x, a, b): log(1 - I_x(a, b)), which needs no 1-x
	OpLogBetaIca      // its derivative with respect to a
	OpLogBetaIcb      // its derivative with respect to b
	OpLogFailuresPhi  // (μ, φ, n): derivative with respect to φ of log I_x(φ, n) at x = φ/(φ+μ), with μ and n fixed
	OpLogFailuresPhic // the same for log(1 - I_x(φ, n))
	OpLogStudentCDF   // (t, ν): log distribution function of Student's distribution
	OpLogStudentCDFNu // its derivative with respect to ν
	OpLogBesselI      // (v, x): log(exp(-x) I_v(x)), I the modified Bessel function
	OpLogBesselIv     // its derivative with respect to v
	OpLogBesselK      // (v, x): log(exp(x) K_v(x)), K the modified Bessel function of the second kind
	OpBesselJ         // (n, x): the Bessel function of the first kind; n a constant integer
	OpBesselY         // (n, x): the Bessel function of the second kind
	OpLambertW0       // the inverse of w exp(w), the branch with w ≥ -1
	OpLambertWm1      // the other branch of the inverse: w ≤ -1
	OpOwensT          // (h, a): Owen's T function
	OpLogSkewNormal   // (z, a): log distribution function of the standard skew normal distribution
	OpInvLogPhi       // the inverse of log Phi
	OpInvBetaI        // (p, a, b): the x at which I_x(a, b) is p
	OpStudentQuantile // (p, ν): the quantile of Student's distribution
	OpLogVonMises     // (x, κ): log probability between -π and x under the von Mises distribution around 0
	OpVonMisesMoment  // (n, x, κ): mean of (cos t - 1)ⁿ for angles t ≤ x under that distribution; n a constant
	OpLogWiener       // (u, b): log density of the time u at which a Wiener process that starts at b leaves (0, 1) at 1
	OpWienerRatio     // (n, u, b): n-th derivative of that density with respect to b, divided by the density; n a constant

	// linear
	OpGather
	OpScatter
	OpReshape
	OpConcat
	OpLane
	OpUnlane

	// array
	OpMatMul
	OpLogSumExp // over the last dimension
	OpMaxOf     // over the last dimension
	OpFirstMax  // position, from 0, of the first of the greatest elements, over the last dimension
	OpOrder     // the positions, from 0, that sort a vector in ascending or descending order
	OpTake      // (x, i): elements of x at the computed positions i, from 0
	OpPut       // (v, i): zeros with the elements of v added at the positions i
	OpReplace   // (x, v, i): x with the elements of v at the positions i
	OpAddAt     // (x, v, i): x with the elements of v added at the positions i

	// matrices
	OpMatrixExp
	OpMatrixExpTangent // (A, E): the derivative of the exponential at A in the direction E
	OpCholesky
	OpCholeskyAdjoint // (L, L̄): the adjoint of A from its factor and the factor's adjoint
	OpTriSolve
	OpSolve
	OpSparseCholesky        // the values of the factor, from those of the lower triangle
	OpSparseCholeskyAdjoint // (L, L̄): the adjoint of the matrix
	OpSparseSolve           // (L, b): L⁻¹ b or L⁻ᵀ b, in the order of elimination
	OpInverse
	OpLogAbsDet
	OpDet
	OpEigenSym // eigenvalues, then eigenvectors, one after the other
	OpSVD      // singular values, then left singular vectors in columns, then right ones in rows

	// complex numbers: the first dimension has the real and the imaginary part
	OpFourier      // of the last dimension
	OpEigen        // eigenvalues, eigenvectors, positions of their largest elements
	OpOrthonormal  // makes orthonormal the columns of a matrix that are so except for rounding
	OpSchur        // T, then U, of the Schur decomposition
	OpSchurAdjoint // (T and U, their adjoints): the adjoint of the matrix
	OpSchurTangent // (T and U, the change of the matrix): the change of T and U

	// regions
	OpScan
	OpIf
	OpWhile
	OpResult // one of a region's results

	// effects
	OpCheck
	OpReject
	OpRequire
	OpPrint

	OpRandom

	numOps
)
