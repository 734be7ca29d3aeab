package ops

import "github.com/ppl-lang/ppl/compile/internal/native"

// fast reports whether there is machine code for this processor. It never changes.
var fast = native.Find("avx2") != nil

// multiply is lanes.multiply for n blocks; it is in sumlog_amd64.s.
//
//go:noescape
func multiply(n int, a *float64, l *lanes) (done int)
