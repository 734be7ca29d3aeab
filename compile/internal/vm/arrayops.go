package vm

import (
	"maps"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/dense"
	"github.com/ppl-lang/ppl/compile/internal/native"
)

// arrayOp has the implementations of an op on arrays, apart from its row in package ad: machine
// code for few rows, functions of package dense for many, and loops over rows. Those that do not
// exist are nil.
type arrayOp struct {
	// rows computes dst by loops over rows. x has k numbers for each number of dst, and work has
	// maxStrip numbers.
	rows func(dst, x []float64, k int, work []float64)

	// small reports whether the code of a block can be part of the function of the blocks around
	// it. code generates that code for one lane. If fails is set, the code may jump to wrong, from
	// where the op's row in package ad runs instead.
	small func(b *block) bool
	fails bool
	code  func(g *generator, b *block, n int, regs [3]native.Reg, wrong native.Label)

	// move generates the code of an op on few elements at computed positions. If fails is set, the
	// code jumps to wrong for an index out of range, and the op's row then reports it. fills means
	// that the op writes every element of its result.
	move  func(g *generator, b *block, wrong native.Label)
	fills bool

	// batch generates code for a vector of lanes. single reports that a block has no such code.
	// loops does the same for code that has loops itself.
	batch  func(x *batch, o *batchOperands)
	single func(b *block) bool
	loops  func(g *generator, b *block, f *native.Frame, regs [3]native.Reg, wrong native.Label)

	// large reports whether package dense computes the op faster than its row in package ad. work
	// is the size of the work space that this needs, and eval computes one lane.
	large func(b *block) bool
	work  func(k *dense.Kernels, b *block) int
	eval  func(j *dense.Job, b *block, dst []float64, args [][]float64, work []float64) error
	// share returns the size of the memory that each worker needs if package dense divides the work
	// for one matrix among workers. It returns 0 if the work is not divided. nil: it never is.
	share func(k *dense.Kernels, b *block) int
}

// arrayOpOf returns the implementations of an op; they are all nil if there are none.
func arrayOpOf(op ad.OpCode) *arrayOp {
	if row := arrayOps[op]; row != nil {
		return row
	}
	return &arrayOp{}
}

// arrayOps is the table of implementations. It never changes.
var arrayOps = func() map[ad.OpCode]*arrayOp {
	rows := map[ad.OpCode]*arrayOp{
		ad.OpLogSumExp: {rows: logSumExps},
		ad.OpMaxOf: {rows: func(dst, x []float64, k int, _ []float64) {
			for i := range dst {
				dst[i] = maxOf(x[i*k : (i+1)*k])
			}
		}},
	}
	// Where there is no machine code, the linker can then remove the assembler.
	if native.Supported {
		maps.Copy(rows, matrixOps())
	}
	return rows
}()

// matrixOps returns the rows of ops with machine code.
func matrixOps() map[ad.OpCode]*arrayOp {
	return map[ad.OpCode]*arrayOp{
		ad.OpCholesky: {
			small: func(b *block) bool { return order(b) < fromDense },
			fails: true, // the op's row then reports the reason, or succeeds
			code: func(g *generator, _ *block, n int, regs [3]native.Reg, wrong native.Label) {
				x := g.Builder()
				x.Branch(dense.Factor(x, n, loads(x, regs[0], n), stores(x, regs[1], n)), wrong)
				g.Frame(1).Emit(x, 1)
			},
			batch: func(x *batch, o *batchOperands) {
				x.Branch(dense.Factor(x.Builder, o.n, o.matrix(o.first), o.set), o.wrong)
			},
			large: func(b *block) bool { return order(b) >= fromDense },
			work:  func(k *dense.Kernels, b *block) int { return k.CholeskyWork(order(b)) },
			share: shareFactors,
			eval: func(j *dense.Job, b *block, dst []float64, args [][]float64, work []float64) error {
				if !b.dense.Cholesky(j, dst, args[0], order(b), work) {
					return b.node.Op.Row().Eval(dst, args, b.types, b.node.Attr, work)
				}
				return nil
			},
		},
		ad.OpCholeskyAdjoint: {
			small: func(b *block) bool { return order(b) < fromDense },
			code: func(g *generator, _ *block, n int, regs [3]native.Reg, _ native.Label) {
				x := g.Builder()
				dense.FactorAdjoint(x, n, loads(x, regs[0], n), loads(x, regs[1], n), stores(x, regs[2], n))
				g.Frame(1).Emit(x, 1)
			},
			batch: func(x *batch, o *batchOperands) {
				dense.FactorAdjoint(x.Builder, o.n, o.matrix(o.first), o.matrix(o.second()), o.set)
			},
			large: func(b *block) bool { return order(b) >= fromDense },
			work:  func(k *dense.Kernels, b *block) int { return k.CholeskyWork(order(b)) },
			share: shareFactors,
			eval: func(j *dense.Job, b *block, dst []float64, args [][]float64, work []float64) error {
				b.dense.CholeskyAdjoint(j, dst, args[0], args[1], order(b), work)
				return nil
			},
		},
		ad.OpTriSolve: {
			small: func(b *block) bool {
				return order(b) < fromSolves && b.node.Type.Size() <= order(b)*maxRight || inBlocks(b)
			},
			code: func(g *generator, b *block, n int, regs [3]native.Reg, _ native.Label) {
				if inBlocks(b) {
					t := b.node.Attr.(ad.TriAttr)
					g.blockSubstitution(n, t.Trans != t.Right, regs)
				} else {
					g.substitution(b, n, regs)
				}
			},
			single: func(b *block) bool { return inBlocks(b) || b.node.Type.Size() != order(b) },
			batch: func(x *batch, o *batchOperands) {
				t, right := o.b.node.Attr.(ad.TriAttr), o.second()
				dense.Substitute(x.Builder, o.n, t.Upper, t.Trans != t.Right, o.matrix(o.first),
					func(i int) native.Value { return right[i] }, func(i int, v native.Value) { o.result[i] = v })
			},
			large: func(b *block) bool {
				n, size := order(b), b.node.Type.Size()
				return n >= fromSolve && size >= fromSolve*n && size >= fromSolution
			},
			work: func(k *dense.Kernels, b *block) int {
				n := sides(b)
				if b.split.bySides() {
					n = b.split.each
				}
				return k.SolveWork(order(b), n)
			},
			eval: func(_ *dense.Job, b *block, dst []float64, args [][]float64, work []float64) error {
				solve(b, dst, args, work, 0, sides(b))
				return nil
			},
		},
		ad.OpEigenSym: {
			large: func(b *block) bool { return order(b) >= fromEigen },
			work:  func(k *dense.Kernels, b *block) int { return k.EigenWork(order(b)) },
			eval: func(_ *dense.Job, b *block, dst []float64, args [][]float64, work []float64) error {
				n := order(b)
				return ad.Converged(b.dense.EigenSym(dst[:n], dst[n:], args[0], n, work))
			},
		},
		ad.OpInverse: {
			large: func(b *block) bool { return order(b) >= fromInverse },
			work:  func(k *dense.Kernels, b *block) int { return k.InvertWork(order(b)) },
			eval: func(_ *dense.Job, b *block, dst []float64, args [][]float64, work []float64) error {
				b.dense.Invert(dst, args[0], order(b), work)
				return nil
			},
		},
		ad.OpMatrixExp:        {small: smallExponential, fails: true, loops: (*generator).exponential},
		ad.OpMatrixExpTangent: {small: smallExponential, fails: true, loops: (*generator).exponential},
		ad.OpTake:             {move: (*generator).taking, fails: true},
		ad.OpReplace:          {move: (*generator).replacing, fills: true},
		ad.OpAddAt:            {move: (*generator).adding, fills: true},
		ad.OpPut:              {move: (*generator).putting, fills: true},
		// Machine code is in nativematmul.go; package dense is used if productWork is not 0.
		ad.OpMatMul: {
			batch: func(x *batch, o *batchOperands) { x.product(o.b, o.first, o.second(), o.result) },
		},
	}
}

// shareFactors implements arrayOp.share for factorisations and their adjoints.
func shareFactors(k *dense.Kernels, b *block) int {
	if n := order(b); n >= dense.InParts {
		return k.PartWork(n)
	}
	return 0
}

// sides returns the number of right sides of a triangular system.
func sides(b *block) int { return b.node.Type.Size() / order(b) }

// solve solves a triangular system by package dense, for right sides from up to, but excluding, to.
func solve(b *block, dst []float64, args [][]float64, work []float64, from, to int) {
	t := b.node.Attr.(ad.TriAttr)
	s := dense.System{N: order(b), Others: sides(b), Upper: t.Upper, Trans: t.Trans, Right: t.Right}
	b.dense.Solve(dst, args[0], args[1], &s, from, to, work)
}

// order returns the number of rows of a block's first argument.
func order(b *block) int { return b.types[0].Shape[0] }
