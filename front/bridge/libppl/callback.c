//go:build libppl

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

// ppl_print hands text to the callback, or to C's standard output.
void ppl_print(void (*callback)(const char *, size_t), const char *text, size_t size) {
  if (callback) {
    callback(text, size);
    return;
  }
  fwrite(text, 1, size, stdout);
  fflush(stdout);
}

// ppl_own_path is the name of the file that this library was loaded from.
const char *ppl_own_path(void) {
  Dl_info info;
  if (dladdr((void *)ppl_own_path, &info) && info.dli_fname) return info.dli_fname;
  return "";
}
