package proggen

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// idiomSizes are the numbers of rows in programs of NewIdioms. There are small ones, and numbers
// just below and above the length of strips of machine code and the thresholds of passes.
var idiomSizes = []int{0, 1, 2, 3, 5, 17, 40, 127, 128, 129, 255, 256, 257, 499, 500, 501, 999, 1000, 1001}

// An idiom is a piece of everyday Stan. Its texts have holes:
//
//	$name      a name of this copy
//	@{A¦B}     A or B; choices may nest
//	@e @s      a real expression of row n; one between -1 and 1
//	@d @i      a number and an int of row n that data decide
//	@c @q      a condition of row n that data decide, and one that parameters decide
//	@n @k      indices in 1:N and 1:K of row n
//	@t         what terms are added to
//	@formal    in the head of a function: the data and parameters that its text mentions
//	@args:$f   in a call of $f: the same
type idiom struct {
	name    string
	funcs   string
	known   string // statements for transformed data
	text    string
	maxRows int // greatest number of rows; 0: any number
}

// idiomWork is the maximum of the rows of all idioms of a program, added up.
const idiomWork = 1300

// NewIdioms makes the program of a seed from one to three fragments of everyday Stan in the model
// block, transformed parameters or generated quantities. Its data and expressions are generated as
// in NewRows.
func NewIdioms(seed uint64) Program {
	d := &rowing{page: newPage(seed, 0x8a5cd789635d2dff), size: map[string]int{}, used: map[string]bool{}, cost: 1}
	list := idioms()
	first := one(d, list)
	d.idiomSizes(first.maxRows)
	var b idiomBlocks
	for i := range among(d, 1, 1, 2, 3) {
		m := first
		if i > 0 {
			m = one(d, list)
		}
		if n := d.size["N"]; i == 0 || (m.maxRows == 0 || n <= m.maxRows) && (i+1)*n <= idiomWork {
			b.add(d, m, among(d, 0, 1, 2, 2, 2, 2, 2, 2))
		}
	}
	return b.program(d, seed)
}

// NewManyIdioms makes the program of a seed from count fragments of everyday Stan, for real Stan,
// which takes long to compile a program. It uses only fragments that Stan 2.32 supports and whose
// loops do not end by a tolerance. Where possible, the result of each fragment is a transformed
// parameter.
func NewManyIdioms(seed uint64, count int) Program {
	d := &rowing{page: newPage(seed, 0x4cf5ad432745937f), size: map[string]int{}, used: map[string]bool{}, cost: 1}
	d.idiomSizes(0)
	list := slices.DeleteFunc(idioms(), func(m idiom) bool {
		return strings.Contains(m.funcs+m.text, "tuple(") || strings.Contains(m.text, "ode_") || m.maxRows > 0 && m.maxRows < d.size["N"]
	})
	var b idiomBlocks
	for range count {
		b.add(d, one(d, list), 0)
	}
	return b.program(d, seed)
}

// idiomSizes draws the sizes. The number of rows is at most most, if that is not 0.
func (d *rowing) idiomSizes(most int) {
	fits := len(idiomSizes)
	if most > 0 {
		fits, _ = slices.BinarySearch(idiomSizes, most+1)
	}
	d.size["N"], d.size["K"] = one(d, idiomSizes[:fits]), among(d, 1, 1, 2, 3, 5, 9, 17)
	d.size["J"], d.size["P"] = among(d, 1, 2, 5, 9), among(d, 1, 2, 3)
}

// idiomBlocks are the blocks of a program under construction.
type idiomBlocks struct{ functions, known, transformed, model, generated []string }

// add adds a fragment to transformed parameters (0), generated quantities (1) or the model block
// (2).
func (b *idiomBlocks) add(d *rowing, m idiom, where int) {
	if strings.Contains(m.text, " ~ ") || strings.Contains(m.text, "_lp(") {
		where = 2 // these are allowed only in the model block
	}
	sink := "target"
	if where < 2 {
		sink = d.name("q")
	}
	d.used[m.name] = true
	functions, known, text := d.write(m, sink)
	b.functions, b.known = append(b.functions, functions...), append(b.known, known...)
	text = append(append([]string{"  {"}, text...), "  }")
	switch where {
	case 0:
		b.transformed = append(append(b.transformed, "  real "+sink+" = 0;"), text...)
		b.model = append(b.model, "  target += "+sink+";")
	case 1:
		b.generated = append(append(b.generated, "  real "+sink+" = 0;"), text...)
	default:
		b.model = append(b.model, text...)
	}
}

func (b *idiomBlocks) program(d *rowing, seed uint64) Program {
	if d.helper {
		b.functions = append([]string{"  real h(real p, real q) {", "    return inv_logit(p) * tanh(q);", "  }"}, b.functions...)
	}
	return d.program(seed, b.functions, b.known, b.transformed, b.model, b.generated)
}

var (
	idiomHole  = regexp.MustCompile(`@[a-z]\b`)
	ownName    = regexp.MustCompile(`\$[a-z]+`)
	calledWith = regexp.MustCompile(`@args:\w+`)
	defined    = regexp.MustCompile(`(\w+)\([^()]*@formal\) \{`)
)

// write fills the holes of an idiom and returns its functions, statements for transformed data, and
// statements.
func (d *rowing) write(m idiom, sink string) (funcs, known, text []string) {
	own := map[string]string{}
	d.row, d.state, d.locals, d.ints = "n", nil, nil, nil
	fill := func(text string) string {
		text = d.chosen(text)
		text = ownName.ReplaceAllStringFunc(text, func(name string) string {
			if own[name] == "" {
				own[name] = d.name(name[1:] + "_")
			}
			return own[name]
		})
		return idiomHole.ReplaceAllStringFunc(text, func(hole string) string {
			switch hole[1:] {
			case "e":
				return d.expr(among(d, 0, 1, 2))
			case "s":
				return d.small(among(d, 0, 1))
			case "d":
				return fmt.Sprintf(among(d, "y[%[1]s]", "x[%[1]s]", "r[%[1]s]", "0.1 * c[%[1]s]", "abs(y[%[1]s])"), d.row)
			case "i":
				return fmt.Sprintf(among(d, "c[%[1]s]", "(c[%[1]s] - 3)", "(g[%[1]s] - c[%[1]s]) %% 3", "(c[%[1]s] - 4) %%/%% 2", "o[%[1]s] * (K - 2)", "(%[1]s * 7) %% 5", "-c[%[1]s] %% 4",
					"min(c[%[1]s], g[%[1]s])", "abs(c[%[1]s] - 3)", "(o[%[1]s] ? 2 : -1)", "(c[%[1]s] > 2)", "-7 %%/%% (c[%[1]s] + 1)", "max({c[%[1]s], o[%[1]s], 2})"), d.row)
			case "c":
				return fmt.Sprintf(among(d, "o[%[1]s] == 1", "c[%[1]s] > 2", "g[%[1]s] == 1", "%[1]s %% 2 == 0", "y[%[1]s] > 0.1234", "x[%[1]s] < y[%[1]s]", "c[%[1]s] == 0 || o[%[1]s] == 0",
					"%[1]s > 1 && g[max(1, %[1]s - 1)] != g[%[1]s]", "!(o[%[1]s])", "%[1]s > 126", "r[%[1]s] >= 0 && c[%[1]s] < 4"), d.row)
			case "q":
				return fmt.Sprintf(among(d, "a > 0.1", "u[g[%[1]s]] > f", "x[%[1]s] < e[%[1]s]", "e[%[1]s] > 0.3", "u[1] < y[%[1]s]", "o[%[1]s] == 1 && a < f"), d.row)
			case "n":
				return fmt.Sprintf(among(d, "%[1]s", "q[%[1]s]", "(N + 1 - %[1]s)", "max(1, %[1]s - 1)", "min(N, %[1]s + 1)", "(1 + (%[1]s + c[%[1]s]) %% N)"), d.row)
			case "k":
				return fmt.Sprintf(among(d, "g[%[1]s]", "(1 + c[%[1]s] %% K)", "(1 + abs(%[1]s - 3) %% K)"), d.row)
			case "t":
				return sink
			}
			return hole
		})
	}
	// The arguments of each function are the variables that its text mentions, and those of the
	// functions that it calls.
	given := map[string]string{}
	filled := func(text string) string {
		return calledWith.ReplaceAllStringFunc(text, func(hole string) string {
			if args := given[hole[len("@args:"):]]; args != "" {
				return args
			}
			return hole
		})
	}
	for _, part := range strings.Split(fill(m.funcs), "\n\n") {
		part = filled(part)
		var formal, actual []string
		mentioned := words(strings.Split(part, "\n"))
		for _, f := range rowFamilies {
			if mentioned[f.name] {
				formal, actual = append(formal, f.arg+" "+f.name), append(actual, f.name)
			}
		}
		if name := defined.FindStringSubmatch(part); name != nil {
			given[name[1]] = strings.Join(actual, ", ")
		}
		funcs = append(funcs, lines(strings.ReplaceAll(filled(part), "@formal", strings.Join(formal, ", ")))...)
	}
	return funcs, lines(filled(fill(m.known))), lines(filled(fill(m.text)))
}

// chosen replaces each choice in a text by one of its alternatives.
func (d *rowing) chosen(text string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "@{")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		var sides []string
		depth, begin := 0, 0
		for i, c := range after {
			if c == '{' {
				depth++
			} else if c == '}' {
				depth--
			}
			if depth < 0 || depth == 0 && c == '¦' {
				sides = append(sides, after[begin:i])
				begin = i + len(string(c))
			}
			if depth < 0 {
				break
			}
		}
		out.WriteString(d.chosen(one(d, sides)))
		text = after[begin:]
	}
}

// lines returns the lines of a text that are not empty.
func lines(text string) (list []string) {
	for _, l := range strings.Split(text, "\n") {
		if strings.TrimSpace(l) != "" {
			list = append(list, "    "+l)
		}
	}
	return list
}
