//go:build !unix

package contest

import "time"

var begun = time.Now()

// processorTime is the time since the process began.
func processorTime() time.Duration { return time.Since(begun) }
