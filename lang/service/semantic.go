package service

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/source"
)

// TokenType is the kind of a token, for highlighting.
type TokenType uint8

// The types of tokens.
const (
	TokenKeyword TokenType = iota
	TokenTypeName
	TokenNumber
	TokenString
	TokenComment
	TokenOperator
	TokenVariable
	TokenParameter // a parameter of a function
	TokenFunction
	TokenInclude
)

// TokenTypeNames are the names of the types in the Language Server Protocol, by their values.
var TokenTypeNames = []string{"keyword", "type", "number", "string", "comment", "operator", "variable", "parameter", "function", "macro"}

// TokenModifiers is a set of modifiers.
type TokenModifiers uint8

// The modifiers.
const (
	TokenDeclaration TokenModifiers = 1 << iota
	TokenReadonly                   // data and loop variables
	TokenLibrary                    // of the library
	TokenModel                      // parameters of the model
)

// TokenModifierNames are the names of the modifiers, by their bits.
var TokenModifierNames = []string{"declaration", "readonly", "defaultLibrary", "modelParameter"}

// SemanticToken is a token with its meaning. Tokens do not overlap. A comment may have several
// lines.
type SemanticToken struct {
	Span      source.Span
	Type      TokenType
	Modifiers TokenModifiers
}

// SemanticTokens returns the tokens of a file in order, without brackets and separators.
func (s *Snapshot) SemanticTokens(f *source.File) []SemanticToken {
	names := s.names(f)
	ts := s.fileTokens(f).all
	out := make([]SemanticToken, 0, len(ts))
	for i, t := range ts {
		st := SemanticToken{Span: t.Span}
		switch t.Kind {
		case grammar.Keyword:
			st.Type = TokenKeyword
		case grammar.TypeName:
			st.Type = TokenTypeName
		case grammar.Number:
			st.Type = TokenNumber
		case grammar.String:
			st.Type = TokenString
		case grammar.CommentText:
			st.Type = TokenComment
		case grammar.IncludeLine:
			st.Type = TokenInclude
		case grammar.Punct:
			switch t.Span.Text() {
			case "(", ")", "[", "]", "{", "}", ",", ";", "<", ">":
				continue
			}
			st.Type = TokenOperator
		case grammar.Identifier:
			known, ok := names[t.Span.Start]
			switch {
			case ok:
				st.Type, st.Modifiers = known.Type, known.Modifiers
			case t.Span.Text() == "generated" || t.Span.Text() == "quantities" || t.Span.Text() == "transformed":
				st.Type = TokenKeyword
			case i+1 < len(ts) && ts[i+1].Span.Text() == "(":
				st.Type = TokenFunction
			default:
				st.Type = TokenVariable
			}
		default:
			continue
		}
		out = append(out, st)
	}
	return out
}

// names returns the meanings of the names in a file, by their offsets.
func (s *Snapshot) names(f *source.File) map[int]SemanticToken {
	out := map[int]SemanticToken{}
	put := func(span source.Span, t TokenType, m TokenModifiers) {
		if at := span.Origin(); at.File == f {
			out[at.Start] = SemanticToken{at, t, m}
		}
	}
	variable := func(span source.Span, v *check.Var, m TokenModifiers) {
		if _, ok := v.Decl.(*ast.Param); ok {
			put(span, TokenParameter, m)
			return
		}
		switch {
		case v.Loop || v.Global && (v.Block == ast.Data || v.Block == ast.TransformedData):
			m |= TokenReadonly
		case v.Global && v.Block == ast.Parameters:
			m |= TokenModel
		}
		put(span, TokenVariable, m)
	}
	for n, v := range s.Info.Defs {
		if v.Decl == n {
			variable(v.Ident.Span(), v, TokenDeclaration)
		}
	}
	for n, v := range s.Info.Uses {
		if v != nil {
			variable(n.Span(), v, 0)
		}
	}
	for n := range s.Info.Functors {
		put(n.Span(), TokenFunction, 0)
	}
	ast.Inspect(s.Tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FunctionDecl:
			put(n.Name.Span(), TokenFunction, TokenDeclaration)
		case *ast.CallExpr:
			put(n.Func.Span(), TokenFunction, s.fromLibrary(n))
		case *ast.Tilde:
			put(n.Dist.Span(), TokenFunction, s.fromLibrary(n))
		}
		return true
	}, nil)
	return out
}

func (s *Snapshot) fromLibrary(call ast.Node) TokenModifiers {
	if c := s.Info.Calls[call]; c != nil && c.Func == nil {
		return TokenLibrary
	}
	return 0
}
