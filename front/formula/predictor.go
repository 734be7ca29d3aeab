package formula

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
)

// Coefficient is a parameter of the linear predictor.
type Coefficient struct {
	Parameter string // such as b_ward[2]
	Label     string // name of the design's column in R: wardC
}

// Group has the terms that vary by group.
type Group struct {
	Parameter string             // a vector by group, or a matrix with a row for each group
	By        []string           // the columns that define the groups
	Size      int                // the number of groups
	Labels    []string           // the columns of the group's design
	Centres   map[string]float64 // the numbers subtracted from numeric variables; see [Program]
}

// scale is the scale of the linear predictor, for priors of the coefficients.
type scale struct {
	mean, sd float64
	mean2    string // rounded
	reason   string
	size     float64 // of coefficients
}

// scaleOf derives the scale of the linear predictor from the outcome.
func (w *writer) scaleOf() scale {
	f, y := w.family, w.spec.outcome
	switch {
	case f.link == logit:
		return scale{size: 1.5, mean2: "0", reason: "1.5 on the scale of log odds"}
	case f.link == logLink:
		sum, n := 0.0, 0.0
		for i, x := range y.values {
			if x == 0 && f.custom != nil {
				continue
			}
			rate := 1.0
			for _, o := range w.spec.offsets {
				rate *= math.Exp(o.value(i))
			}
			sum, n = sum+x, n+rate
		}
		mean := math.Log(max(sum, 0.5) / max(n, 1e-300))
		return scale{mean: mean, size: 1, mean2: digits(mean, 2), reason: "1 on the scale of logarithms"}
	}
	values := y.values
	if f.logs {
		values = nil
		for _, x := range y.values {
			if x > 0 {
				values = append(values, math.Log(x))
			}
		}
	}
	mean, sd := moments(values)
	if sd == 0 || math.IsNaN(sd) {
		sd = 1
	}
	what := y.name
	if f.logs {
		what = "log " + y.name
	}
	// Round the mean to a precision that is small compared with the standard deviation.
	unit := math.Pow(10, math.Floor(math.Log10(sd)))
	return scale{mean: mean, sd: sd, size: 2.5 * sd, mean2: short(math.Round(mean/unit) * unit), reason: "2.5 standard deviations of " + what + " (" + digits(sd, 2) + ")"}
}

// predictor writes the parameters and priors of a linear predictor and returns its terms. suffix
// distinguishes the predictors of categories.
func (w *writer) predictor(blocks []*block, suffix string) string {
	s := w.scale
	var parts []string
	if w.spec.terms.intercept && w.family.name != "cumulative" {
		name := w.fresh("intercept" + suffix)
		w.param("real %s;", name)
		w.prior(fmt.Sprintf("%s ~ normal(%s, %s);", name, s.mean2, digits(s.size, 2)), w.interceptReason())
		parts = append(parts, name)
		w.Coefficients = append(w.Coefficients, Coefficient{name, "(Intercept)"})
	}
	for _, b := range blocks {
		name := w.fresh("b_" + b.name + suffix)
		size, mean := s.size/b.scale, "0"
		reason := s.reason + " between levels"
		if b.of != "" {
			reason = s.reason + " for a standard deviation of " + b.of + " (" + digits(b.scale, 2) + ")"
		}
		if b.whole && b.of == "" && !w.spec.terms.intercept {
			mean, reason = s.mean2, w.interceptReason()
		}
		w.prior(fmt.Sprintf("%s ~ normal(%s, %s);", name, mean, digits(size, 2)), reason)
		if b.divisor != 1 {
			declared := "real"
			if b.matrix != "" {
				declared = fmt.Sprintf("vector[%d]", len(b.cols))
			}
			w.gq("%s %s = %s / %s; // for one unit of %s", declared, w.fresh(name+"_per_unit"), name, decimal(short(b.divisor)), plain(b.of))
		}
		if b.matrix == "" {
			w.param("real %s;", name)
			parts = append(parts, name+" * "+factor(b.vector))
			w.Coefficients = append(w.Coefficients, Coefficient{name, b.labels[0]})
			continue
		}
		w.param("vector[%d] %s; // %s", len(b.cols), name, listed(plains(b.labels)))
		parts = append(parts, b.matrix+" * "+name)
		for i, l := range b.labels {
			w.Coefficients = append(w.Coefficients, Coefficient{fmt.Sprintf("%s[%d]", name, i+1), l})
		}
	}
	for i := range w.spec.smooths {
		parts = append(parts, w.smooth(&w.spec.smooths[i], suffix))
	}
	for _, g := range w.spec.groups {
		parts = append(parts, w.groupTerms(g, suffix)...)
	}
	for _, o := range w.spec.offsets {
		text := o.text()
		if o.strength() < 2 {
			text = "(" + text + ")"
		}
		parts = append(parts, text)
		w.vectorTerm = w.vectorTerm || o.vector()
	}
	sum := strings.Join(parts, " + ")
	vector := len(blocks) > 0 || len(w.spec.groups) > 0 || len(w.spec.smooths) > 0 || w.vectorTerm
	if sum == "" {
		sum = "0"
	}
	if !vector {
		return "rep_vector(" + sum + ", @N)"
	}
	return sum
}

// factor puts a product in parentheses.
func factor(text string) string {
	if strings.Contains(text, " ") {
		return "(" + text + ")"
	}
	return text
}

// interceptReason describes the prior of the intercept, for a comment.
func (w *writer) interceptReason() string {
	switch f := w.family; {
	case f.link == logit:
		return "a probability mostly between 5 % and 95 %"
	case f.link == logLink && len(w.spec.offsets) > 0:
		return "about the logarithm of the mean rate"
	case f.link == logLink:
		return "the logarithm of about the mean of " + w.spec.outcome.name + ", times or divided by up to 7"
	}
	return "about the mean, and " + w.scale.reason
}

// smooth writes a smooth function of a column, without its linear part, which is a separate term.
func (w *writer) smooth(s *smooth, suffix string) string {
	v := s.of
	key := "s|" + v.key
	k := s.k - 2
	if w.vectors[key] == "" {
		raw, _ := w.numbers(v, false, 1)
		low, width := s.interval()
		u := w.fresh(v.name + "_u")
		name := w.fresh("s_" + v.name)
		w.vectors[key] = name
		w.td("// A smooth function of %s: a line, and these curves. The second derivative is", v.key)
		w.td("// white noise, as for a cubic smoothing spline.")
		minus := " - " + short(low)
		if low < 0 {
			minus = " + " + short(-low)
		} else if low == 0 {
			minus = ""
		}
		if minus != "" {
			raw = "(" + raw + minus + ")"
		}
		w.td("vector[@N] %s = %s / %s; // %s in the table: 0 to 1", u, raw, short(width), v.key)
		w.td("matrix[@N, %d] %s;", k, name)
		w.td("%s[, 1] = 3.5 * square(%s - 0.5) - 0.29;", name, u)
		if k > 1 {
			w.td("for (@j in 1:%d) {\n%s[, @j + 1] = cos(@j * pi() * %s) / square(@j);\n}", k-1, name, u)
		}
	}
	name := w.vectors[key]
	sd, z := w.fresh("sd_s_"+v.name+suffix), w.fresh("z_s_"+v.name+suffix)
	w.param("real<lower=0> %s; // how much %s bends", sd, v.key)
	w.param("vector[%d] %s;", k, z)
	w.prior(fmt.Sprintf("%s ~ normal(0, %s);", sd, digits(w.scale.size, 2)), w.scale.reason+"; 0 is a line")
	w.prior(fmt.Sprintf("%s ~ std_normal();", z), "")
	w.Smooths = append(w.Smooths, [2]string{sd, z})
	return name + " * (" + sd + " * " + z + ")"
}

// interval returns the smallest value of the column and the range of its values, as the program has
// them: rounded.
func (s *smooth) interval() (low, width float64) {
	least, greatest := slices.Min(s.of.values), slices.Max(s.of.values)
	return parsed(short(least)), parsed(digits(greatest-least, 3))
}

// groupIndex returns the number of the group of each row, and the number of groups.
func (w *writer) groupIndex(by []*column) (index, size string, n int, used []string) {
	one := func(c *column) (string, int) {
		if c.levels == nil {
			d := c.distinct()
			n := int(d[len(d)-1])
			return fmt.Sprint(n), n
		}
		if w.counts[c] == "" {
			w.counts[c] = w.fresh("J_" + c.name)
		}
		return w.counts[c], len(c.levels)
	}
	last := by[len(by)-1]
	if len(by) == 1 || nestedIn(last, by[:len(by)-1]) {
		size, n = one(last)
		return last.name, size, n, []string{last.name}
	}
	size, n = one(by[0])
	index = by[0].name + "[@n]"
	name := by[0].name
	used = []string{by[0].name}
	for _, c := range by[1:] {
		s, m := one(c)
		index = fmt.Sprintf("(%s - 1) * %s + %s[@n]", index, s, c.name)
		size, n, name, used = size+" * "+s, n*m, name+"_"+c.name, append(used, c.name)
	}
	key := "by|" + name
	if w.vectors[key] == "" {
		w.vectors[key] = w.fresh(name)
		w.td("array[@N] int %s; // the number of each combination", w.vectors[key])
		w.td("for (@n in 1:@N) {\n%s[@n] = %s;\n}", w.vectors[key], index)
	}
	return w.vectors[key], size, n, used
}

// nestedIn reports whether the values of a column determine those of another one, as pupils
// determine their class.
func nestedIn(c *column, others []*column) bool {
	for _, o := range others {
		of := map[float64]float64{}
		for i, x := range c.values {
			if y, ok := of[x]; ok && y != o.values[i] {
				return false
			}
			of[x] = o.values[i]
		}
	}
	return true
}

// groupTerms writes the terms that vary by group and returns the terms of the predictor.
func (w *writer) groupTerms(g *group, suffix string) []string {
	index, size, n, used := w.groupIndex(g.by)
	var texts, labels, scales []string
	if g.terms.intercept {
		texts, labels, scales = append(texts, ""), append(labels, "(Intercept)"), append(scales, digits(w.scale.size, 2))
	}
	for _, t := range g.terms.list {
		b := w.block(&g.terms, t)
		for i := range b.cols {
			texts, labels, scales = append(texts, b.column(i)), append(labels, b.labels[i]), append(scales, digits(w.scale.size/b.scale, 2))
		}
	}
	var by []string
	for _, c := range g.by {
		by = append(by, c.name)
	}
	base := strings.Join(by, "_") + suffix
	r, sd := w.fresh("r_"+base), w.fresh("sd_"+base)
	k := len(texts)
	w.Groups = append(w.Groups, Group{Parameter: r, By: used, Size: n, Labels: labels, Centres: w.centres(&g.terms)})
	what := strings.Join(by, ":")
	if k == 1 {
		w.param("real<lower=0> %s; // of %s between groups of %s", sd, about(labels[0]), what)
		w.param("vector[%s] %s;", size, r)
		w.prior(fmt.Sprintf("%s ~ normal(0, %s);", sd, scales[0]), "half of a normal distribution, as wide as the prior of a coefficient")
		w.prior(fmt.Sprintf("%s ~ normal(0, %s);", r, sd), "")
		part := fmt.Sprintf("%s[%s]", r, index)
		if texts[0] != "" {
			part += " .* " + texts[0]
		}
		return []string{part}
	}
	w.param("vector<lower=0>[%d] %s; // between groups of %s: %s", k, sd, what, listed(plains(labels)))
	w.prior(fmt.Sprintf("%s ~ normal(0, [%s]');", sd, strings.Join(scales, ", ")), "halves of normal distributions, as wide as the priors of coefficients")
	if g.correlated {
		l, z, cor := w.fresh("L_"+base), w.fresh("z_"+base), w.fresh("cor_"+base)
		w.param("cholesky_factor_corr[%d] %s;", k, l)
		w.param("matrix[%d, %s] %s;", k, size, z)
		w.tp("// Correlated terms by %s, from independent standard normal ones.", what)
		w.tp("matrix[%s, %d] %s = (diag_pre_multiply(%s, %s) * %s)';", size, k, r, sd, l, z)
		w.prior(fmt.Sprintf("%s ~ lkj_corr_cholesky(2);", l), "correlations near 1 and -1 are unlikely")
		w.prior(fmt.Sprintf("to_vector(%s) ~ std_normal();", z), "")
		if k == 2 {
			w.gq("real %s = %s[2, 1]; // correlation", cor, l)
		} else {
			w.gq("corr_matrix[%d] %s = multiply_lower_tri_self_transpose(%s);", k, cor, l)
		}
	} else {
		w.param("matrix[%s, %d] %s;", size, k, r)
		w.priors = append(w.priors, fmt.Sprintf("for (@k in 1:%d) {\n%s[, @k] ~ normal(0, %s[@k]);\n}", k, r, sd))
	}
	var parts []string
	for j, t := range texts {
		part := fmt.Sprintf("%s[%s, %d]", r, index, j+1)
		if t != "" {
			part += " .* " + t
		}
		parts = append(parts, part)
	}
	return parts
}

// about describes a column of the design in a comment.
func about(label string) string {
	if label == "(Intercept)" {
		return "the level"
	}
	return "the coefficient of " + plain(label)
}

// suffix returns the suffix of names for a category.
func suffix(label string) string { return "_" + data.ColumnName("x" + label)[1:] }
