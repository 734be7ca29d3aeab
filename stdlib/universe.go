package stdlib

import (
	"iter"
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/lang/types"
)

// Library is a set of declarations by name. It is immutable.
type Library struct {
	byName map[string][]types.Overload
	names  []string // sorted
}

// Universe returns the whole library of the language. Each of its Overloads is a *Func.
func Universe() *Library { return universe() }

var universe = sync.OnceValue(func() *Library { return newLibrary(families()) })

// Family is a group of declarations in one file of the package, and their subject.
type Family struct {
	Title string
	Names []string // in the order of declaration, without repetitions
}

// family is a Family with its declarations.
type family struct {
	title string
	funcs []Func
}

// families lists the declarations.
func families() []family {
	fs := []family{
		{"constants", constants()},
		{"arithmetic", operators()},
		{"comparison and logic", comparisons()},
		{"powers, exponentials, rounding, trigonometry", elementary()},
		{"special functions", special()},
		{"functions of ints", slices.Concat(integers(), factorials())},
		{"sums, means, norms, extremes", reductions()},
		{"products of vectors and matrices", products()},
		{"forms of matrices", matrices()},
		{"factors, inverses, determinants, eigenvalues", slices.Concat(decompositions(), divisions())},
		{"sizes", sizes()},
		{"containers of equal or regular numbers", builders()},
		{"joining containers", joins()},
		{"parts of containers", parts()},
		{"conversions", conversions()},
		{"mixtures", mixtures()},
		{"sorting, ranks, quantiles", sorting()},
		{"sparse matrices", sparse()},
		{"transforms of parameters", constraints()},
		{"covariance functions of Gaussian processes", gaussianProcesses()},
	}
	var real, counts []Func
	for i := range distributions {
		if d := &distributions[i]; d.Discrete {
			counts = append(counts, d.funcs()...)
		} else {
			real = append(real, d.funcs()...)
		}
	}
	return append(fs,
		family{"distributions of real numbers", slices.Concat(real, passages())},
		family{"distributions of counts", slices.Concat(counts, hypergeometrics(), poissonBinomials())},
		family{"distributions of categories", slices.Concat(categoricals(), ordereds())},
		family{"distributions of simplexes, and of counts given one", simplexes()},
		family{"distributions of vectors", multivariates()},
		family{"distributions of matrices", slices.Concat(correlations(), wisharts())},
		family{"generalised linear models", glms()},
		family{"Markov chains and state space models", markovs()},
	)
}

// Families returns the groups of the whole library, including functions written in Stan.
func Families() []Family {
	var out []Family
	seen := map[string]bool{}
	add := func(title string, names iter.Seq[string]) {
		f := Family{Title: title}
		for n := range names {
			if !seen[n] {
				seen[n] = true
				f.Names = append(f.Names, n)
			}
		}
		if len(f.Names) > 0 {
			out = append(out, f)
		}
	}
	for _, f := range families() {
		add(f.title, func(yield func(string) bool) {
			for i := range f.funcs {
				if !yield(f.funcs[i].Name) {
					return
				}
			}
		})
	}
	add("algorithms: differential equations, equations, integrals, series, sums in parallel, Laplace's approximation", Language().Names())
	return out
}

func newLibrary(fs []family) *Library {
	l := &Library{byName: map[string][]types.Overload{}}
	for _, family := range fs {
		for i := range family.funcs {
			f := &family.funcs[i]
			if _, ok := l.byName[f.Name]; !ok {
				l.names = append(l.names, f.Name)
			}
			l.byName[f.Name] = append(l.byName[f.Name], f)
		}
	}
	slices.Sort(l.names)
	return l
}

// Lookup returns the overloads of a name, nil for an unknown name. Do not modify the slice.
func (l *Library) Lookup(name string) []types.Overload { return l.byName[name] }

// Names yields every name in alphabetical order.
func (l *Library) Names() iter.Seq[string] { return slices.Values(l.names) }
