package emit

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// addend is what a statement added to the log density.
type addend struct {
	at  source.Span
	ref ad.Ref
}

// logDensity is what has been added to the log density.
type logDensity struct {
	at  *context
	rep *reporter
	b   *builder

	targets []value // addends, without lanes, in the root level
	propto  bool    // whether _lupdf and ~ drop addends
	inModel bool

	marking bool     // densities are represented by inputs, see information.go
	addends []addend // by statement
}

// addTarget adds v, over all its elements and lanes, to the log density.
func (dn *logDensity) addTarget(v value) {
	if !dn.inModel {
		return
	}
	v = dn.b.numeric(v)
	if dn.at.scanning() && v.lvl == dn.at.scan.lvl {
		r := dn.at.scan
		r.targets = append(r.targets, v.lvl.g.Sum(v.ref))
		return
	}
	if n := len(dn.at.branches); n > 0 && dn.at.lvl.branch {
		br := dn.at.branches[n-1]
		g := dn.at.lvl.g
		r := dn.b.use(v, dn.at.lvl, dn.at.axis)
		if v.lvl != dn.at.lvl && dn.at.hidden() {
			r = g.Sum(r)
		} else {
			r = dn.totalHere(r, v)
		}
		br.target = append(br.target, r)
		return
	}
	dn.at.lvl.g.SetSite(dn.b.site())
	r := dn.totalHere(dn.b.use(v, dn.at.lvl, dn.at.axis), v)
	if dn.marking {
		dn.addends = append(dn.addends, addend{dn.rep.span, r})
	}
	dn.targets = append(dn.targets, value{typ: types.RealType, lvl: dn.at.lvl, ref: r, param: v.param})
}

// totalHere sums r over its elements and over the lanes in force.
func (dn *logDensity) totalHere(r ad.Ref, v value) ad.Ref {
	g := dn.at.lvl.g
	r = g.Sum(r)
	if dn.at.axis == nil || dn.at.hidden() {
		return r
	}
	if g.Type(r).Lanes == 0 {
		return g.Scale(float64(dn.at.axis.N), r)
	}
	return g.SumLanes(r)
}
