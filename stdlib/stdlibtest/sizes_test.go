package stdlibtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// freeSizes lists functions with arguments of several sizes, as in Stan, and the numbers of those
// arguments, from 1. For all other functions, changing a size is an error.
var freeSizes = map[string][]int{
	"append_array": {1, 2}, "append_col": {1, 2}, "append_row": {1, 2}, // except for the common side
	// The number of columns, or of rows, on the outer side of a product or quotient.
	"multiply": {1, 2}, "operator*": {1, 2}, "diag_pre_multiply": {2}, "diag_post_multiply": {1},
	"mdivide_left": {2}, "mdivide_left_spd": {2}, "mdivide_left_tri_low": {2}, "operator\\": {2},
	"mdivide_right": {1}, "mdivide_right_spd": {1}, "mdivide_right_tri_low": {1}, "operator/": {1},
	"matrix_exp_multiply": {2}, "scale_matrix_exp_multiply": {3},
	"csr_mdivide_left_spd": {5},
	"quad_form":            {2}, "quad_form_sym": {2}, "trace_quad_form": {2}, "trace_gen_quad_form": {1},
	"add_diag": {1}, // the diagonal has the length of the shorter side
	// There are two sets of points.
	"gp_dot_prod_cov": {1, 2}, "gp_exp_quad_cov": {1, 2}, "gp_exponential_cov": {1, 2}, "gp_matern32_cov": {1, 2},
	"gp_matern52_cov": {1, 2}, "gp_periodic_cov": {1, 2},
	"quantile": {1, 2},
	"log_mix":  {2}, // the number of elements to mix
	// The number of outcomes is free.
	"hmm_hidden_state_prob": {1}, "hmm_marginal": {1}, "gaussian_dlm_obs_lpdf": {1}, "categorical_lpmf": {1},
	"poisson_binomial_lpmf": {1, 2}, "poisson_binomial_cdf": {1, 2}, "poisson_binomial_lcdf": {1, 2}, "poisson_binomial_lccdf": {1, 2},
	// The number of categories is free, if there are as many as the outcomes need.
	"categorical_logit_lpmf": {1, 2}, "ordered_logistic_lpmf": {3}, "ordered_probit_lpmf": {1, 3},
	// One outcome, or one row of x, may serve for all others.
	"bernoulli_logit_glm_lpmf": {1, 2}, "binomial_logit_glm_lpmf": {3}, "neg_binomial_2_log_glm_lpmf": {1, 2},
	"normal_id_glm_lpdf": {1, 2}, "poisson_log_glm_lpmf": {1, 2}, "categorical_logit_glm_lpmf": {1, 2},
	"ordered_logistic_glm_lpmf": {1, 2, 4},
}

// TestWrongSizes changes one size of one argument at a time: to 0, 1, one less and one more.
func TestWrongSizes(t *testing.T) {
	accepted := make(chan string, 10000)
	t.Run("all", func(t *testing.T) {
		each(t, func(t *testing.T, f *stdlib.Func) {
			if f.OfShape != nil {
				return
			}
			for _, ts := range forms(f) {
				if containers(ts) < 2 {
					continue
				}
				vs := arguments(source(f, 31), f, ts)
				for i := range vs {
					for dim, n := range vs[i].Shape {
						for _, m := range []int{0, 1, n - 1, n + 1} {
							if m == n {
								continue
							}
							changed := slices.Clone(vs)
							changed[i] = resized(vs[i], dim, m)
							if _, err := Eval(f, false, changed); err != nil {
								continue
							}
							if !slices.Contains(freeSizes[f.Name], i+1) {
								t.Errorf("%v: argument %d of sizes %v is accepted", ts, i+1, changed[i].Shape)
							}
							accepted <- fmt.Sprint(f.Name, i+1)
						}
					}
				}
			}
		})
	})
	close(accepted)
	seen := map[string]bool{}
	for a := range accepted {
		seen[a] = true
	}
	for name, args := range freeSizes {
		for _, i := range args {
			if !seen[fmt.Sprint(name, i)] {
				t.Errorf("argument %d of %s is not of several sizes: delete it from the list", i, name)
			}
		}
	}
}

// containers returns the number of types that are not scalar.
func containers(ts []types.Type) int {
	n := 0
	for _, t := range ts {
		if !t.IsScalar() {
			n++
		}
	}
	return n
}

// resized returns v with n elements along a dimension. It repeats the last one if necessary.
func resized(v Value, dim, n int) Value {
	old := v.Shape[dim]
	inner := 1
	for _, m := range v.Shape[dim+1:] {
		inner *= m
	}
	outer := len(v.Data) / (old * inner)
	var data []float64
	for o := range outer {
		for k := range n {
			at := (o*old + min(k, old-1)) * inner
			data = append(data, v.Data[at:at+inner]...)
		}
	}
	v.Shape = append([]int{}, v.Shape...)
	v.Shape[dim] = n
	v.Data = data
	return v
}
