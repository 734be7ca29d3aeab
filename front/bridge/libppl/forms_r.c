//go:build libppl

// The functions as R's .C calls them: results and arguments are behind pointers. Of an
// error message there is the pointer too, as R copies strings.
#include "bridge.h"

#define R PPL_PUBLIC void

const int bs_major_version = 2, bs_minor_version = 7, bs_patch_version = 0;

R bs_version_R(int *major, int *minor, int *patch) {
  *major = bs_major_version;
  *minor = bs_minor_version;
  *patch = bs_patch_version;
}
R bs_model_construct_R(char **data, int *seed, bs_model **out, char **message, void **pointer) {
  *out = bs_model_construct(*data, (unsigned int)*seed, message);
  *pointer = *message;
}
R bs_model_destruct_R(bs_model **m) { bs_model_destruct(*m); }
R bs_free_error_msg_R(void **message) { bs_free_error_msg((char *)*message); }
R bs_name_R(bs_model **m, const char **out) { *out = bs_name(*m); }
R bs_model_info_R(bs_model **m, const char **out) { *out = bs_model_info(*m); }
R bs_param_names_R(bs_model **m, int *tp, int *gq, const char **out) { *out = bs_param_names(*m, *tp != 0, *gq != 0); }
R bs_param_unc_names_R(bs_model **m, const char **out) { *out = bs_param_unc_names(*m); }
R bs_param_num_R(bs_model **m, int *tp, int *gq, int *out) { *out = bs_param_num(*m, *tp != 0, *gq != 0); }
R bs_param_unc_num_R(bs_model **m, int *out) { *out = bs_param_unc_num(*m); }
R bs_param_constrain_R(bs_model **m, int *tp, int *gq, const double *x, double *theta, bs_rng **rng, int *code,
                       char **message, void **pointer) {
  *code = bs_param_constrain(*m, *tp != 0, *gq != 0, x, theta, *rng, message);
  *pointer = *message;
}
R bs_param_unconstrain_R(bs_model **m, const double *theta, double *x, int *code, char **message, void **pointer) {
  *code = bs_param_unconstrain(*m, theta, x, message);
  *pointer = *message;
}
R bs_param_unconstrain_json_R(bs_model **m, const char **json, double *x, int *code, char **message, void **pointer) {
  *code = bs_param_unconstrain_json(*m, *json, x, message);
  *pointer = *message;
}
R bs_log_density_R(bs_model **m, int *propto, int *jacobian, const double *x, double *lp, int *code, char **message,
                   void **pointer) {
  *code = bs_log_density(*m, *propto != 0, *jacobian != 0, x, lp, message);
  *pointer = *message;
}
R bs_log_density_gradient_R(bs_model **m, int *propto, int *jacobian, const double *x, double *lp, double *grad,
                            int *code, char **message, void **pointer) {
  *code = bs_log_density_gradient(*m, *propto != 0, *jacobian != 0, x, lp, grad, message);
  *pointer = *message;
}
R bs_log_density_hessian_R(bs_model **m, int *propto, int *jacobian, const double *x, double *lp, double *grad,
                           double *hessian, int *code, char **message, void **pointer) {
  *code = bs_log_density_hessian(*m, *propto != 0, *jacobian != 0, x, lp, grad, hessian, message);
  *pointer = *message;
}
R bs_log_density_hessian_vector_product_R(bs_model **m, int *propto, int *jacobian, const double *x, const double *v,
                                          double *lp, double *hv, int *code, char **message, void **pointer) {
  *code = bs_log_density_hessian_vector_product(*m, *propto != 0, *jacobian != 0, x, v, lp, hv, message);
  *pointer = *message;
}
R bs_rng_construct_R(int *seed, bs_rng **out, char **message, void **pointer) {
  *out = bs_rng_construct((unsigned int)*seed, message);
  *pointer = *message;
}
R bs_rng_destruct_R(bs_rng **rng) { bs_rng_destruct(*rng); }
