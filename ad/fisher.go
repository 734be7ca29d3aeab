package ad

// Information declares the joint expected information of a distribution's
// variate and arguments, element by element: for args, of which the first is the
// variate, it returns the matrix of E[-∂² log p/∂a∂b] as graph expressions, the
// expectation over the variate. None stands for 0; only entries on and below the
// diagonal are read. The matrix must be positive semidefinite for all values of
// the arguments, and its entries are scalar or of the type of an element's place
// (the arguments' common shape and lanes).
type Information func(g *Graph, args []Ref) [][]Ref

// Statement is a sampling statement as Fisher sees it: args, the variate first,
// are scalars or arrays of one shape, with or without lanes.
type Statement struct {
	Args []Ref
	Info Information
}

// Fisher returns the n×n expected Fisher information about wrt (n elements, no
// lanes) of all statements: Σ JᵀIJ over statements and their elements, I the
// declared information and J the derivative of the variate and arguments by wrt.
// Where each I is positive semidefinite, so is the sum. What is data has no
// derivative and drops out.
func (g *Graph) Fisher(wrt Ref, statements []Statement) Ref {
	n := g.Type(wrt).Size()
	total := None
	jacobians := map[Ref]Ref{}
	jacobian := func(a Ref) Ref {
		j, ok := jacobians[a]
		if !ok {
			j = g.Jacobian(a, wrt)
			jacobians[a] = j
		}
		return j
	}
	add := func(t Ref) {
		if total == None {
			total = t
		} else {
			total = g.Add(total, t)
		}
	}
	for _, s := range statements {
		place := g.place(s.Args)
		js := make([]Ref, len(s.Args))
		for i, a := range s.Args {
			if t := g.Type(a); !t.Equal(Scalar) && !t.Equal(place) {
				a = g.Expand(a, place)
			}
			js[i] = jacobian(a)
		}
		for i, row := range s.Info(g, s.Args) {
			for k, e := range row[:i+1] {
				if e == None || js[i] == None || js[k] == None {
					continue
				}
				t := g.weighted(js[i], js[k], e, place)
				if add(t); i != k {
					add(g.Transpose(t))
				}
			}
		}
	}
	if total == None {
		return g.Expand(g.Const(0), Type{Shape: []int{n, n}})
	}
	return total
}

// place is the type over which a statement's elements range.
func (g *Graph) place(args []Ref) Type {
	var p Type
	for _, a := range args {
		t := g.Type(a)
		p.Lanes = max(p.Lanes, t.Lanes)
		if len(t.Shape) > 0 {
			p.Shape = t.Shape
		}
	}
	return p
}

// weighted is Σ_e A(i,e)·w(e)·B(j,e), an n×n matrix, where a Jacobian of one
// column is the same for all elements.
func (g *Graph) weighted(a, b, w Ref, place Type) Ref {
	n := g.Type(a).Shape[0]
	m := place.Total()
	one := func(j Ref) bool { return g.Type(j).Shape[1] == 1 }
	w = g.Reshape(g.Unlane(g.Expand(w, place)), []int{m, 1})
	switch {
	case m == 1 || one(a) && one(b):
		return g.Mul(g.Sum(w), g.matMul(a, b, false, true))
	case one(a):
		return g.matMul(a, g.matMul(b, w, false, false), false, true)
	case one(b):
		return g.matMul(g.matMul(a, w, false, false), b, false, true)
	}
	wide := g.Gather(w, Index{Dims: []Dim{{N: n}, {N: m, Stride: 1}}})
	return g.matMul(g.Mul(a, wide), b, false, true)
}
