// Package cputime tells the CPU time of threads and processes, in which what other processes take
// of the machine does not count.
package cputime

import "time"

// start is what times of the clock count from, where those of the processor are not known.
var start = time.Now()
