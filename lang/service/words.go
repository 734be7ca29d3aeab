package service

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/types"
)

// Word describes a word of declarations: a type, or an entry between < and >.
type Word struct {
	Form string // how it is written, such as simplex[K]
	Text string // what it means
}

// WordOf returns the description of a type, such as simplex, or of an entry, such as missing.
func WordOf(name string) (w Word, ok bool) {
	if k, plain, is := types.ConstrainedType(name); is {
		return Word{k.Declaration(), k.Is() + ", of type " + plain.String() + ": " + k.Values()}, true
	}
	if w, ok = typeWords()[name]; !ok {
		w, ok = boundWords()[name]
	}
	return w, ok
}

// Topic returns the description of a subject, such as ragged, that is no word of a declaration.
func Topic(name string) (w Word, ok bool) {
	w, ok = topics()[name]
	return w, ok
}

// topics describes what users look for under names that are no words of declarations.
func topics() map[string]Word {
	discrete := Word{"int<lower=1, upper=K> z", "an integer parameter is summed out of the density, exactly, and drawn afterwards. Statements about it are written as for data, as in `z ~ categorical(w)`. " +
		"`ppl explain` shows the sums, and `ppl states` the probabilities of the values"}
	count := Word{"int<lower=0> N", "an integer parameter, or missing integer of the data, without an upper bound. Its sum ends where less than 1e-12 of the mass is left, at every point. " +
		"A statement must give it a distribution, as in `N ~ poisson(lambda)`"}
	target := Word{"target += lp", "adds a number to the log density of the model. `y ~ normal(mu, sigma)` adds `normal_lupdf(y | mu, sigma)`. In the model block, `target()` is the sum so far"}
	return map[string]Word{
		"ragged": {"array[J] vector[n] y", "if the size is an array of J integers, the rows differ in size: `y[j]` is a vector of `n[j]` numbers. `size(y)` is J, and `to_vector(y)` has all numbers, one row after another. " +
			"In JSON, y is a list of lists of unequal length. The rows of a table become those of y by the levels of a column"},
		"discrete": discrete, "integers": discrete, "count": count, "counts": count, "target": target, "target+=": target,
		"jacobian": {"jacobian += lp", "in transformed parameters and functions in _jacobian, adds the log of the absolute Jacobian determinant of a change of variables to the log density"},
		"NA":       boundWords()[ast.Missing],
	}
}

// typeWords describes the types that have no constraint.
func typeWords() map[string]Word {
	return map[string]Word{
		"int":                {"int<lower=1, upper=K>", "an integer. A parameter needs a lower bound; it is summed out of the density and drawn afterwards"},
		"real":               {"real<lower=0>", "a real number"},
		"complex":            {"complex", "a complex number"},
		"vector":             {"vector[K]", "a column vector of K real numbers"},
		"row_vector":         {"row_vector[K]", "a row vector of K real numbers"},
		"matrix":             {"matrix[M, N]", "a matrix of real numbers with M rows and N columns"},
		"complex_vector":     {"complex_vector[K]", "a column vector of K complex numbers"},
		"complex_row_vector": {"complex_row_vector[K]", "a row vector of K complex numbers"},
		"complex_matrix":     {"complex_matrix[M, N]", "a matrix of complex numbers with M rows and N columns"},
		"sparse_matrix": {"sparse_matrix[M, N]", "a matrix that is 0 outside its pattern; products take time in proportion to the number of values. " +
			"Declare it in data, or with its value, which decides the pattern, as in `sparse_matrix[M, N] S = to_sparse_matrix(M, N, rows, columns, values)`"},
		"array": {"array[N] vector[K]", "N elements of a type. If K is an array of N integers, the elements have different sizes: the array is ragged"},
		"tuple": {"tuple(real, vector[K])", "members of any types: those of `t` are `t.1` and `t.2`"},
	}
}

// boundWords describes the entries between < and > of a declaration.
func boundWords() map[string]Word {
	return map[string]Word{
		"lower":           {"real<lower=0>", "lower bound: the values are at least this"},
		"upper":           {"real<lower=0, upper=1>", "upper bound: the values are at most this"},
		"offset":          {"vector<offset=mu, multiplier=tau>[J]", "the sampler works on (value − offset) / multiplier"},
		"multiplier":      {"vector<offset=mu, multiplier=tau>[J]", "the sampler works on (value − offset) / multiplier; it must be positive"},
		ast.Missing:       {"vector<lower=0, missing>[N]", "the data may lack elements. Each missing one is a parameter with these bounds, at its place in the variable. Missing integers are summed out of the density and drawn afterwards"},
		ast.CensoredBelow: {"vector<censored_below=limit>[N]", "a value that is this or less is only known to be this or less: its density is the log probability of that"},
		ast.CensoredAbove: {"vector<censored_above=limit>[N]", "a value that is this or more is only known to be this or more: its density is the log probability of that"},
		ast.Censored:      {"vector<censored=cens>[N]", "for each value: 0 if it is known, −1 if the true value is at most it, 1 if it is at least it, and 2 if it is between it and the end that `censored_to` gives"},
		ast.Labels:        {`int<labels={"low", "high"}>`, "names of the elements of all dimensions of this size; data may be given by them"},
		ast.CensoredTo:    {"vector<censored_to=last>[N]", "the true value is between the value in the data and this one, and known if both are equal"},
	}
}
