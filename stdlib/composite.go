package stdlib

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// FormOf says how print writes values of a type; nil for simple ones.
func FormOf(t types.Type) *ad.Form {
	switch {
	case t.Kind == types.Tuple:
		f := &ad.Form{Dims: t.Dims}
		for _, m := range t.Members {
			member := FormOf(m)
			if member == nil {
				member = &ad.Form{}
			}
			f.Members = append(f.Members, member)
		}
		return f
	case t.Scalar() == types.Complex:
		return &ad.Form{Dims: t.Rank(), Members: []*ad.Form{{}, {}}}
	}
	return nil
}
