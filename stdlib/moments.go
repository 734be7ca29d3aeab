package stdlib

// Moments has expressions of the language for the mean, variance and linear predictor of a
// distribution. In them, the names of the parameters denote the arguments of the density, and y its
// variate.
type Moments struct {
	Params   []Param // names, in the order of the arguments
	Mean     string  // empty if the mean does not exist or is not known
	Variance string  // empty as for Mean; only for single numbers
	Link     string  // the linear predictor; empty if models have none

	// Categories says that the variate is a position in a vector. Mean is then the vector of the
	// probabilities of all positions. LinkVector says that Link has an element for each position.
	Categories, LinkVector bool
}

// MomentsOf returns the moments of the distribution with this name. ok is false if none are
// declared.
func MomentsOf(name string) (m Moments, ok bool) {
	for i := range distributions {
		if d := &distributions[i]; d.Name == name {
			return Moments{Params: d.Params, Mean: d.Mean, Variance: d.Variance, Link: d.Link}, d.Mean != "" || d.Link != ""
		}
	}
	m, ok = momentsOfVectors[name]
	return m, ok
}

func paramsNamed(names ...string) []Param {
	var out []Param
	for _, n := range names {
		out = append(out, Param{Name: n})
	}
	return out
}

// momentsOfVectors has the distributions that are not a Dist: over positions, and of vectors.
var momentsOfVectors = map[string]Moments{
	"categorical":       {Params: paramsNamed("theta"), Mean: "theta", Link: "log(theta)", Categories: true, LinkVector: true},
	"categorical_logit": {Params: paramsNamed("beta"), Mean: "softmax(beta)", Link: "beta", Categories: true, LinkVector: true},
	"ordered_logistic": {Params: paramsNamed("eta", "c"), Link: "eta", Categories: true,
		Mean: "append_row(1, inv_logit(eta - c)) - append_row(inv_logit(eta - c), 0)"},
	"ordered_probit": {Params: paramsNamed("eta", "c"), Link: "eta", Categories: true,
		Mean: "append_row(1, Phi(eta - c)) - append_row(Phi(eta - c), 0)"},

	"multi_normal":             {Params: paramsNamed("mu", "Sigma"), Mean: "mu", Link: "mu"},
	"multi_normal_cholesky":    {Params: paramsNamed("mu", "L"), Mean: "mu", Link: "mu"},
	"multi_normal_prec":        {Params: paramsNamed("mu", "Omega"), Mean: "mu", Link: "mu"},
	"multi_student_t":          {Params: paramsNamed("nu", "mu", "Sigma"), Mean: "nu > 1 ? mu : not_a_number() + mu", Link: "mu"},
	"multi_student_t_cholesky": {Params: paramsNamed("nu", "mu", "L"), Mean: "nu > 1 ? mu : not_a_number() + mu", Link: "mu"},
	"dirichlet":                {Params: paramsNamed("alpha"), Mean: "alpha / sum(alpha)"},
	"multinomial":              {Params: paramsNamed("theta"), Mean: "sum(y) * theta"},
	"multinomial_logit":        {Params: paramsNamed("gamma"), Mean: "sum(y) * softmax(gamma)", Link: "gamma"},
	"dirichlet_multinomial":    {Params: paramsNamed("alpha"), Mean: "sum(y) * alpha / sum(alpha)"},
}
