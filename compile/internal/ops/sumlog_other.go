//go:build !amd64

package ops

// fast reports whether there is machine code for this processor.
const fast = false

// multiply is never called, since fast is false.
func multiply(n int, a *float64, l *lanes) (done int) { return 0 }
