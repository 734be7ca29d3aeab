package predict

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/source"
)

// unbounded represents a missing bound of integers.
const unbounded = 1 << 30

// drawTruncated returns a call of a function that draws one observation from a truncated
// distribution, and adds this function to the program.
func (e *emitter) drawTruncated(t *term, p *plan, args []ast.Expr) ast.Expr {
	f := e.truncatedGenerator(p.function)
	lower, upper := e.bounds(t, discrete(p.function))
	return call(f, append([]ast.Expr{lower, upper}, args...)...)
}

// bounds returns both bounds of a truncation. A missing bound is infinite or, for counts, beyond
// every integer of the language.
func (e *emitter) bounds(t *term, counts bool) (lower, upper ast.Expr) {
	lower, upper = call("negative_infinity"), call("positive_infinity")
	if counts {
		lower, upper = literal(-unbounded), literal(unbounded)
	}
	if t.trunc.Lower != nil {
		lower = e.now.expr(t.trunc.Lower)
	}
	if t.trunc.Upper != nil {
		upper = e.now.expr(t.trunc.Upper)
	}
	return lower, upper
}

// truncatedGenerator adds the generator of a truncated distribution to the functions of the program
// and returns its name.
//
// The generator first draws and rejects a few times. Then it inverts the distribution function by
// bisection, so that it works for narrow and far bounds. Bisection uses the logarithm of the
// smaller tail at the lower bound, so that small probabilities keep their digits.
func (e *emitter) truncatedGenerator(function string) string {
	dist, _ := density(function)
	if e.truncated == nil {
		e.truncated = map[string]string{}
	}
	if name, ok := e.truncated[dist]; ok {
		return name
	}
	name := e.freshEnding("truncated_"+dist, "_rng")
	e.truncated[dist] = name
	text := continuousTruncated
	if discrete(function) {
		text = discreteTruncated
	}
	e.addTruncated(name, function, text, "least most attempt y lo hi bounded first above at_lo at_hi goal step halving")
	return name
}

// addTruncated adds a function of the bounds and the parameters of a truncated distribution to the
// program. text is a template whose words in capitals are replaced. words lists its local names.
func (e *emitter) addTruncated(name, function, text, words string) {
	dist, _ := density(function)
	d := distOf(function)
	kind, next, suffix := "real", "y", "lpdf"
	if discrete(function) {
		kind, next, suffix = "int", "y + 1", "lpmf"
	}
	params, given := kind+" least, "+kind+" most", ""
	locals := strings.Fields(words)
	for i, q := range d.Params {
		locals = append(locals, fmt.Sprintf("p%d", i+1))
		k := "real"
		if q.Int {
			k = "int"
		}
		params += fmt.Sprintf(", %s p%d", k, i+1)
		if i > 0 {
			given += ", "
		}
		given += fmt.Sprintf("p%d", i+1)
	}
	// The bounds of the support, if they are numbers. Distribution functions may reject values
	// outside it.
	support := d.Support
	if support.Text == "" {
		support = d.Variate
	}
	number := func(v float64) string {
		if kind == "int" {
			return fmt.Sprint(int(max(-unbounded, min(v, unbounded))))
		}
		switch {
		case math.IsInf(v, 1):
			return "positive_infinity()"
		case math.IsInf(v, -1):
			return "negative_infinity()"
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	most := number(support.Hi)
	for _, r := range d.Relations { // for distributions of counts from 0 to N
		if r.Than == 0 && r.Arg > 0 && d.Discrete {
			most = fmt.Sprintf("p%d", r.Arg)
		}
	}
	function = strings.NewReplacer(
		"NAME", name, "PARAMS", params, "GIVEN", given, "DIST", dist, "DENSITY", suffix, "KIND", kind, "NEXT", next,
		"LEAST", number(support.Lo), "MOST", most, "UNBOUNDED", fmt.Sprint(unbounded),
	).Replace(text)
	tree, _ := lang.Parse(source.NewFile(name, "functions {"+function+"}")) // tests draw from every distribution
	e.scope(func() { e.functions = append(e.functions, e.renamed(tree, locals).Blocks[0].Stmts...) })
}

// truncatedDensity returns a call of the density of a truncated distribution, for data that are
// declared as censored. It adds the density to the functions of the program, with the distribution
// functions from which the probabilities of censored values are computed.
func (e *emitter) truncatedDensity(t *term, p *plan, variate ast.Expr, args []ast.Expr) ast.Expr {
	dist, suffix := check.SplitSuffix(p.function)
	if e.truncated == nil {
		e.truncated = map[string]string{}
	}
	if e.truncated[p.function] == "" {
		name := e.freshEnding("truncated_"+dist, suffix)
		e.truncated[p.function] = name
		text := continuousDensity
		if discrete(p.function) {
			text = discreteDensity
		}
		e.addTruncated(strings.TrimSuffix(name, suffix), p.function, text, "a b y least most lo hi at_lo at_hi")
	}
	lower, upper := e.bounds(t, discrete(p.function))
	return given(e.truncated[p.function], variate, append([]ast.Expr{lower, upper}, args...))
}

// truncatedFunctions are the density of a truncated distribution and its distribution functions,
// which have the probability between two values as NAME_between.
const truncatedFunctions = `
  real NAME_DENSITY(KIND y, PARAMS) {
    if (y < least || y > most) {
      return negative_infinity();
    }
    return DIST_DENSITY(y | GIVEN) - NAME_between(least, most, least, most, GIVEN);
  }

  real NAME_lcdf(KIND y, PARAMS) {
    return NAME_between(least, y, least, most, GIVEN) - NAME_between(least, most, least, most, GIVEN);
  }

  real NAME_lccdf(KIND y, PARAMS) {
    return NAME_between(NEXT, most, least, most, GIVEN) - NAME_between(least, most, least, most, GIVEN);
  }
`

const continuousDensity = `
  real NAME_between(real a, real b, PARAMS) {
    real lo = fmax(fmax(a, least), LEAST);
    real hi = fmin(fmin(b, most), MOST);
    if (lo >= hi) {
      return negative_infinity();
    }
    if (lo > LEAST && DIST_lccdf(lo | GIVEN) < log(0.5)) {
      return log_diff_exp(DIST_lccdf(lo | GIVEN), hi < MOST ? DIST_lccdf(hi | GIVEN) : negative_infinity());
    }
    return log_diff_exp(hi < MOST ? DIST_lcdf(hi | GIVEN) : 0, lo > LEAST ? DIST_lcdf(lo | GIVEN) : negative_infinity());
  }
` + truncatedFunctions

const discreteDensity = `
  real NAME_between(int a, int b, PARAMS) {
    int lo = max(max(a, least), LEAST) - 1; // the result is for values above lo
    int hi = min(min(b, most), MOST);
    if (lo >= hi) {
      return negative_infinity();
    }
    if (lo >= LEAST && DIST_lccdf(lo | GIVEN) < log(0.5)) {
      return log_diff_exp(DIST_lccdf(lo | GIVEN), hi < UNBOUNDED ? DIST_lccdf(hi | GIVEN) : negative_infinity());
    }
    return log_diff_exp(hi < UNBOUNDED ? DIST_lcdf(hi | GIVEN) : 0, lo >= LEAST ? DIST_lcdf(lo | GIVEN) : negative_infinity());
  }
` + truncatedFunctions

const continuousTruncated = `
  real NAME(PARAMS) {
    for (attempt in 1:16) {
      real y = DIST_rng(GIVEN);
      if (y >= least && y <= most) {
        return y;
      }
    }
    real lo = fmax(least, LEAST);
    real hi = fmin(most, MOST);
    if (lo > hi) {
      reject("no value between the bounds ", least, " and ", most, " is possible");
    }
    // Probabilities of at most y, or, in the upper tail, of more than y.
    int above = lo > negative_infinity() ? DIST_lccdf(lo | GIVEN) < log(0.5) : 0;
    real at_lo = above ? DIST_lccdf(lo | GIVEN) : lo > LEAST ? DIST_lcdf(lo | GIVEN) : negative_infinity();
    real at_hi = above ? (hi < MOST ? DIST_lccdf(hi | GIVEN) : negative_infinity())
                 : (hi < MOST ? DIST_lcdf(hi | GIVEN) : 0);
    real goal = log_mix(uniform_rng(0, 1), at_lo, at_hi);
    if (is_inf(lo)) {
      real step = 1;
      lo = is_inf(hi) ? 0 : hi - step;
      while (DIST_lcdf(lo | GIVEN) > goal && step < 1e300) {
        lo -= step;
        step *= 2;
      }
    }
    if (is_inf(hi)) {
      real step = 1;
      hi = lo + step;
      while ((above ? DIST_lccdf(hi | GIVEN) > goal : DIST_lcdf(hi | GIVEN) < goal) && step < 1e300) {
        hi += step;
        step *= 2;
      }
    }
    for (halving in 1:200) {
      real y = lo + 0.5 * (hi - lo);
      if (y <= lo || y >= hi) {
        break;
      }
      if (above ? DIST_lccdf(y | GIVEN) > goal : DIST_lcdf(y | GIVEN) < goal) {
        lo = y;
      } else {
        hi = y;
      }
    }
    return lo + 0.5 * (hi - lo);
  }
`

const discreteTruncated = `
  int NAME(PARAMS) {
    for (attempt in 1:16) {
      int y = DIST_rng(GIVEN);
      if (y >= least && y <= most) {
        return y;
      }
    }
    // The result is above lo and at most hi.
    int lo = max(least, LEAST) - 1;
    int hi = min(most, MOST);
    int bounded = hi < UNBOUNDED;
    if (lo >= hi) {
      reject("no value between the bounds ", least, " and ", most, " is possible");
    }
    int first = lo < LEAST;
    int above = first ? 0 : DIST_lccdf(lo | GIVEN) < log(0.5);
    real at_lo = first ? negative_infinity() : above ? DIST_lccdf(lo | GIVEN) : DIST_lcdf(lo | GIVEN);
    real at_hi = above ? (bounded ? DIST_lccdf(hi | GIVEN) : negative_infinity())
                 : (bounded ? DIST_lcdf(hi | GIVEN) : 0);
    real goal = log_mix(uniform_rng(0, 1), at_lo, at_hi);
    if (!bounded) {
      int step = 1;
      hi = lo + 1;
      while ((above ? DIST_lccdf(hi | GIVEN) > goal : DIST_lcdf(hi | GIVEN) < goal) && step < 500000000) {
        hi += step;
        step *= 2;
      }
    }
    while (hi - lo > 1) {
      int y = lo + (hi - lo) %/% 2;
      if (above ? DIST_lccdf(y | GIVEN) > goal : DIST_lcdf(y | GIVEN) < goal) {
        lo = y;
      } else {
        hi = y;
      }
    }
    return hi;
  }
`
