package formula

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// kind is the kind of values that an outcome may have.
type kind uint8

const (
	realKind     kind = iota
	positive          // above 0
	nonNegative       // 0 or more
	unit              // between 0 and 1
	unitOrZero        // between 0 and 1, or 0
	countKind         // 0, 1, 2, …
	trialsKind        // at most the number of trials
	binary            // 0 and 1, or two levels
	categoryKind      // 1, 2, 3, …, or levels
)

// words describes the kinds of outcomes.
func (k kind) words() string {
	return [...]string{"numbers", "numbers above 0", "numbers that are 0 or more", "numbers between 0 and 1", "numbers that are 0 or more and below 1", "counts: 0, 1, 2, …",
		"counts of successes among trials", "0 and 1, or two levels", "levels, or 1, 2, 3, …"}[k]
}

// link is the scale of the linear predictor.
type link uint8

const (
	identity link = iota
	logLink
	logit
)

// parameter is a parameter of a family besides the linear predictor.
type parameter struct{ name, declared, prior, comment string }

// family is a row of the table of families. In its texts, $y, $eta and $trials are replaced by the
// outcome, the linear predictor and the numbers of trials.
type family struct {
	name   string
	about  string
	kind   kind
	link   link
	logs   bool // the linear predictor is the mean of the logarithm of the outcome
	params []parameter
	dist   string
	args   []string // arguments of dist
	// The base distribution, if the program must define dist; nil: Stan has it.
	custom *custom
	censor bool // rows may be censored
}

// families returns the table of families.
func families() []family {
	sigma := parameter{"sigma", "real<lower=0>", "exponential($rate)", "its mean is the standard deviation of $y, $sd"}
	shape := parameter{"shape", "real<lower=0>", "gamma(2, 0.5)", "mostly between 0.5 and 12"}
	phi := parameter{"phi", "real<lower=0>", "inv_gamma(0.4, 0.3)", "little or much more variation than that of a Poisson distribution"}
	precision := parameter{"phi", "real<lower=0>", "gamma(2, 0.1)", "precision: mostly between 2 and 60"}
	zi := parameter{"zi", "real<lower=0, upper=1>", "beta(1, 1)", "any share of rows that can only be 0"}
	hu := parameter{"hu", "real<lower=0, upper=1>", "beta(1, 1)", "any share of zeros"}
	list := []family{
		{name: "gaussian", about: "normal errors", kind: realKind, params: []parameter{sigma},
			dist: "normal", args: []string{"$eta", "sigma"}, censor: true},
		{name: "student", about: "errors with outliers", kind: realKind, params: []parameter{sigma, {"nu", "real<lower=1>", "gamma(2, 0.1)", "from many outliers (1) to hardly any (50)"}},
			dist: "student_t", args: []string{"nu", "$eta", "sigma"}, censor: true},
		{name: "lognormal", about: "the logarithm is normal", kind: positive, logs: true, params: []parameter{sigma},
			dist: "lognormal", args: []string{"$eta", "sigma"}, censor: true},
		{name: "gamma", about: "the standard deviation is proportional to the mean", kind: positive, link: logLink, params: []parameter{shape},
			dist: "gamma", args: []string{"shape", "shape * exp(-$eta)"}, censor: true},
		{name: "weibull", about: "times until an event", kind: positive, link: logLink, params: []parameter{shape},
			dist: "weibull", args: []string{"shape", "exp($eta) / tgamma(1 + 1 / shape)"}, censor: true},
		{name: "beta", about: "shares", kind: unit, link: logit, params: []parameter{precision},
			dist: "beta", args: []string{"phi * inv_logit($eta)", "phi * inv_logit(-$eta)"}},
		{name: "bernoulli", about: "yes or no", kind: binary, link: logit,
			dist: "bernoulli_logit", args: []string{"$eta"}},
		{name: "binomial", about: "successes among trials", kind: trialsKind, link: logit,
			dist: "binomial_logit", args: []string{"$trials", "$eta"}},
		{name: "beta_binomial", about: "successes among trials that vary more than binomial ones", kind: trialsKind, link: logit, params: []parameter{precision},
			dist: "beta_binomial", args: []string{"$trials", "phi * inv_logit($eta)", "phi * inv_logit(-$eta)"}},
		{name: "poisson", about: "counts", kind: countKind, link: logLink,
			dist: "poisson_log", args: []string{"$eta"}},
		{name: "negbinomial", about: "counts that vary more than Poisson ones", kind: countKind, link: logLink, params: []parameter{phi},
			dist: "neg_binomial_2_log", args: []string{"$eta", "phi"}},
		{name: "cumulative", about: "ordered categories", kind: categoryKind, link: logit,
			dist: "ordered_logistic", args: []string{"$eta", "cutpoints"}},
		{name: "categorical", about: "categories without order", kind: categoryKind, link: logit, dist: "categorical_logit"},
	}
	byName := func(name string) family {
		return list[slices.IndexFunc(list, func(f family) bool { return f.name == name })]
	}
	inflated := func(name, dist, mean, link string, k kind, args ...arg2) {
		f := byName(name)
		f.name, f.about, f.kind = "zero_inflated_"+name, f.about+", with more zeros", k
		f.params = append(slices.Clone(f.params), zi)
		f.custom = &custom{base: f.dist, args: args, mean: mean, link: link, zero: zeroInflated, isReal: k == unitOrZero}
		f.dist = dist
		f.args = append(slices.Clone(f.args), "zi")
		list = append(list, f)
	}
	inflated("poisson", "zero_inflated_poisson_log", "exp(eta)", "eta", countKind, arg2{"real", "eta"})
	inflated("negbinomial", "zero_inflated_neg_binomial_2_log", "exp(eta)", "eta", countKind, arg2{"real", "eta"}, arg2{"real", "phi"})
	inflated("binomial", "zero_inflated_binomial_logit", "trials * inv_logit(eta)", "eta", trialsKind, arg2{"int", "trials"}, arg2{"real", "eta"})
	inflated("beta_binomial", "zero_inflated_beta_binomial", "trials * a / (a + b)", "log(a / b)", trialsKind, arg2{"int", "trials"}, arg2{"real", "a"}, arg2{"real", "b"})
	inflated("beta", "zero_inflated_beta", "a / (a + b)", "log(a / b)", unitOrZero, arg2{"real", "a"}, arg2{"real", "b"})
	hurdle := func(name, dist, mean, link string, args ...arg2) {
		f := byName(name)
		k := map[kind]kind{countKind: countKind, positive: nonNegative}[f.kind]
		f.name, f.about, f.kind = "hurdle_"+name, f.about+", where zeros have another cause", k
		f.params = append(slices.Clone(f.params), hu)
		f.custom = &custom{base: f.dist, args: args, mean: mean, link: link, zero: hurdleZero, isReal: k == nonNegative}
		f.dist = dist
		f.args, f.censor = append(slices.Clone(f.args), "hu"), false
		list = append(list, f)
	}
	hurdle("poisson", "hurdle_poisson_log", "exp(eta)", "eta", arg2{"real", "eta"})
	hurdle("negbinomial", "hurdle_neg_binomial_2_log", "exp(eta)", "eta", arg2{"real", "eta"}, arg2{"real", "phi"})
	hurdle("gamma", "hurdle_gamma", "shape / rate", "log(shape / rate)", arg2{"real", "shape"}, arg2{"real", "rate"})
	hurdle("lognormal", "hurdle_lognormal", "exp(mu + square(sigma) / 2)", "mu", arg2{"real", "mu"}, arg2{"real", "sigma"})
	return list
}

// Families returns the names of the families, and for each a text that says what it is for.
func Families() (names, about []string) {
	for _, f := range families() {
		names, about = append(names, f.name), append(about, f.about)
	}
	return names, about
}

// fits returns the reason why a number cannot be an outcome of a kind; "" if it can.
func (k kind) fits(x float64, isInt bool) bool {
	switch k {
	case positive:
		return x > 0
	case nonNegative:
		return x >= 0
	case unit:
		return x > 0 && x < 1
	case unitOrZero:
		return x >= 0 && x < 1
	case countKind, trialsKind:
		return x >= 0 && isInt
	case binary:
		return x == 0 || x == 1
	case categoryKind:
		return x >= 1 && isInt
	}
	return true
}

// integers reports whether outcomes of the kind are integers in the program.
func (k kind) integers() bool { return k >= countKind }

// checkOutcome returns an error if the outcome does not suit the family.
func (w *writer) checkOutcome() *Error {
	f, y, at := w.family, w.spec.outcome, w.spec.outcomeAt
	bad := func(format string, args ...any) *Error {
		e := errorf(at, "families for "+y.name+": "+strings.Join(suited(y), ", "), "%s is for %s, but %s", f.name, f.kind.words(), fmt.Sprintf(format, args...))
		e.Setting = "family"
		return e
	}
	if y.levels != nil {
		switch {
		case f.kind == binary && len(y.levels) != 2:
			return bad("%s has %d levels: %s", y.name, len(y.levels), listed(y.levels))
		case f.kind == categoryKind && len(y.levels) < 2:
			return bad("%s has one level only: %s", y.name, listed(y.levels))
		case f.kind != binary && f.kind != categoryKind:
			return bad("%s is a column of texts: %s", y.name, listed(y.levels))
		}
		return nil
	}
	isInt := y.isInt
	for i, x := range y.values {
		if !f.kind.fits(x, isInt) || f.kind == binary && !isInt {
			return bad("%s is %s in row %d", y.name, short(x), i+1)
		}
	}
	_, sd := moments(y.values)
	if sd == 0 {
		return errorf(at, "check the column in the table", "%s is %s in every row", y.name, short(y.values[0]))
	}
	if n := slices.Max(y.values); f.kind == categoryKind && n > 50 {
		return bad("%s goes up to %s", y.name, short(n))
	}
	if t := w.spec.trials; f.kind == trialsKind && t != nil {
		for i, x := range y.values {
			if n := t.value(i); x > n {
				return errorf(t.at, "check the columns in the table", "%s is %s in row %d, more than %s trials", y.name, short(x), i+1, short(n))
			}
		}
	}
	return nil
}

// suited lists the families that can have such a column as their outcome.
func suited(y *column) (names []string) {
	for _, f := range families() {
		ok := y.levels != nil && (f.kind == categoryKind || f.kind == binary && len(y.levels) == 2)
		if y.levels == nil {
			ok = !slices.ContainsFunc(y.values, func(x float64) bool { return math.IsNaN(x) || !f.kind.fits(x, y.isInt) })
			if y.isInt && !f.kind.integers() && f.kind != realKind && f.kind != positive {
				ok = false
			}
			if strings.HasPrefix(f.name, "zero_") || strings.HasPrefix(f.name, "hurdle_") {
				ok = ok && slices.Contains(y.values, 0)
			}
			if f.kind == categoryKind && ok {
				ok = slices.Max(y.values) <= 10
			}
		}
		if ok {
			names = append(names, f.name)
		}
	}
	return names
}
