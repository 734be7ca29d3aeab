//go:build ignore

// A library for one model, name_model.so, which hands all calls on to libppl, the only
// one that a process has, and names the model to it: name.stan beside it. libppl is
// looked for where the environment variable PPL_LIBRARY says; where the last line of
// this library's own file says, libppl=PATH, which whoever copied it may have appended;
// in its folder; and where the loader looks.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

#ifdef __APPLE__
#define LIBRARY "libppl.dylib"
#else
#define LIBRARY "libppl.so"
#endif

#define DECLARE_POINTER(result, name, parameters, arguments, otherwise) static result(*to_##name) parameters;
PPL_FUNCTIONS(DECLARE_POINTER)
static bs_model *(*to_construct)(const char *, const char *, unsigned int, char **);
static int (*to_set_print)(const char *, bs_callback, char **);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char own[4096], problem[8192];

static void *open_at(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) snprintf(problem, sizeof problem, "cannot load libppl: %s", dlerror());
  return library;
}

// appended reads the path in the last line of the own file.
static int appended(char *path, size_t size) {
  static const char key[] = "\nlibppl=";
  char end[4608];
  FILE *f = fopen(own, "rb");
  if (!f) return 0;
  fseek(f, 0, SEEK_END);
  long length = ftell(f), want = (long)sizeof end - 1;
  fseek(f, length > want ? length - want : 0, SEEK_SET);
  size_t n = fread(end, 1, sizeof end - 1, f);
  fclose(f);
  end[n] = 0;
  for (size_t i = n; i-- > 0;)
    if (n - i >= sizeof key && !memcmp(end + i, key, sizeof key - 1)) {
      snprintf(path, size, "%s", end + i + sizeof key - 1);
      path[strcspn(path, "\n")] = 0;
      return 1;
    }
  return 0;
}

static void load(void) {
  Dl_info info;
  if (dladdr((void *)load, &info) && info.dli_fname) snprintf(own, sizeof own, "%s", info.dli_fname);
  char path[8192];
  void *library = NULL;
  const char *given = getenv("PPL_LIBRARY");
  const char *slash = strrchr(own, '/');
  if (given && *given)
    library = open_at(given);
  else if (appended(path, sizeof path))
    library = open_at(path);
  else {
    if (slash) {
      snprintf(path, sizeof path, "%.*s" LIBRARY, (int)(slash - own + 1), own);
      library = open_at(path);
    }
    if (!library) library = open_at(LIBRARY);
  }
  if (!library) return;
#define FIND(result, name, parameters, arguments, otherwise) *(void **)&to_##name = dlsym(library, #name);
  PPL_FUNCTIONS(FIND)
  *(void **)&to_construct = dlsym(library, "ppl_model_construct");
  *(void **)&to_set_print = dlsym(library, "ppl_set_print_callback");
  if (!to_construct) snprintf(problem, sizeof problem, "there is a library that is called libppl, but it is another one");
}

#define FORWARD(result, name, parameters, arguments, otherwise) \
  result name parameters {                                      \
    pthread_once(&once, load);                                  \
    if (!to_##name) {                                           \
      otherwise;                                                \
    }                                                           \
    return to_##name arguments;                                 \
  }
PPL_FUNCTIONS(FORWARD)

static void tell(char **message) {
  if (message && (*message = malloc(sizeof problem))) strcpy(*message, problem);
}

bs_model *bs_model_construct(const char *data, unsigned int seed, char **message) {
  pthread_once(&once, load);
  if (to_construct) return to_construct(own, data, seed, message);
  tell(message);
  return NULL;
}

int bs_set_print_callback(bs_callback callback, char **message) {
  pthread_once(&once, load);
  if (to_set_print) return to_set_print(own, callback, message);
  tell(message);
  return -1;
}
