package marginal

// functions are functions of one number, by the shape of their argument.
var functions = map[string]map[shape]shape{
	"log":                  {linear: logLinear, geometric: linear, scaled: linear, chance: tame},
	"log1m":                {linear: smooth, geometric: tame, chance: tame},
	"log1p":                {linear: logLinear, opposite: tame},
	"exp":                  {linear: geometric, logLinear: linear},
	"expm1":                {linear: opposite},
	"lgamma":               {linear: smooth},
	"square":               {linear: convex},
	"log1p_exp":            {linear: convex},
	"log1m_exp":            {linear: tame},
	"log_inv_logit":        {linear: tame},
	"log1m_inv_logit":      {linear: tame},
	"inv_logit":            {linear: chance, logLinear: chance},
	"inv_cloglog":          {linear: chance},
	"Phi":                  {linear: chance},
	"Phi_approx":           {linear: chance},
	"sum":                  {linear: linear, logLinear: smooth, smooth: smooth, tame: tame},
	"mean":                 {linear: linear},
	"log_rising_factorial": {linear: smooth},
}

// families has, for each argument of a distribution, the shapes with which its log density is tame
// while the others are fixed.
var families = map[string][][]shape{
	"poisson_lpmf":            {{linear}, {linear, geometric, scaled}},
	"poisson_log_lpmf":        {{linear}, {linear, logLinear}},
	"neg_binomial_lpmf":       {{linear}, {linear}, {}},
	"neg_binomial_2_lpmf":     {{linear}, {linear, geometric, scaled}, {}},
	"neg_binomial_2_log_lpmf": {{linear}, {linear, logLinear}, {}},
	"beta_neg_binomial_lpmf":  {{linear}, {}, {}, {}},
	"yule_simon_lpmf":         {{linear}, {}},
	"binomial_lpmf":           {{linear}, {linear}, {linear, geometric, scaled, chance}},
	"binomial_logit_lpmf":     {{linear}, {linear}, {linear, logLinear}},
	"beta_binomial_lpmf":      {{linear}, {linear}, {}, {}},
	"bernoulli_lpmf":          {{}, {linear, geometric, scaled, chance}},
	"bernoulli_logit_lpmf":    {{}, {linear, logLinear}},
	"discrete_range_lpmf":     {{linear}, {}, {}},
	"normal_lpdf":             {{linear}, {linear}, {linear}},
	"std_normal_lpdf":         {{linear}},
	"lognormal_lpdf":          {{linear}, {linear}, {}},
	"exponential_lpdf":        {{linear}, {linear}},
	"gamma_lpdf":              {{linear}, {linear}, {linear}},
	"chi_square_lpdf":         {{linear}, {linear}},
	"weibull_lpdf":            {{linear}, {}, {}},
	"beta_lpdf":               {{}, {linear}, {linear}},
	"logistic_lpdf":           {{linear}, {linear}, {}},
	"double_exponential_lpdf": {{linear}, {linear}, {}},
	"gumbel_lpdf":             {{linear}, {linear}, {}},
}
