package ir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// What the checker accepts and the evaluators cannot run yet: to support a
// feature, delete what refuses it here and write what Lower and the evaluators
// then miss.

// Unsupported reports what a checked program uses that cannot be run yet, each
// feature and each function once. Only a program without such is for Lower.
func Unsupported(f *ast.File, info *check.Info) diag.List {
	u := &unsupported{info: info, seen: map[string]bool{}}
	ast.Walk(f, func(n ast.Node) bool { u.node(n); return true }, nil)
	u.list.Sort()
	return u.list
}

type unsupported struct {
	info *check.Info
	seen map[string]bool
	list diag.List
}

// refuse reports a feature once.
func (u *unsupported) refuse(at source.Span, feature, detail string) {
	if u.seen[feature] {
		return
	}
	u.seen[feature] = true
	d := diag.Errorf(diag.NotSupported, at, "%s not supported yet", feature)
	d.Detail = strings.TrimPrefix(detail+"\nThis is valid Stan that ppl cannot run so far.", "\n")
	u.list.Add(d)
}

func (u *unsupported) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.Tilde:
		u.call(n, n.Dist.Span(), "the distribution `"+n.Dist.Name+"`")
		if n.Trunc != nil {
			u.truncation(n)
		}
	case *ast.CallExpr:
		u.call(n, n.Func.Span(), "the function `"+n.Func.Name+"`")
	case *ast.Unary:
		u.call(n, n.Span(), "the operator "+n.Op)
	case *ast.Binary:
		u.call(n, n.OpPos, "the operator "+n.Op)
	case *ast.Assign:
		u.call(n, n.Span(), "the operator "+n.Op)
	}
}

// truncation refuses one without the functions that normalise it.
func (u *unsupported) truncation(n *ast.Tilde) {
	for _, b := range []ast.Expr{n.Trunc.Lower, n.Trunc.Upper} {
		for _, suffix := range []string{"_lcdf", "_lccdf"} {
			call := u.info.Truncations[check.TruncationCall{Bound: b, Suffix: suffix}]
			if call == nil {
				continue
			}
			if _, ok := call.Overload.(types.Planned); ok {
				u.refuse(n.Trunc.Span(), "the function `"+call.Name+"` is", "")
			}
		}
	}
}

// call refuses a form of a function that has types only.
func (u *unsupported) call(n ast.Node, at source.Span, what string) {
	call := u.info.Calls[n]
	if call == nil {
		return
	}
	if _, ok := call.Overload.(types.Planned); !ok {
		return
	}
	detail := ""
	if len(call.Match.Params) > 0 && !slices.ContainsFunc(call.Match.Params, func(t types.Type) bool { return t.Kind == types.Function }) {
		var ts []string
		for _, t := range call.Match.Params {
			ts = append(ts, t.String())
		}
		detail = fmt.Sprintf("The form that is used is %s(%s).", strings.TrimPrefix(call.Name, "operator"), strings.Join(ts, ", "))
	}
	u.refuse(at, what+" is", detail)
}
