// Package cputime measures the CPU time of threads and processes. Time used by other processes does
// not count.
package cputime

import "time"

// start is the zero of wall-clock times, which are used if CPU times are unavailable.
var start = time.Now()
