package grammar

import (
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/ppl-lang/ppl/lang/diag"
)

// newWords are the reserved words that older versions of Stan did not have, so that old programs
// may use them as names.
var newWords = setOf("lower upper offset multiplier array tuple profile jacobian complex")

// oldNames changes newer keywords back to identifiers if the program declares them as names. In
// places where only the keyword is possible, they stay. It reports each name once.
func (s *scanner) oldNames(tokens []lexer.Token) {
	if !s.options.Legacy {
		return
	}
	types := typeTokens(tokens)
	at := func(i int) lexer.Token {
		if i < 0 || i >= len(tokens) {
			return lexer.Token{}
		}
		return tokens[i]
	}
	isNew := func(t lexer.Token) bool {
		return (t.Type == tokKeyword || t.Type == tokType) && newWords[t.Value]
	}
	names := map[string]bool{}
	declaring := false // inside a declaration, up to its semicolon
	for i, t := range tokens {
		switch {
		case t.Type == tokType && !isNew(t):
			declaring = true
		case isPunct(t, ";") || isPunct(t, "{") || isPunct(t, "}"):
			declaring = false
		}
		if !isNew(t) || !declaring || i == 0 || types[i] || newUse(tokens, i) {
			continue
		}
		// The token before is the type, or the comma after another name.
		before := types[i-1] || isPunct(at(i-1), ",")
		switch next := at(i + 1); {
		case !before || names[t.Value]:
		case next.Type == tokAssign, isPunct(next, ";"), isPunct(next, ","), isPunct(next, "["), isPunct(next, ")"):
			names[t.Value] = true
			d := diag.Warnf(diag.LegacySyntax, s.span(t.Pos.Offset, end(&t)), "`%s` is a reserved word today", t.Value)
			d.Fix = "write `" + t.Value + "_`, in the data too if it is a name of data"
			s.diags.Add(d)
		}
	}
	for i := range tokens {
		t := &tokens[i]
		if names[t.Value] && isNew(*t) && !types[i] && !newUse(tokens, i) {
			t.Type = tokIdent
		}
	}
}

// typeTokens marks the tokens that belong to types: their names, bounds without the bounds' values,
// and sizes without the expressions in them.
func typeTokens(tokens []lexer.Token) []bool {
	marked := make([]bool, len(tokens))
	for i := 0; i < len(tokens); i++ {
		if t := tokens[i]; t.Type != tokType || newWords[t.Value] {
			continue
		}
		marked[i] = true
		j := i + 1
		if isPunct(tokens[j], "<") {
			marked[j] = true
			depth := 0
			for j++; j < len(tokens)-1; j++ {
				t := tokens[j]
				if isPunct(t, "(") || isPunct(t, "[") {
					depth++
				} else if isPunct(t, ")") || isPunct(t, "]") {
					depth--
				}
				if depth > 0 {
					continue
				}
				next := tokens[j+1]
				if t.Type == tokKeyword && next.Value == "=" && (tokens[j-1].Value == "<" || tokens[j-1].Value == ",") {
					marked[j] = true
				}
				if isPunct(t, ">") {
					marked[j] = true
					j++
					break
				}
				if isPunct(t, ";") || isPunct(t, "{") {
					break
				}
			}
		}
		if isPunct(tokens[j], "[") {
			depth := 0
			for ; j < len(tokens)-1; j++ {
				if isPunct(tokens[j], "[") {
					depth++
				}
				if isPunct(tokens[j], "]") {
					if depth--; depth == 0 {
						marked[j] = true
						break
					}
				}
			}
		}
	}
	return marked
}

// newUse reports whether a new word can only be the keyword here.
func newUse(tokens []lexer.Token, i int) bool {
	next := tokens[min(i+1, len(tokens)-1)]
	switch tokens[i].Value {
	case "array": // as in array[N] real
		if !isPunct(next, "[") {
			return false
		}
		depth := 0
		for j := i + 1; j < len(tokens)-1; j++ {
			if isPunct(tokens[j], "[") {
				depth++
			} else if isPunct(tokens[j], "]") {
				if depth--; depth == 0 {
					return tokens[j+1].Type == tokType || tokens[j+1].Value == "tuple"
				}
			}
		}
	case "tuple":
		return isPunct(next, "(")
	case "profile":
		return isPunct(next, "(") && tokens[min(i+2, len(tokens)-1)].Type == tokString
	case "complex":
		return next.Type == tokIdent || isPunct(next, "[")
	}
	return false
}

// Reserved reports whether a name cannot be declared.
func Reserved(name string) bool {
	_, isType := typeNames[name]
	return isType || keywords[name] || reservedNames[name]
}
