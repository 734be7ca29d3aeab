package main

// bounds says what bounds the workloads that miss a bar, as seen in profiles of
// the fast path.
var bounds = map[string]string{}
