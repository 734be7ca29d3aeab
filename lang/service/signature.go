package service

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/internal/grammar"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// Signature is one signature of a function that is called.
type Signature struct {
	Label      string
	Text       string // what it computes
	Parameters []SignatureParameter
}

// SignatureParameter is the position of a parameter in the label.
type SignatureParameter struct {
	Start, End int // bytes in the label
	Text       string
}

// Signatures are the signatures for the call around a position, with the best match for the typed
// arguments first, and the number of the current argument.
type Signatures struct {
	Forms    []Signature
	Argument int
}

// maxForms is the maximum number of signatures shown for a function.
const maxForms = 12

// SignatureHelp describes the call around a position; ok is false outside calls.
func (s *Snapshot) SignatureHelp(f *source.File, offset int) (help Signatures, ok bool) {
	if t, found := s.token(f, offset); found && t.Kind == grammar.CommentText && t.Span.Start < offset && offset < t.Span.End {
		return help, false
	}
	ts := s.fileTokens(f).all
	depth := 0
	for i := tokensBefore(ts, offset) - 1; i > 0; i-- {
		t := ts[i]
		if t.Kind != grammar.Punct || t.Span.End > offset {
			continue
		}
		switch t.Span.Text() {
		case ")", "]":
			depth++
		case "[":
			depth--
		case "(":
			if depth--; depth >= 0 {
				continue
			}
			if ts[i-1].Kind != grammar.Identifier {
				depth = 0 // these parentheses are inside an argument
				help.Argument = 0
				continue
			}
			tilde := i > 1 && ts[i-2].Span.Text() == "~"
			help.Forms = s.forms(ts[i-1].Span.Text(), tilde)
			help.Argument = argument(ts[i+1:], offset)
			return help, len(help.Forms) > 0
		case ";", "{", "}":
			return help, false
		}
		if depth < 0 {
			depth = 0 // these brackets are inside an index
		}
	}
	return help, false
}

// argument counts the commas and bars before an offset that are not in inner brackets.
func argument(ts []grammar.Token, offset int) int {
	n, depth := 0, 0
	for _, t := range ts {
		if t.Span.Start >= offset {
			break
		}
		switch t.Span.Text() {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		case ",", "|":
			if depth == 0 {
				n++
			}
		}
	}
	return n
}

// forms returns the signatures of a name; for a distribution after ~, without the variate.
func (s *Snapshot) forms(name string, tilde bool) []Signature {
	var out []Signature
	full := name
	if base, suffix := check.SplitSuffix(name); strings.HasPrefix(suffix, "_lu") {
		full = base + "_l" + suffix[3:]
	}
	if tilde {
		if full = s.userFunction(name); full == "" {
			full = name + "_lpdf"
			if len(s.options.Library.Lookup(full)) == 0 {
				full = name + "_lpmf"
			}
		}
	}
	skip := 0
	if tilde {
		skip = 1
	}
	for _, fn := range s.functions(full) {
		var args []string
		for _, p := range fn.Decl.Params {
			args = append(args, p.Span().Text())
		}
		out = append(out, signature(name, args, skip, fn.Decl.Result.Span().Text(), tilde, nil))
	}
	doc, _ := s.options.Library.Describe(full)
	var about []types.ArgumentDoc
	if doc.Distribution != nil {
		about = doc.Distribution.Arguments
	}
	for _, fn := range doc.Functions {
		for _, text := range fn.Texts {
			for _, form := range text.Forms {
				if len(out) >= maxForms {
					return out
				}
				args, result, ok := splitForm(form)
				if !ok {
					continue
				}
				own := about
				if _, suffix := check.SplitSuffix(fn.Name); suffix == "_rng" && len(own) > 0 {
					own = own[1:]
				}
				sig := signature(name, named(args, own), skip, result, tilde, own)
				sig.Text = text.Text
				out = append(out, sig)
			}
		}
	}
	return out
}

// splitForm splits the text of an overload into its parts: NAME(A, B | C) => RESULT.
func splitForm(form string) (args []string, result string, ok bool) {
	open := strings.IndexByte(form, '(')
	if open < 0 {
		return nil, "", false
	}
	depth, from := 0, open+1
	for i := open; i < len(form); i++ {
		switch form[i] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth == 0 {
				if arg := strings.TrimSpace(form[from:i]); arg != "" {
					args = append(args, arg)
				}
				_, result, _ = strings.Cut(form[i:], "=> ")
				return args, result, true
			}
		case ',', '|':
			if depth == 1 {
				args = append(args, strings.TrimSpace(form[from:i]))
				from = i + 1
			}
		}
	}
	return nil, "", false
}

// named appends the names of arguments to their types, if they are known.
func named(args []string, about []types.ArgumentDoc) []string {
	if len(args) != len(about) {
		return args
	}
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a + " " + about[i].Name
	}
	return out
}

// signature writes a label, and records where it contains the parameters.
func signature(name string, args []string, skip int, result string, tilde bool, about []types.ArgumentDoc) Signature {
	var b strings.Builder
	b.WriteString(name + "(")
	_, suffix := check.SplitSuffix(name)
	sig := Signature{}
	for i := min(skip, len(args)); i < len(args); i++ {
		switch {
		case i == skip:
		case i == 1 && check.TakesBar(suffix):
			b.WriteString(" | ")
		default:
			b.WriteString(", ")
		}
		p := SignatureParameter{Start: b.Len(), End: b.Len() + len(args[i])}
		if len(about) == len(args) {
			p.Text = argumentText(about[i])
		}
		b.WriteString(args[i])
		sig.Parameters = append(sig.Parameters, p)
	}
	b.WriteString(")")
	if !tilde && result != "" {
		b.WriteString(" => " + result)
	}
	sig.Label = b.String()
	return sig
}

// argumentText describes an argument and its allowed values.
func argumentText(a types.ArgumentDoc) string {
	text := a.Is
	if a.Must.Text != "" {
		text += ", must be " + a.Must.Text
	}
	return text
}
