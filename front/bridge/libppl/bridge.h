// The functions of BridgeStan's interface, as libppl has them.
#ifndef PPL_BRIDGE_H
#define PPL_BRIDGE_H

#include <stdbool.h>
#include <stddef.h>

#if defined _WIN32
#define PPL_PUBLIC __declspec(dllexport)
#else
#define PPL_PUBLIC __attribute__((visibility("default")))
#endif

typedef struct bs_model bs_model;
typedef struct bs_rng bs_rng;
typedef void (*bs_callback)(const char *, size_t);

// X(result, name, parameters, arguments, otherwise); otherwise is what the shim does when it
// has not found libppl.
#define PPL_FUNCTIONS(X) \
  X(void, bs_model_destruct, (bs_model * m), (m), return) \
  X(void, bs_free_error_msg, (char *message), (message), free(message); return) \
  X(const char *, bs_name, (const bs_model *m), (m), return NULL) \
  X(const char *, bs_model_info, (const bs_model *m), (m), return NULL) \
  X(const char *, bs_param_names, (const bs_model *m, bool tp, bool gq), (m, tp, gq), return NULL) \
  X(const char *, bs_param_unc_names, (const bs_model *m), (m), return NULL) \
  X(int, bs_param_num, (const bs_model *m, bool tp, bool gq), (m, tp, gq), return -1) \
  X(int, bs_param_unc_num, (const bs_model *m), (m), return -1) \
  X(int, bs_param_constrain, (const bs_model *m, bool tp, bool gq, const double *x, double *theta, bs_rng *rng, char **message), (m, tp, gq, x, theta, rng, message), return -1) \
  X(int, bs_param_unconstrain, (const bs_model *m, const double *theta, double *x, char **message), (m, theta, x, message), return -1) \
  X(int, bs_param_unconstrain_json, (const bs_model *m, const char *json, double *x, char **message), (m, json, x, message), return -1) \
  X(int, bs_log_density, (const bs_model *m, bool propto, bool jacobian, const double *x, double *lp, char **message), (m, propto, jacobian, x, lp, message), return -1) \
  X(int, bs_log_density_gradient, (const bs_model *m, bool propto, bool jacobian, const double *x, double *lp, double *grad, char **message), (m, propto, jacobian, x, lp, grad, message), return -1) \
  X(int, bs_log_density_hessian, (const bs_model *m, bool propto, bool jacobian, const double *x, double *lp, double *grad, double *hessian, char **message), (m, propto, jacobian, x, lp, grad, hessian, message), return -1) \
  X(int, bs_log_density_hessian_vector_product, (const bs_model *m, bool propto, bool jacobian, const double *x, const double *v, double *lp, double *hv, char **message), (m, propto, jacobian, x, v, lp, hv, message), return -1) \
  X(bs_rng *, bs_rng_construct, (unsigned int seed, char **message), (seed, message), return NULL) \
  X(void, bs_rng_destruct, (bs_rng * rng), (rng), return)

#define PPL_DECLARE(result, name, parameters, arguments, otherwise) PPL_PUBLIC result name parameters;
PPL_FUNCTIONS(PPL_DECLARE)

// These depend on the library that was opened.
PPL_PUBLIC bs_model *bs_model_construct(const char *data, unsigned int seed, char **message);
PPL_PUBLIC int bs_set_print_callback(bs_callback callback, char **message);

extern PPL_PUBLIC const int bs_major_version, bs_minor_version, bs_patch_version;

#endif
