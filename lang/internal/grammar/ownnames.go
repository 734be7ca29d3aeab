package grammar

import "github.com/alecthomas/participle/v2/lexer"

// ownTypes are the types that Stan does not have, so that its programs may use them as names.
var ownTypes = setOf("sparse_matrix")

// ownNames changes own types to identifiers if the program declares them as names: if they come
// after a type and before the end of a declaration or the arguments of a function.
func ownNames(tokens []lexer.Token) {
	names := map[string]bool{}
	for i := 1; i < len(tokens)-1; i++ {
		t, before, next := tokens[i], tokens[i-1], tokens[i+1]
		if t.Type != tokType || !ownTypes[t.Value] {
			continue
		}
		ends := isPunct(next, ";") || next.Type == tokAssign
		typed := before.Type == tokType || isPunct(before, "]") || isPunct(before, ">")
		if typed && (ends || isPunct(next, ",") || isPunct(next, "(") || isPunct(next, ")")) || isPunct(before, ",") && ends {
			names[t.Value] = true
		}
	}
	for i := range tokens {
		if t := &tokens[i]; t.Type == tokType && names[t.Value] {
			t.Type = tokIdent
		}
	}
}
