package proggen

import (
	"regexp"
	"strings"
	"time"
)

// Shrink makes a program smaller as long as it still fails. It deletes statements, replaces loops
// and branches by their bodies, and replaces expressions by their parts. Each statement, and each
// head of a block, must be on a separate line. It stops when no step helps or when the time is up.
func Shrink(text string, fails func(text string) bool, limit time.Duration) string {
	s := &shrinker{fails: fails, end: time.Now().Add(limit), tried: map[string]bool{}}
	s.lines = strings.Split(strings.TrimSpace(text), "\n")
	s.whiles = s.loops()
	for n := -1; n != len(s.text()); {
		n = len(s.text())
		s.dropBlocks()
		s.unwrap()
		s.dropArguments()
		s.simplify()
	}
	return s.text()
}

type shrinker struct {
	fails func(text string) bool
	end   time.Time
	lines []string
	tried map[string]bool

	whiles map[string]string // while loops of the original program: head and steps, see loops
}

func (s *shrinker) text() string { return strings.Join(s.lines, "\n") + "\n" }

// try replaces the program by these lines, if it still fails then.
func (s *shrinker) try(lines []string) bool {
	text := strings.Join(lines, "\n") + "\n"
	if s.tried[text] || time.Now().After(s.end) {
		return false
	}
	s.tried[text] = true
	if s.endless(lines) || !s.fails(text) {
		return false
	}
	s.lines = lines
	return true
}

// step marks lines that make a while loop progress. A loop that loses one may be endless.
const step = " // step"

// loops returns the while loops that have a body: for each head, the lines in the body that are
// marked by step.
func (s *shrinker) loops() map[string]string {
	out := map[string]string{}
	for i, line := range s.lines {
		head := strings.TrimSpace(line)
		if !strings.HasPrefix(head, "while (") || !opens(line) {
			continue
		}
		var steps []string
		for _, l := range s.lines[i:s.part(i)] {
			if strings.HasSuffix(l, step) {
				steps = append(steps, strings.TrimSpace(l))
			}
		}
		out[head] = strings.Join(steps, "\n")
	}
	return out
}

// endless reports whether a while loop may be endless: its head was changed, or it has lost a line
// marked by step.
func (s *shrinker) endless(lines []string) bool {
	for head, steps := range (&shrinker{lines: lines}).loops() {
		if was, ok := s.whiles[head]; !ok || !strings.HasSuffix(steps, was) {
			return true
		}
	}
	return false
}

func opens(line string) bool  { return strings.HasSuffix(line, "{") }
func closes(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "}") }

// part returns the last line of the statement that begins at line i. For a conditional, that is the
// end of the first branch, before `} else {`.
func (s *shrinker) part(i int) int {
	if !opens(s.lines[i]) {
		return i
	}
	depth := 1
	for k := i + 1; k < len(s.lines); k++ {
		if closes(s.lines[k]) {
			if depth--; depth == 0 {
				return k
			}
		}
		if opens(s.lines[k]) {
			depth++
		}
	}
	return len(s.lines) - 1
}

// statement returns the last line of the statement that begins at line i. For a conditional, that
// is the end of its last branch.
func (s *shrinker) statement(i int) int {
	end := s.part(i)
	for end > i && opens(s.lines[end]) {
		end = s.part(end)
	}
	return end
}

// without returns the lines, with lines i to j replaced by others.
func (s *shrinker) without(i, j int, by ...string) []string {
	out := append([]string{}, s.lines[:i]...)
	out = append(out, by...)
	return append(out, s.lines[j+1:]...)
}

// dropBlocks deletes consecutive statements, long runs first, beginning at the end of the program.
func (s *shrinker) dropBlocks() {
	for _, n := range []int{8, 4, 2, 1} {
		for i := len(s.lines) - 1; i >= 0; i-- {
			if i >= len(s.lines) || closes(s.lines[i]) {
				continue
			}
			end, ok := i, true
			for k := range n {
				if k > 0 {
					end++
				}
				if end >= len(s.lines) || closes(s.lines[end]) {
					ok = k > 0 && n == 1
					break
				}
				end = s.statement(end)
			}
			if ok {
				s.try(s.without(i, end))
			}
		}
	}
	// Delete branches of conditionals.
	for i := len(s.lines) - 1; i >= 0; i-- {
		if i < len(s.lines) && closes(s.lines[i]) && opens(s.lines[i]) {
			end := s.part(i)
			s.try(s.without(i, end-1))
		}
	}
}

// unwrap replaces a block by one of its branches.
func (s *shrinker) unwrap() {
	for i := len(s.lines) - 1; i >= 0; i-- {
		if i >= len(s.lines) || !opens(s.lines[i]) || closes(s.lines[i]) || s.lines[i][0] != ' ' {
			continue
		}
		all := s.statement(i)
		for start := i; start < all; {
			end := s.part(start)
			if s.try(s.without(i, all, s.lines[start+1:end]...)) {
				break
			}
			start = end
		}
	}
}

var headOf = regexp.MustCompile(`^ *(?:real|int|void|vector) (\w+)\(.*\) \{$`)

// dropArguments removes parameters of functions, from the head and from all calls.
func (s *shrinker) dropArguments() {
	for i := 0; i < len(s.lines); i++ {
		m := headOf.FindStringSubmatch(s.lines[i])
		if m == nil {
			continue
		}
		for k := strings.Count(s.lines[i], ","); k >= 0; k-- {
			lines := append([]string{}, s.lines...)
			for j := range lines {
				lines[j] = withoutArgument(lines[j], m[1], k)
			}
			s.try(lines)
		}
	}
}

// withoutArgument returns a line without argument k in calls of a function.
func withoutArgument(line, name string, k int) string {
	for at := 0; ; {
		i := strings.Index(line[at:], name+"(")
		if i < 0 {
			return line
		}
		open := at + i + len(name)
		at = open
		end := closing(line, open)
		if end < 0 || i > 0 && isName(line[open-len(name)-1]) {
			continue
		}
		if args := split(line[open+1 : end]); k < len(args) {
			args = append(args[:k:k], args[k+1:]...)
			line = line[:open+1] + strings.Join(args, ", ") + line[end:]
		}
	}
}

// split divides a list at the commas that are outside brackets.
func split(list string) (parts []string) {
	depth, from := 0, 0
	for k := range list {
		switch list[k] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, strings.TrimSpace(list[from:k]))
				from = k + 1
			}
		}
	}
	return append(parts, strings.TrimSpace(list[from:]))
}

// simplify replaces expressions in parentheses and calls by their parts or by a number, indices by
// 1, and indexed expressions by a number.
func (s *shrinker) simplify() {
	for i := range s.lines {
		for at := 0; at < len(s.lines[i]); at++ {
			line := s.lines[i]
			if line[at] != '(' && line[at] != '[' {
				continue
			}
			end := closing(line, at)
			if end < 0 {
				continue
			}
			start := at
			for start > 0 && isName(line[start-1]) {
				start--
			}
			inner := line[at+1 : end]
			candidates := append([]string{"0.5", "1"}, operands(inner)...)
			if line[at] == '[' {
				name := line[start:at]
				candidates = []string{"0.5", "1", name + "[1]", name}
				for _, c := range operands(inner) {
					candidates = append(candidates, name+"["+c+"]")
				}
			}
			for _, c := range candidates {
				if len(c) < end+1-start && s.try(s.without(i, i, line[:start]+c+line[end+1:])) {
					at = max(start-1, 0)
					break
				}
			}
		}
	}
}

func isName(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// closing returns the position of the bracket that closes the one at i.
func closing(s string, i int) int {
	depth := 0
	for k := i; k < len(s); k++ {
		switch s[k] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return k
			}
		}
	}
	return -1
}

// operands divides an expression at the operators and commas that are outside brackets.
func operands(s string) []string {
	var out []string
	depth, from := 0, 0
	for k := 0; k < len(s); k++ {
		switch c := s[k]; {
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case depth == 0 && (c == ',' || c == ' '):
			if p := strings.Trim(s[from:k], " ,"); len(p) > 0 && (isName(p[0]) || p[0] == '(' || p[0] == '[') {
				out = append(out, p)
			}
			from = k + 1
		}
	}
	if from > 0 || len(out) == 0 {
		if p := strings.Trim(s[from:], " ,"); p != "" {
			out = append(out, p)
		}
	}
	return out
}
