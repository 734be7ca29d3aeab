//go:build !unix

package contest

import "time"

var begun = time.Now()

// ProcessorTime returns the time since the process began.
func ProcessorTime() time.Duration { return time.Since(begun) }
