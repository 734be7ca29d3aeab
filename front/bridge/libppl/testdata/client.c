// A program that calls the libraries as clients do: client LIBRARY MODEL_A MODEL_B.
// LIBRARY is libppl itself; MODEL_A and MODEL_B are libraries of two models, of normal
// distributions with 2 and 3 parameters. It says what is wrong and how many checks were
// in order.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bridge.h"

static int right, wrong;
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

#define CHECK(condition)                                                \
  do {                                                                  \
    pthread_mutex_lock(&counting);                                      \
    if (condition)                                                      \
      right++;                                                          \
    else {                                                              \
      wrong++;                                                          \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
    }                                                                   \
    pthread_mutex_unlock(&counting);                                    \
  } while (0)

// A library with its functions.
typedef struct {
  void *handle;
#define MEMBER(result, name, parameters, arguments, otherwise) result(*name) parameters;
  PPL_FUNCTIONS(MEMBER)
  bs_model *(*bs_model_construct)(const char *, unsigned int, char **);
  int (*bs_set_print_callback)(bs_callback, char **);
} library;

static void *find(void *handle, const char *name) {
  void *f = dlsym(handle, name);
  if (!f) {
    printf("there is no %s\n", name);
    exit(1);
  }
  return f;
}

static library load(const char *path) {
  library l;
  l.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!l.handle) {
    printf("%s\n", dlerror());
    exit(1);
  }
#define FIND(result, name, parameters, arguments, otherwise) *(void **)&l.name = find(l.handle, #name);
  PPL_FUNCTIONS(FIND)
  *(void **)&l.bs_model_construct = find(l.handle, "bs_model_construct");
  *(void **)&l.bs_set_print_callback = find(l.handle, "bs_set_print_callback");
  CHECK(*(const int *)find(l.handle, "bs_major_version") == 2);
  return l;
}

static int printed_a, printed_b;
static void print_a(const char *s, size_t n) { printed_a += n > 0 && s[0] == 'a'; }
static void print_b(const char *s, size_t n) { printed_b += n > 0 && s[0] == 'b'; }

// The way of a sampler with a thread per chain: one model, an rng each.
typedef struct {
  library *l;
  bs_model *m;
  unsigned int seed;
} chain;

static void *run(void *argument) {
  chain *c = argument;
  char *message = NULL;
  bs_rng *rng = c->l->bs_rng_construct(c->seed, &message);
  CHECK(rng != NULL && message == NULL);
  double x[2] = {0.5 * c->seed, -1}, p[2] = {1, 0.3}, lp, grad[2], theta[4];
  int failed = 0;
  for (int i = 0; i < 2000; i++) {
    failed += c->l->bs_log_density_gradient(c->m, true, true, x, &lp, grad, &message) != 0;
    failed += fabs(lp + (x[0] * x[0] + x[1] * x[1]) / 2) > 1e-12 || fabs(grad[0] + x[0]) > 1e-12;
    for (int k = 0; k < 2; k++) p[k] += 0.1 * grad[k], x[k] += 0.1 * p[k];
    if (i % 50 == 0) failed += c->l->bs_param_constrain(c->m, true, true, x, theta, rng, &message) != 0;
  }
  CHECK(failed == 0);
  c->l->bs_rng_destruct(rng);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  library whole = load(argv[1]), a = load(argv[2]), b = load(argv[3]);
  char *message = NULL;

  // Models of two libraries, and of the data.
  CHECK(a.bs_set_print_callback(print_a, &message) == 0 && message == NULL);
  CHECK(b.bs_set_print_callback(print_b, NULL) == 0);
  bs_model *ma = a.bs_model_construct(NULL, 1, &message);
  if (!ma) {
    printf("%s\n", message ? message : "no message");
    return 1;
  }
  CHECK(!message);
  bs_model *mb = b.bs_model_construct("{\"s\": 2}", 1, &message);
  CHECK(mb && !message);
  bs_model *mw = whole.bs_model_construct(
      "{\"__ppl\": \"data { real s; } parameters { simplex[3] p; } model { target += s; }\", \"s\": 4.5}", 1, &message);
  CHECK(mw && !message);
  CHECK(!a.bs_name(NULL) && !a.bs_param_names(NULL, true, true) && a.bs_param_num(NULL, true, true) == -1);
  CHECK(!strcmp(a.bs_name(ma), "a_model") && !strcmp(b.bs_name(mb), "b_model") && !strcmp(whole.bs_name(mw), "ppl_model"));
  CHECK(strstr(a.bs_model_info(ma), "STAN_THREADS=true"));
  CHECK(a.bs_param_unc_num(ma) == 2 && b.bs_param_unc_num(mb) == 3 && whole.bs_param_unc_num(mw) == 2);
  CHECK(!strcmp(a.bs_param_names(ma, false, false), "x.1,x.2"));
  CHECK(!strcmp(a.bs_param_names(ma, true, true), "x.1,x.2,y,z"));
  CHECK(!strcmp(a.bs_param_unc_names(ma), "x.1,x.2"));
  CHECK(a.bs_param_num(ma, true, false) == 3 && a.bs_param_num(ma, false, true) == 3);

  double x[3] = {1, 2, 3}, v[3] = {1, 0, -1}, lp = 0, grad[3], h[9], hv[3], theta[4];
  CHECK(whole.bs_log_density(mw, true, false, x, &lp, &message) == 0 && fabs(lp - 4.5) < 1e-12);
  CHECK(a.bs_log_density(ma, true, true, x, &lp, &message) == 0 && fabs(lp + 2.5) < 1e-12);
  CHECK(a.bs_log_density(ma, false, true, x, &lp, &message) == 0 && fabs(lp + 2.5 + log(2 * M_PI)) < 1e-12);
  CHECK(b.bs_log_density_gradient(mb, true, true, x, &lp, grad, &message) == 0 && fabs(grad[2] + 0.75) < 1e-12);
  CHECK(b.bs_log_density_hessian(mb, true, true, x, &lp, grad, h, &message) == 0);
  CHECK(fabs(h[0] + 0.25) < 1e-12 && fabs(h[1]) < 1e-12 && fabs(h[8] + 0.25) < 1e-12);
  CHECK(b.bs_log_density_hessian_vector_product(mb, true, true, x, v, &lp, hv, &message) == 0);
  CHECK(fabs(hv[0] + 0.25) < 1e-12 && fabs(hv[1]) < 1e-12 && fabs(hv[2] - 0.25) < 1e-12);
  bs_rng *rng = a.bs_rng_construct(3, &message);
  CHECK(a.bs_param_constrain(ma, true, true, x, theta, rng, &message) == 0 && theta[2] == 3 && theta[3] != 0);
  CHECK(a.bs_param_unconstrain(ma, theta, grad, &message) == 0 && grad[0] == 1 && grad[1] == 2);
  CHECK(a.bs_param_unconstrain_json(ma, "{\"x\": [5, 6]}", grad, &message) == 0 && grad[1] == 6);
  CHECK(printed_a > 0 && printed_b > 0);

  // What is wrong is told.
  CHECK(a.bs_param_constrain(ma, false, true, x, theta, NULL, &message) == -1 && strstr(message, "rng is null"));
  a.bs_free_error_msg(message);
  CHECK(a.bs_param_unconstrain_json(ma, "{\"x\": 1}", grad, &message) == -1 && message);
  a.bs_free_error_msg(message);
  CHECK(a.bs_log_density(NULL, true, true, x, &lp, &message) == -1 && strstr(message, "null"));
  a.bs_free_error_msg(message);
  CHECK(a.bs_log_density(ma, true, true, NULL, &lp, &message) == -1 && message);
  a.bs_free_error_msg(message);
  CHECK(a.bs_log_density(NULL, true, true, x, &lp, NULL) == -1); // nobody wants to know
  CHECK(b.bs_model_construct("{\"s\": -1}", 1, &message) == NULL && strstr(message, "s"));
  b.bs_free_error_msg(message);
  CHECK(b.bs_model_construct("nowhere.json", 1, &message) == NULL && strstr(message, "nowhere.json"));
  b.bs_free_error_msg(message);
  CHECK(whole.bs_model_construct("", 1, &message) == NULL && strstr(message, "__ppl"));
  whole.bs_free_error_msg(message);
  CHECK(whole.bs_model_construct("{\"__ppl\": \"parameters { real x }\"}", 1, &message) == NULL && strstr(message, "ppl.stan:1:"));
  whole.bs_free_error_msg(message);

  // Chains in threads.
  pthread_t threads[4];
  chain chains[4];
  for (unsigned int i = 0; i < 4; i++) {
    chains[i] = (chain){&a, ma, i + 1};
    pthread_create(&threads[i], NULL, run, &chains[i]);
  }
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);

  // R's forms.
  int major = 0, minor, patch, yes = 1, no = 0, code = 7, n = 0, seed = 5;
  ((void (*)(int *, int *, int *))find(a.handle, "bs_version_R"))(&major, &minor, &patch);
  CHECK(major == 2);
  char *data = "", *empty = "", *text = empty; // R gives a new string, and reads it again
  void *pointer = NULL;
  bs_model *mr = NULL;
  ((void (*)(char **, int *, bs_model **, char **, void **))find(a.handle, "bs_model_construct_R"))(&data, &seed, &mr, &text, &pointer);
  CHECK(mr && text == empty);
  ((void (*)(bs_model **, int *, int *, int *))find(a.handle, "bs_param_num_R"))(&mr, &yes, &no, &n);
  CHECK(n == 3);
  ((void (*)(bs_model **, int *))find(a.handle, "bs_param_unc_num_R"))(&mr, &n);
  CHECK(n == 2);
  const char *names = NULL;
  ((void (*)(bs_model **, int *, int *, const char **))find(a.handle, "bs_param_names_R"))(&mr, &no, &yes, &names);
  CHECK(!strcmp(names, "x.1,x.2,z"));
  ((void (*)(bs_model **, const char **))find(a.handle, "bs_param_unc_names_R"))(&mr, &names);
  CHECK(!strcmp(names, "x.1,x.2"));
  ((void (*)(bs_model **, const char **))find(a.handle, "bs_name_R"))(&mr, &names);
  CHECK(!strcmp(names, "a_model"));
  ((void (*)(bs_model **, const char **))find(a.handle, "bs_model_info_R"))(&mr, &names);
  CHECK(strstr(names, "BridgeStan version: 2."));
  typedef void (*density)(bs_model **, int *, int *, const double *, double *, int *, char **, void **);
  ((density)find(a.handle, "bs_log_density_R"))(&mr, &yes, &yes, x, &lp, &code, &text, &pointer);
  CHECK(code == 0 && fabs(lp + 2.5) < 1e-12 && text == empty);
  typedef void (*gradient)(bs_model **, int *, int *, const double *, double *, double *, int *, char **, void **);
  ((gradient)find(a.handle, "bs_log_density_gradient_R"))(&mr, &yes, &yes, x, &lp, grad, &code, &text, &pointer);
  CHECK(code == 0 && fabs(grad[1] + 2) < 1e-12);
  typedef void (*hessian)(bs_model **, int *, int *, const double *, double *, double *, double *, int *, char **, void **);
  ((hessian)find(a.handle, "bs_log_density_hessian_R"))(&mr, &yes, &yes, x, &lp, grad, h, &code, &text, &pointer);
  CHECK(code == 0 && fabs(h[0] + 1) < 1e-12);
  typedef void (*product)(bs_model **, int *, int *, const double *, const double *, double *, double *, int *, char **, void **);
  ((product)find(a.handle, "bs_log_density_hessian_vector_product_R"))(&mr, &yes, &yes, x, v, &lp, hv, &code, &text, &pointer);
  CHECK(code == 0 && fabs(hv[0] + 1) < 1e-12);
  bs_rng *rr = NULL;
  ((void (*)(int *, bs_rng **, char **, void **))find(a.handle, "bs_rng_construct_R"))(&seed, &rr, &text, &pointer);
  CHECK(rr && text == empty);
  typedef void (*constrain)(bs_model **, int *, int *, const double *, double *, bs_rng **, int *, char **, void **);
  bs_rng *anything = (bs_rng *)(size_t)0x558c00000000;
  ((constrain)find(a.handle, "bs_param_constrain_R"))(&mr, &yes, &no, x, theta, &anything, &code, &text, &pointer);
  CHECK(code == 0 && theta[2] == 3);
  ((constrain)find(a.handle, "bs_param_constrain_R"))(&mr, &yes, &yes, x, theta, &rr, &code, &text, &pointer);
  CHECK(code == 0 && theta[2] == 3);
  typedef void (*unconstrain)(bs_model **, const double *, double *, int *, char **, void **);
  ((unconstrain)find(a.handle, "bs_param_unconstrain_R"))(&mr, theta, grad, &code, &text, &pointer);
  CHECK(code == 0 && grad[1] == 2);
  const char *json = "{}";
  typedef void (*fromjson)(bs_model **, const char **, double *, int *, char **, void **);
  ((fromjson)find(a.handle, "bs_param_unconstrain_json_R"))(&mr, &json, grad, &code, &text, &pointer);
  CHECK(code == -1 && pointer == text && strstr(text, "x"));
  ((void (*)(void **))find(a.handle, "bs_free_error_msg_R"))(&pointer);
  ((void (*)(bs_rng **))find(a.handle, "bs_rng_destruct_R"))(&rr);
  ((void (*)(bs_model **))find(a.handle, "bs_model_destruct_R"))(&mr);

  a.bs_rng_destruct(rng);
  a.bs_model_destruct(ma);
  b.bs_model_destruct(mb);
  whole.bs_model_destruct(mw);
  a.bs_model_destruct(NULL);
  dlclose(a.handle);
  printf("%d checks in order, %d not\n", right, wrong);
  return wrong != 0;
}
