package bind

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/emit"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// The parts of a binding, as package emit makes them.
type (
	Options     = emit.Options
	Error       = emit.Error
	Stats       = emit.Stats
	Plan        = emit.Plan
	Param       = emit.Param
	Information = emit.Information
	Call        = emit.Call
	LeftOut     = emit.LeftOut
)

// Bound is a program bound to data: graphs from the unconstrained parameters. A graph is missing if
// the size of one of its values depends on parameters or draws; Stats.Notes has the reason.
type Bound struct {
	// Params are the parameters, one input of every graph each, in order.
	Params []Param
	// Density has the log density as its only output.
	Density *ad.Graph
	// Part contains those statements of the log density that a graph can represent, if there is no
	// Density. It is nil if there is a Density, and if it was not made; see emit.Program.Part.
	Part *ad.Graph
	// Constrained has the outputs of parameters and transformed parameters, one after another.
	// Generated has these and the generated quantities. Elements are in the order of Names: the
	// first index fastest.
	Constrained, Generated *ad.Graph
	// Names of the outputs of Generated; the first NumConstrained are those of
	// Constrained.
	Names          []string
	NumConstrained int
	// Known are data and transformed data.
	Known *interp.Known
	// Sites are the positions of graph nodes, by ad.Site.
	Sites []source.Span
	// Calls are, for nodes in functions of the library, the calls in the program, by ad.Site.
	Calls []source.Span
	Stats Stats // of the log density

	program *emit.Program // for what is made later
}

// At returns the place that messages about a node show, invalid if it has none. In functions of the
// library that is the call in the program, and function is the function's name.
func (b *Bound) At(site ad.Site) (at source.Span, function string) {
	if int(site) >= len(b.Sites) {
		return source.Span{}, ""
	}
	return b.Sites[site].Called(b.Calls[site])
}

// Bind binds prog to data. A user's mistake is returned as *Error.
func Bind(prog *ir.Program, set *data.Set, o Options) (*Bound, error) {
	known, err := readData(prog, set, o)
	if err != nil {
		return nil, err
	}
	constants := make([]emit.Constant, 0, len(prog.Data)+len(prog.TransformedDataVars))
	known.Each(func(v *ir.Var, shape []int, ints []int64, reals []float64) {
		constants = append(constants, emit.Constant{Var: v, Shape: shape, Ints: ints, Reals: reals})
	})
	p := emit.New(prog, constants, o)
	out := &Bound{Known: known, program: p}
	if out.Params, out.Names, out.NumConstrained, err = p.Describe(); err != nil {
		return nil, err
	}
	first := p.Begin()
	generated := func() (*ad.Graph, error) {
		if out.Constrained != nil && len(prog.GeneratedQuantities) == 0 && len(prog.GeneratedQuantityVars) == 0 {
			return out.Constrained, nil
		}
		return p.Generated()
	}
	var notes, faults []string
	for _, part := range []struct {
		instead string
		build   func() (*ad.Graph, error)
		graph   **ad.Graph
	}{
		{"the log density is interpreted, statement by statement, at every point", p.Density, &out.Density},
		{"transformed parameters are interpreted, draw by draw", p.Constrained, &out.Constrained},
		{"generated quantities are interpreted, draw by draw", generated, &out.Generated},
	} {
		err := first
		if err == nil {
			*part.graph, err = part.build()
		}
		if part.graph == &out.Density && err == nil {
			out.Stats = p.Stats()
		}
		var refused *Error
		switch {
		case err == nil:
		case errors.As(err, &refused) && (emit.Unknown(refused.List) || refused.Skippable):
			d := refused.List[0]
			notes = append(notes, fmt.Sprintf("line %d: %s: %s", d.Span.Begin().Line, part.instead, d.Summary))
			if refused.Fault {
				faults = append(faults, fmt.Sprintf("line %d: %s", d.Span.Begin().Line, d.Summary))
			}
		default:
			return nil, err
		}
	}
	out.Stats.Notes = slices.Concat(prog.Notes, out.Stats.Notes, notes)
	out.Stats.Faults = faults
	if out.Density == nil {
		out.Part = p.Part()
	}
	out.Sites, out.Calls = p.Sites()
	return out, nil
}

// Read reads the data and runs the transformed data of a program, silently.
func Read(prog *ir.Program, set *data.Set, o Options) (*interp.Known, error) {
	o.Print = nil
	return readData(prog, set, o)
}

// readData reads the variables of the data block from set, runs the transformed data, and returns
// the values of both.
func readData(prog *ir.Program, set *data.Set, o Options) (*interp.Known, error) {
	io := interp.Options{
		Jacobian: o.Jacobian, Print: o.Print, Transforms: o.Transforms,
		Rand: rand.New(rand.NewPCG(o.Seed, 0x9e3779b97f4a7c15)),
	}
	if o.Budget != nil {
		io.Stop = o.Budget.Stop
		io.Memory, io.Statements = o.Budget.Left()
	}
	known, err := interp.Data(prog, set, io)
	var refused *interp.Error
	if errors.As(err, &refused) {
		return nil, &Error{List: diag.List{refused.Diagnostic}}
	}
	return known, err
}

// Information evaluates the log density to find its statements. The transforms of the parameters
// add nothing: the information of a distribution with bounded support is given for the variate on
// the unbounded scale, including the Jacobian.
func (out *Bound) Information() (*Information, error) { return out.program.Information() }

// Metric evaluates a function of the program's functions block, whose arguments have the names of
// the model's variables. The only output of the graph is the function's value.
func (out *Bound) Metric(name string) (*ad.Graph, error) { return out.program.Metric(name) }

// Limited turns err, from a budget that was exhausted after binding by work on g, into an *Error.
// Its position is the place that asked for memory, or that of the largest value if the place is not
// known.
func (out *Bound) Limited(err error, g *ad.Graph) error { return out.program.Limited(err, g) }
