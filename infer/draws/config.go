package draws

import (
	"strconv"
	"strings"
)

// Setting is a node of the configuration that the comments of a CSV file state. CmdStan's clients
// look for lines "name = value".
type Setting struct {
	Name    string `json:"name"`
	Value   string `json:"value,omitempty"`
	Default bool   `json:"default,omitempty"` // " (Default)" is added
	Group   bool   `json:"group,omitempty"`   // a heading: the name alone, no value

	// Room is the minimum width of the value in a file. Blanks fill it, so that [File.Restate] can
	// later replace the value by a longer one.
	Room int `json:"-"`

	Children []Setting `json:"children,omitempty"` // indented by two spaces more
}

// With returns s with the value of every setting of the given name in it replaced. Without such a
// setting, s is unchanged.
func (s Setting) With(name, value string) Setting {
	if s.Name == name && !s.Group {
		s.Value, s.Default = value, false
	}
	children := s.Children
	s.Children = nil
	for _, c := range children {
		s.Children = append(s.Children, c.With(name, value))
	}
	return s
}

// Under returns s with a setting added at the end of every group in it that has the given name.
func (s Setting) Under(group string, added Setting) Setting {
	children := s.Children
	s.Children = nil
	for _, c := range children {
		s.Children = append(s.Children, c.Under(group, added))
	}
	if s.Group && s.Name == group {
		s.Children = append(s.Children, added)
	}
	return s
}

// appendTo appends the setting and its children as comment lines.
func (s Setting) appendTo(dst []byte, depth int) []byte {
	dst = append(dst, "# "...)
	for range depth {
		dst = append(dst, "  "...)
	}
	dst = append(dst, oneLine(s.Name)...)
	if !s.Group {
		dst = append(dst, " = "...)
		start := len(dst)
		dst = append(dst, oneLine(s.Value)...)
		if s.Default {
			dst = append(dst, " (Default)"...)
		}
		for len(dst)-start < s.Room {
			dst = append(dst, ' ')
		}
	}
	dst = append(dst, '\n')
	for _, child := range s.Children {
		dst = child.appendTo(dst, depth+1)
	}
	return dst
}

// oneLine replaces line breaks by blanks, so that a comment stays on one line.
func oneLine(s string) string {
	return strings.NewReplacer("\n", " ", "\r", " ").Replace(s)
}

// parseSetting parses a comment line without its leading "#". depth is its level of indentation; ok
// is false for an empty line.
func parseSetting(line string) (s Setting, depth int, ok bool) {
	text := strings.TrimLeft(line, " ")
	depth = (len(line) - len(text) - 1) / 2 // one space follows the #
	if depth < 0 {
		depth = 0
	}
	name, value, found := strings.Cut(text, " =")
	if !found {
		name = strings.TrimSpace(text)
		return Setting{Name: name, Group: true}, depth, name != ""
	}
	value = strings.TrimPrefix(value, " ")
	value, isDefault := strings.CutSuffix(value, " (Default)")
	return Setting{Name: strings.TrimSpace(name), Value: strings.TrimRight(value, " "), Default: isDefault}, depth, true
}

// place adds a setting of the given depth as a child of the last setting one level up.
func place(tree []Setting, s Setting, depth int) []Setting {
	if depth == 0 || len(tree) == 0 {
		return append(tree, s)
	}
	last := &tree[len(tree)-1]
	last.Children = place(last.Children, s, depth-1)
	return tree
}

// minSigFigs is the number of significant digits in CmdStan's files that state none.
const minSigFigs = 6

// Digits is the number of significant digits that the head of a file states; 0 if its numbers are
// exact.
func Digits(config []Setting) int {
	s, ok := Lookup(config, "output", "sig_figs")
	n, err := strconv.Atoi(strings.TrimSpace(s.Value))
	switch {
	case !ok || err != nil || n < 1: // -1: CmdStan's default, which was 6 before 2.37
		return minSigFigs
	case n >= ExactSigFigs:
		return 0
	}
	return n
}

// Lookup finds a setting by its path, such as Lookup(config, "method", "sample", "num_samples").
// You may omit the names of groups that repeat their parent's value ("sample" here).
func Lookup(config []Setting, path ...string) (Setting, bool) {
	for _, s := range config {
		if len(path) > 0 && s.Name == path[0] {
			if len(path) == 1 {
				return s, true
			}
			if found, ok := Lookup(s.Children, path[1:]...); ok {
				return found, true
			}
		}
		if s.Group {
			if found, ok := Lookup(s.Children, path...); ok && len(path) > 0 {
				return found, true
			}
		}
	}
	return Setting{}, false
}
