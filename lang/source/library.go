package source

import "strings"

// Library is how the names of files begin that have functions of the library, written in Stan.
const Library = "library:"

// InLibrary reports whether a span lies in a function of the library.
func (s Span) InLibrary() bool { return s.File != nil && strings.HasPrefix(s.File.Name, Library) }

// Called returns the place that a message about s shows. In a function of the library that is its
// call, and name is its name there.
func (s Span) Called(call Span) (at Span, name string) {
	if !s.InLibrary() || !call.IsValid() {
		return s, ""
	}
	name, _, ok := strings.Cut(call.Text(), "(")
	if name = strings.TrimSpace(name); !ok || strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		name = strings.TrimPrefix(s.File.Name, Library)
	}
	return call, name
}
