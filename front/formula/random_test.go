package formula

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	brief "github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/model"
)

// randomTable returns a table with columns of all kinds.
func randomTable(t *testing.T, r *rand.Rand, rows int) *data.Set {
	t.Helper()
	var b strings.Builder
	b.WriteString("x1,x 2,x3,k,f,g,h,p,q,pupil,id,yr,yp,yz,yu,yuz,yc,yt,n,yb,yo,ycat,cens,event\n")
	for i := range rows {
		n := 3 + r.IntN(8)
		zero := float64(r.IntN(4))
		if zero > 1 {
			zero = 1
		}
		count := r.IntN(9) * int(zero)
		fmt.Fprintf(&b, "%.4g,%.4g,%.4g,%d,%s,%s,%s,%s,%s,%s,%d,%.4g,%.4g,%.4g,%.3f,%.3f,%d,%d,%d,%s,%d,%s,%d,%d\n",
			60+12*r.NormFloat64(), r.NormFloat64(), math.Exp(r.NormFloat64()), 2*r.IntN(3)+4,
			pick(r, i, "no", "yes"), pick(r, i, "a", "b", "c"), pick(r, i, "North-East", "South", "West", "East"),
			pick(r, i, "p1", "p2", "p3", "p4", "p5"), pick(r, i, "u", "v", "w"), fmt.Sprint("pupil", i/3), 1+i%7,
			5+3*r.NormFloat64(), math.Exp(r.NormFloat64()), zero*math.Exp(r.NormFloat64()), 0.02+0.9*r.Float64(), zero*(0.02+0.9*r.Float64()), count, min(count, n), n,
			pick(r, i, "no", "yes"), 1+(i+r.IntN(2))%4, pick(r, i, "cat", "dog", "emu"), r.IntN(2), r.IntN(2))
	}
	set, err := data.ParseTable("t.csv", b.String(), data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// pick returns a random word. In the first rows it returns each word once.
func pick(r *rand.Rand, row int, words ...string) string {
	if row < len(words) {
		return words[row]
	}
	return words[r.IntN(len(words))]
}

// wanted has the expected terms of a random formula, each a list of variables.
type wanted struct {
	intercept bool
	terms     [][]string
}

func (w *wanted) add(terms ...[]string) {
	for _, t := range terms {
		t = slices.Compact(slices.Sorted(slices.Values(t)))
		if len(t) > 0 && !slices.ContainsFunc(w.terms, func(u []string) bool { return slices.Equal(t, u) }) {
			w.terms = append(w.terms, t)
		}
	}
}

// variables are the predictors: numeric variables and factors.
var variables = []string{"x1", "x_2", "log(x3)", "I(x1^2*(1/100))", "f", "g", "h", "factor(k)"}

// spell writes a variable as a user might.
func spell(v string) string {
	if v == "x_2" {
		return "`x 2`"
	}
	return v
}

// randomTerms draws a random sum of terms.
func randomTerms(r *rand.Rand, n int) (text string, w wanted) {
	w.intercept = true
	var parts []string
	switch r.IntN(6) {
	case 0:
		w.intercept = false
		parts = append(parts, "0")
	case 1:
		parts = append(parts, "1")
	}
	for range n {
		a, b, c := variables[r.IntN(len(variables))], variables[r.IntN(len(variables))], variables[r.IntN(len(variables))]
		sa, sb, sc := spell(a), spell(b), spell(c)
		switch r.IntN(9) {
		case 0, 1, 2:
			parts, _ = append(parts, sa), 0
			w.add([]string{a})
		case 3:
			parts = append(parts, sa+" * "+sb)
			w.add([]string{a}, []string{b}, []string{a, b})
		case 4:
			parts = append(parts, sa+"/"+sb)
			w.add([]string{a}, []string{a, b})
		case 5:
			parts = append(parts, "("+sa+" + "+sb+")^2")
			w.add([]string{a}, []string{b}, []string{a, b})
		case 6:
			parts = append(parts, sa+":"+sb, sa)
			w.add([]string{a, b}, []string{a})
		case 7:
			parts = append(parts, sa+" * "+sb+":"+sc)
			w.add([]string{a}, []string{b, c}, []string{a, b, c})
		case 8:
			parts = append(parts, sa+"*"+sb, sa)
			w.add([]string{a}, []string{b}, []string{a, b})
			if a != b {
				parts[len(parts)-1] += " - " + sb // the last part, removed from all others
				w.terms = slices.DeleteFunc(w.terms, func(t []string) bool { return slices.Equal(t, []string{b}) })
			}
		}
	}
	if len(parts) == 0 {
		parts = []string{"1"}
	}
	return strings.Join(parts, " + "), w
}

// value computes a variable for a row, and its level for factors.
func value(set *data.Set, v string, row int) (x float64, level string) {
	get := func(name string) float64 {
		c, _ := set.Get(name)
		return c.Reals[row]
	}
	switch v {
	case "log(x3)":
		return math.Log(get("x3")), ""
	case "I(x1^2*(1/100))":
		return get("x1") * get("x1") / 100, ""
	case "factor(k)":
		return 0, fmt.Sprint(get("k"))
	}
	if levels := set.Levels(v); levels != nil {
		return 0, levels[int(get(v))-1]
	}
	return get(v), ""
}

// labelled computes the column of the design that a label names, such as x1:hWest.
func labelled(set *data.Set, label string, centres, scales map[string]float64, row int) float64 {
	out := 1.0
	for _, part := range strings.Split(label, ":") {
		if part == "(Intercept)" {
			continue
		}
		found := false
		for _, v := range variables {
			rest, is := strings.CutPrefix(part, v)
			if v == "x_2" {
				rest, is = strings.CutPrefix(part, "`x2`")
			}
			x, level := value(set, v, row)
			switch {
			case !is || level == "" && rest != "" || level != "" && rest == "", v == "f" && rest != "no" && rest != "yes":
				continue
			case level == "":
				out *= (x - centres[part]) / cmp.Or(scales[part], 1)
			case level != rest:
				out = 0
			}
			found = true
		}
		if !found {
			return math.NaN()
		}
	}
	return out
}

// complete returns the over-complete design of terms: uncentred numbers, and an indicator for each
// level.
func (w *wanted) complete(set *data.Set, rows int) (cols [][]float64) {
	if w.intercept {
		w.terms = append([][]string{{}}, w.terms...)
	}
	for _, t := range w.terms {
		of := map[string][]float64{} // by combination of levels
		for n := range rows {
			x, key := 1.0, ""
			for _, v := range t {
				y, level := value(set, v, n)
				if level == "" {
					x *= y
				}
				key += level + "|"
			}
			if of[key] == nil {
				of[key] = make([]float64, rows)
			}
			of[key][n] = x
		}
		for _, c := range of {
			cols = append(cols, c)
		}
	}
	return cols
}

// rank returns the number of linearly independent columns.
func rank(cols [][]float64) int {
	var q [][]float64
	for _, c := range cols {
		x := slices.Clone(c)
		length := 0.0
		for _, v := range c {
			length += v * v
		}
		for range 2 {
			for _, u := range q {
				d := 0.0
				for i := range x {
					d += u[i] * x[i]
				}
				for i := range x {
					x[i] -= d * u[i]
				}
			}
		}
		left := 0.0
		for _, v := range x {
			left += v * v
		}
		if left > 1e-14*length {
			for i := range x {
				x[i] /= math.Sqrt(left)
			}
			q = append(q, x)
		}
	}
	return len(q)
}

// outcomes has an outcome for each family.
var outcomes = map[string]string{"gaussian": "yr", "student": "yr", "lognormal": "yp", "gamma": "yp", "weibull": "yp | cens(1 - event)", "beta": "yu",
	"bernoulli": "yb", "binomial": "yt | trials(n)", "beta_binomial": "yt | trials(n)", "poisson": "yc", "negbinomial": "yc", "cumulative": "yo", "categorical": "ycat",
	"zero_inflated_poisson": "yc", "zero_inflated_negbinomial": "yc", "zero_inflated_binomial": "yt | trials(n)", "zero_inflated_beta_binomial": "yt | trials(10)", "zero_inflated_beta": "yuz",
	"hurdle_poisson": "yc", "hurdle_negbinomial": "yc", "hurdle_gamma": "yz", "hurdle_lognormal": "yz"}

// TestRandomFormulas checks random formulas. The program must compile and bind. Its linear
// predictor must equal the design that the labels of its coefficients describe times the
// coefficients. This design must have the rank of the over-complete design of the formula's terms.
func TestRandomFormulas(t *testing.T) {
	formulas := 200
	if testing.Short() {
		formulas = 22
	}
	if n, err := strconv.Atoi(os.Getenv("PPL_FORMULAS")); err == nil {
		formulas = n
	}
	families, _ := Families()
	collinear, tried := 0, 0
	for k := range formulas {
		if os.Getenv("PPL_FORMULAS") == "" && !brief.Turn(k/len(families), 3) {
			continue
		}
		tried++
		r := rand.New(rand.NewPCG(7, uint64(k)))
		rows := 60
		set := randomTable(t, r, rows)
		family := families[k%len(families)]
		rhs, want := randomTerms(r, 1+r.IntN(3))
		if family == "cumulative" {
			want.intercept = true
		}
		text := outcomes[family] + " ~ " + rhs
		offset := r.IntN(4) == 0
		if offset {
			text += " + offset(log(x3) - 2 * x1 / 100)"
		}
		smooth := r.IntN(5) == 0
		if smooth {
			text += " + s(x1, k = 6)"
			want.add([]string{"x1"})
		}
		var groups []wanted
		for range r.IntN(3) {
			inner, g := randomTerms(r, r.IntN(2))
			bar := []string{"|", "||"}[r.IntN(2)]
			by := []string{"p", "q", "id", "p:q", "p/pupil", "q/id", "pupil"}[r.IntN(7)]
			if len(g.terms) == 0 && !g.intercept {
				inner, g.intercept = "1", true
			}
			text += " + (" + inner + " " + bar + " " + by + ")"
			groups = append(groups, g)
			if strings.Contains(by, "/") {
				groups = append(groups, g)
			}
		}
		var scaled []string
		if k%3 == 1 {
			scaled = []string{"all"}
		}
		p, err := New(text, set, Options{Family: family, Standardise: scaled})
		complete := want.complete(set, rows)
		if err != nil {
			// R's coding has redundant columns where an interaction lacks a margin.
			if !strings.Contains(err.Error(), "is a combination of") && !strings.Contains(err.Error(), "is 0 in every row") {
				t.Fatalf("%s (%s): %v", text, family, err)
			}
			collinear++
			continue
		}
		checkProgram(t, text, family, p, set, rows, complete, groups, offset, smooth, r)
		checkUnits(t, text, p)
		checkSplit(t, text, Options{Family: family, Standardise: scaled}, p, set, rows)
	}
	if collinear > tried/3 {
		t.Errorf("%d of %d formulas have collinear columns", collinear, tried)
	}
}

// checkUnits checks that generated quantities have the coefficients of standardised variables for
// one unit of each.
func checkUnits(t *testing.T, text string, p *Program) {
	t.Helper()
	for _, c := range p.Coefficients {
		divisor := 1.0
		for part := range strings.SplitSeq(c.Label, ":") {
			divisor *= cmp.Or(p.Scales[part], 1)
		}
		name, _, _ := strings.Cut(c.Parameter, "[")
		m := regexp.MustCompile(`\b` + name + `_per_unit = ` + name + ` / ([0-9.e+-]+);`).FindStringSubmatch(p.Text)
		switch {
		case divisor == 1 && m != nil:
			t.Fatalf("%s: %s is not standardised, but has a value per unit\n%s", text, c.Label, p.Text)
		case divisor != 1 && (m == nil || math.Abs(parsed(m[1])/divisor-1) > 1e-6):
			t.Fatalf("%s: %s is divided by %v, which its value per unit does not undo\n%s", text, c.Label, divisor, p.Text)
		}
	}
}

func checkProgram(t *testing.T, text, family string, p *Program, set *data.Set, rows int, complete [][]float64, groups []wanted, offset, smooth bool, r *rand.Rand) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s (%s): %s\n%s", text, family, fmt.Sprintf(format, args...), p.Text)
	}
	// Add the predictors as transformed parameters.
	var lines strings.Builder
	for i, eta := range p.eta {
		fmt.Fprintf(&lines, "vector[N] eta_out_%d = %s;\n", i, eta)
	}
	program := strings.Replace(p.Text, "}\nmodel {", "}\ntransformed parameters {\n"+lines.String()+"}\nmodel {", 1)
	if strings.Contains(p.Text, "\ntransformed parameters {") {
		program = strings.Replace(p.Text, "}\nmodel {", lines.String()+"}\nmodel {", 1)
	}
	m, err := model.Compile("random.model", program)
	if err != nil {
		fail("%v", err)
	}
	for _, w := range m.Warnings() {
		if !strings.Contains(w.Summary, "eta_out") {
			fail("warning: %s", w.Summary)
		}
	}
	post, err := m.Bind(set)
	if err != nil {
		fail("%v", err)
	}
	x := make([]float64, post.Dim())
	if lp, err := post.LogDensity(x); err != nil || math.IsNaN(lp) || math.IsInf(lp, 0) {
		fail("log density %v, %v", lp, err)
	}
	for i := range x {
		x[i] = r.NormFloat64()
	}
	values, err := post.Constrain(x)
	if err != nil {
		fail("%v", err)
	}
	at := map[string]float64{}
	for i, name := range post.ConstrainedNames() {
		at[name] = values[i]
	}
	get := func(name string) float64 {
		v, ok := at[strings.NewReplacer("[", ".", ",", ".", "]", "").Replace(name)]
		if !ok {
			fail("no parameter %s", name)
		}
		return v
	}

	// What the design says.
	each := len(p.Coefficients) / len(p.eta)
	var design [][]float64
	for _, c := range p.Coefficients[:each] {
		col := make([]float64, rows)
		for n := range col {
			col[n] = labelled(set, c.Label, p.Centres, p.Scales, n)
		}
		design = append(design, col)
	}
	if family == "cumulative" { // the cutpoints are the intercept
		one := make([]float64, rows)
		for i := range one {
			one[i] = 1
		}
		design = append(design, one)
	}
	if a, b, both := rank(design), rank(complete), rank(slices.Concat(design, complete)); a != b || a != both || a != len(design) {
		fail("the design has %d columns of rank %d, the formula %d, both together %d", len(design), a, b, both)
	}
	if len(p.Groups) != len(groups)*len(p.eta) {
		fail("%d groups, want %d", len(p.Groups), len(groups))
	}
	for i, g := range groups {
		var cols [][]float64
		for _, l := range p.Groups[i].Labels {
			col := make([]float64, rows)
			for n := range col {
				col[n] = labelled(set, l, p.Groups[i].Centres, p.Scales, n)
			}
			cols = append(cols, col)
		}
		all := g.complete(set, rows)
		if a, b, both := rank(cols), rank(all), rank(slices.Concat(cols, all)); a != b || a != both {
			fail("group %d has rank %d, the formula %d, both together %d", i, a, b, both)
		}
	}

	for k := range p.eta {
		for n := range rows {
			want := 0.0
			if offset {
				x1, _ := value(set, "x1", n)
				x3, _ := value(set, "log(x3)", n)
				want += x3 - 2*x1/100
			}
			for i, c := range p.Coefficients[k*each : (k+1)*each] {
				want += get(c.Parameter) * design[i][n]
			}
			for _, g := range p.Groups[k*len(groups) : (k+1)*len(groups)] {
				index := 0
				for _, by := range g.By {
					v, _ := set.Get(by)
					size := len(set.Levels(by))
					if size == 0 {
						size = int(slices.Max(v.Ints))
					}
					index = index*size + int(v.Ints[n]) - 1
				}
				for j, l := range g.Labels {
					name := fmt.Sprintf("%s[%d]", g.Parameter, index+1)
					if len(g.Labels) > 1 {
						name = fmt.Sprintf("%s[%d,%d]", g.Parameter, index+1, j+1)
					}
					want += get(name) * labelled(set, l, g.Centres, p.Scales, n)
				}
			}
			if smooth {
				want += smoothAt(set, p.Smooths[k], n, get)
			}
			if got := get(fmt.Sprintf("eta_out_%d[%d]", k, n+1)); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				fail("row %d: the predictor is %v, want %v", n+1, got, want)
			}
		}
	}
}

// smoothAt computes s(x1, k = 6) without its linear part. Its second derivative is a series in
// orthonormal cosines, scaled by the amplitude of the first wave.
func smoothAt(set *data.Set, names [2]string, row int, get func(string) float64) float64 {
	v, _ := set.Get("x1")
	low, high := slices.Min(v.Reals), slices.Max(v.Reals)
	width, _ := strconv.ParseFloat(strconv.FormatFloat(high-low, 'g', 3, 64), 64)
	u := (v.Reals[row] - low) / width
	sum := get(names[1]+"[1]") * (3.5*(u-0.5)*(u-0.5) - 0.29)
	for j := 1; j <= 3; j++ {
		sum += get(fmt.Sprintf("%s[%d]", names[1], j+1)) * math.Cos(float64(j)*math.Pi*u) / float64(j*j)
	}
	return get(names[0]) * sum
}

// TestFormatted checks that lines of comment end by column 100. ppl fmt formats the rest of the
// program.
func TestFormatted(t *testing.T) {
	set := randomTable(t, rand.New(rand.NewPCG(1, 1)), 100)
	p, err := New("yb ~ s(x1) + x1 * h + (1 + x1 | p)", set, Options{Family: "bernoulli"})
	if err != nil {
		t.Fatal(err)
	}
	comment := regexp.MustCompile(`(?m)^ *//.{101,}$`)
	if long := comment.FindString(p.Text); long != "" {
		t.Errorf("a long line: %s", long)
	}
}

// TestStandardise checks columns that cannot be standardised, and those that can.
func TestStandardise(t *testing.T) {
	set := randomTable(t, rand.New(rand.NewPCG(1, 1)), 100)
	for _, c := range []struct {
		formula, column, want string
	}{
		{"yr ~ x1 + f", "f", "column of texts"},
		{"yr ~ x1 + f", "x3", "no numeric term"},
		{"yr ~ x1 + f", "zz", "no column zz"},
		{"yr ~ x1 + f", "x1", ""},
		{"yr ~ x1 + x3 + f", "all", ""},
	} {
		p, err := New(c.formula, set, Options{Standardise: []string{c.column}})
		switch {
		case c.want == "" && (err != nil || len(p.Scales) == 0):
			t.Errorf("%s, %s: %v", c.formula, c.column, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s, %s: %v, want %q", c.formula, c.column, err, c.want)
		}
	}
}

// TestComputedOutcome checks outcomes that are computed from columns, and words about censoring.
func TestComputedOutcome(t *testing.T) {
	set, err := data.ParseTable("t.csv", "start,end,status,x,z\n1,5.5,alive,1,2\n2,9,dead,2,1\n4,6,dead,0,3\n0,3,alive,4,4\n3,8,dead,2,5\n", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, failed := New("I(end - start) | cens(status) ~ x", set, Options{Family: "weibull"})
	if failed != nil {
		t.Fatal(failed)
	}
	for _, want := range []string{"vector[N] end_start = end - start;", "end_start[n] ~ weibull("} {
		if !strings.Contains(p.Text, want) {
			t.Errorf("%q is missing:\n%s", want, p.Text)
		}
	}
	m, err := model.Compile("computed.model", p.Text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Bind(set); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ formula, family, want string }{
		{"I(start - end) ~ x", "weibull", "weibull is for"},
		{"I(2) ~ x", "gaussian", "the same number in every row"},
		{"I(end - nothing) ~ x", "gaussian", "no column nothing"},
		{"I(x - x) ~ z", "gaussian", "is 0 in every row"},
		{"sqrt(end) ~ x", "gaussian", "the outcome must be a column"},
	} {
		if _, err := New(c.formula, set, Options{Family: c.family}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.formula, err, c.want)
		}
	}
}

// TestEventOrCensored: a column about censoring whose name says the opposite of its use has a note.
func TestEventOrCensored(t *testing.T) {
	for _, c := range []struct{ column, values, formula, want string }{
		{"failed", "1,0,1", "cens(failed)", "cens(failed) takes 1 for a censored row, but the name suggests that 1 is an event. If it is, write cens(1 - failed)"},
		{"Has_Died", "1,0,0", "cens(Has_Died)", "cens(Has_Died) takes 1 for a censored row, but the name suggests that 1 is an event. If it is, write cens(1 - Has_Died)"},
		{"event", "yes,no,yes", "cens(event)", "cens(event) takes yes for a censored row, but the name suggests that it is an event. If it is, write 1 for events and 0 for censored rows in the table, and cens(1 - event)"},
		{"censored", "1,0,1", "cens(1 - censored)", "cens(1 - censored) takes 1 in censored for an event, but the name suggests that 1 is a censored row. If it is, write cens(censored)"},
		{"failed", "1,0,1", "cens(1 - failed)", ""},
		{"failed", "0,0,0", "cens(failed)", ""},
		{"censored", "1,0,1", "cens(censored)", ""},
		{"died", "dead,alive,dead", "cens(died)", ""}, // the words say what they mean
		{"status", "1,0,1", "cens(status)", ""},
		{"eventual", "1,0,1", "cens(eventual)", ""},
	} {
		table := "t," + c.column + "\n"
		for i, v := range strings.Split(c.values, ",") {
			table += fmt.Sprintf("%d.5,%s\n", i+1, v)
		}
		set, err := data.ParseTable("t.csv", table, data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, failed := New("t | "+c.formula+" ~ 1", set, Options{Family: "weibull"})
		if failed != nil {
			t.Fatal(c.column, failed)
		}
		if got := strings.Join(p.Notes, "; "); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.formula, c.values, got, c.want)
		}
	}
}
